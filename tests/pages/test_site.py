"""`make docs`: the pages of the site are at their places, and docs/options.md names every option."""

from __future__ import annotations

import re
from pathlib import Path

from nbcc.engine.config.hudi_options import TABLES
from nbcc.engine.config.options import COORDINATION
from nbcc.engine.data_source import options, stream_options
from tests.builders.sources import ROOT
from tools.regenerate import hudi_options, stale
from tools.site import API, DIFFERENCES, lay_out


def test_every_link_of_the_pages_leads_to_a_file(tmp_path: Path) -> None:
    assert [*lay_out(tmp_path)] == []
    pages = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.md")}
    listed = re.findall(r"(?:docs|specs)/[\w/-]+\.md", (ROOT / "mkdocs.yml").read_text("utf-8"))
    assert {*listed} <= pages
    assert (tmp_path / "specs" / "traces" / "01-one-write.svg").exists()
    assert "(../examples/drivers/files.md)" in (tmp_path / "docs" / "drivers.md").read_text("utf-8")


def test_a_link_that_leads_nowhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("[b](b.md), [c](c.md#d), `[x](y.md)`", "utf-8")
    (tmp_path / "docs" / "b.md").write_text("[outside](../../etc)", "utf-8")
    assert sorted(lay_out(tmp_path / "out", tmp_path)) == [
        "docs/a.md: the link c.md leads to no file of the repository",
        "docs/b.md: the link ../../etc leads to no file of the repository",
    ]


def test_the_navigation_has_every_page_of_the_api() -> None:
    text = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert all(f"api/{name}.md" in text for name in API)
    assert len(DIFFERENCES) == 3


PAGE = (Path(__file__).parents[2] / "docs/options.md").read_text(encoding="utf-8")
PARTS = dict(part.split("\n", 1) for part in PAGE.split("\n## ")[1:])
STREAM, STORES = "Following a table by a stream", "Object stores"
"""Two parts with options of their own; test_storage_errors.py compares those of stores."""


def listed(*parts: str) -> set[str]:
    cells = [line.split("|")[1] for part in parts for line in PARTS[part].splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`([A-Za-z_.]+)`", cell)}


def test_the_page_lists_the_options_that_are_taken() -> None:
    of_table = {name for names in options.TABLE.values() for name in names}
    taken = {*options.READ, *options.OF_WRITE, *options.CREATE, *of_table, *options.SERVICES}
    taken -= {option.name for option in COORDINATION}  # docs/locks.md has them
    assert listed(*(part for part in PARTS if part not in (STREAM, STORES))) == taken - {options.PATH}
    others = {name for option in TABLES for name in option.names} - {options.RECONCILE}
    assert not others & {name.lower() for name in taken}


def test_the_page_of_hudis_options_is_that_of_the_table() -> None:
    assert stale(hudi_options()) == []


def test_the_page_lists_the_options_of_streams() -> None:
    assert listed(STREAM) == {*stream_options.STREAM, options.QUERY, options.FORMAT, options.COLUMNS}
