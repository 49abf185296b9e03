"""hudi-rs as a reader: a second implementation, without a JVM, that knows nothing of us."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi import HudiReadOptions, HudiTable

from nbcc.model import Query

from ..control.clock import instant_of
from .rows import from_rows

os.environ.setdefault("RUST_BACKTRACE", "0")  # a panic prints a page otherwise


class HudiRs:
    """Reads a table in a folder."""

    name = "hudi-rs"

    def __init__(self, folder: Path) -> None:
        self._table = HudiTable(str(folder))

    def rows(self, query: Query) -> tuple[Any, ...]:
        """The answer of a snapshot or as-of read, as the engine's would be given."""
        options = HudiReadOptions()
        if query.until is not None:
            options = options.with_as_of_timestamp(instant_of(query.until))
        batches = self._table.read(options)
        rows = pa.Table.from_batches(batches).to_pylist() if batches else []
        return from_rows(rows, query)
