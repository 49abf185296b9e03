"""docs/options.md names every option that the data source takes, and nothing else as an option."""

from __future__ import annotations

import re
from pathlib import Path

from nbcc.engine.config.hudi_options import TABLES
from nbcc.engine.config.options import COORDINATION
from nbcc.engine.data_source import options, stream_options
from tools.regenerate import hudi_options, stale

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
