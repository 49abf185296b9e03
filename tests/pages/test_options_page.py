"""docs/options.md names every option that the data source takes, and nothing else as an option."""

from __future__ import annotations

import re
from pathlib import Path

from nbcc.engine.data_source import options, stream_options

PAGE_OF_STREAMS = Path(__file__).parents[2] / "docs/streams.md"
PAGE = (Path(__file__).parents[2] / "docs/options.md").read_text(encoding="utf-8")


def test_the_page_lists_the_options_that_are_taken() -> None:
    of_table = {name for names in options.TABLE.values() for name in names}
    taken = {*options.READ, options.OPERATION, options.BATCH_ID, options.REPLAY_DIFFERENCE, *options.CREATE, *of_table}
    taken |= {*options.SERVICES, options.TAKE_OVER}
    cells = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    listed = {name for cell in cells for name in re.findall(r"`([a-z_.]+)`", cell)}
    assert listed == taken - {options.PATH}
    assert not {name.lower() for name in options.ONLY} & {name.lower() for name in taken}


def test_the_page_of_streams_lists_the_options_of_streams() -> None:
    page = PAGE_OF_STREAMS.read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = {name for cell in cells for name in re.findall(r"`([A-Za-z_.]+)`", cell)}
    assert listed == {*stream_options.STREAM, options.QUERY, options.FORMAT, options.COLUMNS}
