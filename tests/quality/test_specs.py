"""specs/README.md has one row for each kind of file, and what writes an output exists."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from tools.regenerate import GENERATORS, SLOW

ROOT = Path(__file__).parents[2]
ROWS = {
    cells[1].strip().strip("`"): (cells[2].strip(), cells[4].strip())
    for line in (ROOT / "specs" / "README.md").read_text("utf-8").splitlines()
    if line.startswith("| `") and (cells := line.split("|"))
}
FILES = subprocess.run(
    ["git", "ls-files", "specs"], cwd=ROOT, capture_output=True, text=True, check=True
).stdout.splitlines()


def kinds_of(file: str) -> list[str]:
    return [pattern for pattern in ROWS if fnmatch(file, pattern) and file.count("/") == pattern.count("/")]


def test_each_file_has_one_row() -> None:
    names = [file.removeprefix("specs/") for file in FILES if file != "specs/README.md"]
    assert [name for name in names if len(kinds_of(name)) != 1] == []
    assert [pattern for pattern in ROWS if not any(pattern in kinds_of(name) for name in names)] == []


def test_the_writer_of_an_output_exists() -> None:
    kinds = {kind for kind, _ in ROWS.values()}
    assert kinds == {"input", "pinned", "output"}
    for pattern, (kind, writer) in ROWS.items():
        assert (kind == "input") == (writer == "a person"), pattern
        words = writer.strip("`").split()
        if words[:3] == ["python", "-m", "tools.regenerate"]:
            assert words[3] in GENERATORS, pattern


LONG = (*SLOW, "accesses", "gallery", "verdicts")


@pytest.mark.parametrize("name", [name for name in GENERATORS if name not in LONG])
def test_a_quick_generator_writes_what_the_table_says(name: str) -> None:
    listed = {pattern for pattern, (_, writer) in ROWS.items() if writer.strip("`").endswith(f" {name}")}
    written = [str(path.resolve().relative_to(ROOT)) for path in GENERATORS[name]()]
    ours = {kind for path in written if path.startswith("specs/") for kind in kinds_of(path.removeprefix("specs/"))}
    assert ours == listed
