"""Shell blocks of a Markdown page: the commands a reader would type, and what the page says they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

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


def programs(page: Path) -> list[str]:
    """The Python blocks of the page."""
    return [block["body"] for block in BLOCK.finditer(page.read_text("utf-8")) if block["language"] == "python"]
