"""README.md and the pages in docs/ are true: their commands run as an installed nbcc does, and print what they show."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.docs.conftest import ROOT, Installed
from tests.docs.readme import commands, programs

README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
# What may differ from run to run: seconds, and the rates and ages made of them.
VOLATILE = re.compile(r"\d+(\.\d+)?(?= s\b| ms\b| seconds)")


def test_the_pages_have_commands() -> None:
    assert [command.line for command in commands(README) if command.line.startswith("make")] == [
        "make demo",
        "make test",
    ]
    assert any(command.shown for command in commands(README))


def test_what_the_pages_tell_to_make_exists() -> None:
    for command in (command for page in PAGES for command in commands(page)):
        if command.line.startswith("make"):
            subprocess.run([*command.line.split(), "--dry-run"], cwd=ROOT, check=True, capture_output=True)


@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_run_in_order_and_print_what_the_page_shows(page: Path, installed: Installed) -> None:
    for command in commands(page):
        if command.line.startswith("make"):
            continue
        ran = installed.run(command.line, seconds=600)
        # 1 is the answer where the page shows how a promise is broken; two systems that differ would be a defect.
        shows_a_break = "VIOLATED" in ran.stdout and not command.line.startswith("nbcc demo")
        assert ran.returncode == int(shows_a_break), (command.line, ran)
        assert "DISAGREED" not in ran.stdout
        if command.shown and os.environ.get("NBCC_SNAPSHOTS") == "write":
            shown, printed = (f"$ {command.line}\n{text}" for text in (command.shown, ran.stdout))
            page.write_text(page.read_text("utf-8").replace(shown, printed), encoding="utf-8")
        elif command.shown:
            assert VOLATILE.sub("N", ran.stdout) == VOLATILE.sub("N", command.shown), command.line


@pytest.mark.spark
@pytest.mark.timeout(300)
def test_the_programs_run(installed: Installed) -> None:
    found = programs(README)
    assert found
    for number, program in enumerate(found):
        name = f"program{number}.py"
        (installed.elsewhere / name).write_text(program, encoding="utf-8")
        ran = installed.run(f"python {name}")
        assert ran.returncode == 0, ran.stderr
