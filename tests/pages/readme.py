"""Shell blocks of a Markdown page: the commands a reader would type, and what the page says they print."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple, Protocol

# What may differ from run to run: seconds, and the rates and ages made of them.
VOLATILE = re.compile(r"\d+(\.\d+)?(?= s\b| ms\b| seconds)")
# These show a broken promise as an example; it is not their own answer.
EXAMPLES = ("nbcc demo", "nbcc explain")


class Shell(Protocol):
    """Runs a shell command as a user would, in the folder `elsewhere`."""

    @property
    def elsewhere(self) -> Path: ...

    def run(self, command: str, seconds: float) -> subprocess.CompletedProcess[str]: ...


BLOCK = re.compile(r"^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


class Command(NamedTuple):
    """One `$ command` of a console block and the lines that the page shows below it, or one line of a sh block."""

    line: str
    shown: str


def commands(page: Path) -> list[Command]:
    """Every command of the page, in order. A `sh` block holds commands only; a `console` block marks them with `$`."""
    found: list[Command] = []
    for block in BLOCK.finditer(page.read_text("utf-8")):
        if block["language"] == "sh":
            lines = (line.partition(" #")[0].strip() for line in block["body"].splitlines())
            found += [Command(line, "") for line in lines if line]
        elif block["language"] == "console":
            for part in re.split(r"^\$ ", block["body"], flags=re.MULTILINE)[1:]:
                line, _, shown = part.partition("\n")
                found.append(Command(line.strip(), shown))
    return found


NAMED = re.compile(r"\A# (?P<name>\w+\.(py|toml))\n")


def files(page: Path) -> dict[str, str]:
    """The blocks that a reader saves: those whose first line is a comment with the name of a file."""
    blocks = (block["body"] for block in BLOCK.finditer(page.read_text("utf-8")))
    return {named["name"]: body for body in blocks if (named := NAMED.match(body))}


def programs(page: Path) -> list[str]:
    return [block["body"] for block in BLOCK.finditer(page.read_text("utf-8")) if block["language"] == "python"]


def run_commands(page: Path, shell: Shell, every: int = 1) -> None:
    """Run the commands of the page in order, but for `make`, and compare what they print with what the page shows.

    Of each `every` commands the first one runs.

    1 is the exit code where the answer is a broken promise; two systems that differ would be a defect. With
    NBCC_SNAPSHOTS=write the page is given what was printed.
    """
    for name, body in files(page).items():
        (shell.elsewhere / name).write_text(body, encoding="utf-8")
    for command in commands(page)[::every]:
        if command.line.startswith("make"):
            continue
        ran = shell.run(command.line, seconds=600)
        asked = command.line.startswith(EXAMPLES) or "--expect" in command.line
        assert ran.returncode == int("VIOLATED" in ran.stdout and not asked), (command.line, ran)
        assert "DISAGREED" not in ran.stdout, command.line
        if command.shown and os.environ.get("NBCC_SNAPSHOTS") == "write":
            shown, printed = (f"$ {command.line}\n{text}" for text in (command.shown, ran.stdout))
            page.write_text(page.read_text("utf-8").replace(shown, printed), encoding="utf-8")
        elif command.shown:
            assert VOLATILE.sub("N", ran.stdout) == VOLATILE.sub("N", command.shown), command.line
