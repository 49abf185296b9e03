"""The pages in docs/ and the gallery: links lead somewhere, numbers in prose are those of the runs, programs run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.model.promises import PROMISES
from nbcc.simulator.glossary import meanings
from nbcc.simulator.trace import load
from nbcc.simulator.view.trace_content import content_of
from tests.builders.by_day import NIGHTLY
from tools.gallery.files import FOLDER
from tools.regenerate import glossary, stale

from .conftest import ROOT, Installed
from .readme import commands, programs, run_commands

GALLERY = ROOT / "specs" / "traces" / "README.md"
PAGES = [*sorted((ROOT / "docs").glob("*.md")), GALLERY, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
AT_NIGHT = ("streams", "clusters", "options")
"""Pages whose programs take up to a minute each."""

PROGRAMS = [
    pytest.param(page, marks=pytest.mark.nightly if page.stem in AT_NIGHT else ())
    for page in PAGES
    if page.parent.name == "docs" and programs(page)
]


def ids(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchors(page: Path) -> set[str]:
    """The addresses that forges give to a page's headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    kept = ("".join(c for c in heading.lower() if c.isalnum() or c in " -_") for heading in headings)
    return {heading.replace(" ", "-") for heading in kept}


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_links_and_pictures_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        if not target.startswith("https://"):
            path, _, anchor = target.partition("#")
            there = (page.parent / path).resolve() if path else page
            assert there.exists(), target
            assert not anchor or anchor in anchors(there), target


@pytest.mark.parametrize("page", PAGES, ids=ids)
def test_no_page_knows_a_machine(page: Path) -> None:
    assert not re.search(r"(?<![\w.])/(home|root|work|tmp|Users)/|localhost|127\.0\.0\.1", page.read_text("utf-8"))


def test_docs_readme_lists_every_page() -> None:
    listed = set(LINK.findall((ROOT / "docs" / "README.md").read_text("utf-8")))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"} <= listed


def test_the_gallery_has_a_command_a_run() -> None:
    names = sorted((path.stem for path in FOLDER.glob("*.json")), key=lambda name: int(name.partition("-")[0]))
    assert [command.line.split()[2] for command in commands(GALLERY)] == names


@pytest.mark.timeout(900)
def test_the_commands_of_the_gallery_run(installed: Installed) -> None:
    run_commands(GALLERY, installed, every=1 if NIGHTLY else 8)


@pytest.mark.spark
@pytest.mark.parametrize("page", PROGRAMS, ids=ids)
def test_the_programs_of_the_documents_run(page: Path, installed: Installed) -> None:
    user = installed.in_folder(f"programs-of-{page.stem}")
    for number, program in enumerate(programs(page)):
        file = user.elsewhere / f"{page.stem}{number}.py"
        file.write_text(program, encoding="utf-8")
        ran = user.run(f"python {file.name}")
        assert ran.returncode == 0, ran.stderr


def test_the_pages_about_completion_time_tell_what_happens() -> None:
    """Steps and times that the prose names."""
    late = load("06-lost-row", [FOLDER])
    assert late.steps[10 - 1].action == "compactor_schedules_plan"
    instants = content_of(late).own.instants
    assert instants[3][-1][1] == ("deltacommit", "completed", 6, "w2")
    planned = instants[4][0][1]
    assert planned is not None
    assert planned.action == "compaction"
    same = [(step.actor, step.action) for step in load("07-old-file-names", [FOLDER]).steps]
    assert same == [(step.actor, step.action) for step in late.steps]
    window = content_of(load("09-incremental", [FOLDER])).own.instants
    done = {time: history[-1][1] for time, history in window.items()}
    assert {time: last and last[2:] for time, last in done.items()} == {1: (4, "w1"), 2: (3, "w2")}
    tie = content_of(load("08-merge-order", [FOLDER])).own.instants
    last = tie[1][-1][1]
    assert last is not None
    assert last[2:] == (5, "w1")


def test_the_glossary_is_in_order_and_its_page_is_that_of_the_words() -> None:
    assert [*meanings()] == sorted(meanings(), key=str.casefold)
    assert meanings()["promise"].endswith(f": {', '.join(PROMISES)}")
    assert stale(glossary()) == [], "python -m tools.regenerate glossary"
