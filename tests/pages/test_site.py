"""`make docs`: the pages of the site and every file to which they lead are at their places."""

from __future__ import annotations

import re
from pathlib import Path

from tests.builders.sources import ROOT
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
