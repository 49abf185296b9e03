"""Reads tables with hudi-rs, an independent implementation of Hudi's format without a JVM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from hudi import HudiQueryType, HudiReadOptions, HudiTable

from nbcc.model import Query

from ..control.clock import instant_of
from .rows import from_rows

os.environ.setdefault("RUST_BACKTRACE", "0")  # otherwise a panic prints a long backtrace


class HudiRs:
    name = "hudi-rs"

    def __init__(self, folder: Path, ticks: Mapping[str, int] | None = None) -> None:
        self._table = HudiTable(str(folder))
        self._ticks = ticks  # tick of each instant; None: instants encode ticks

    def rows(self, query: Query) -> tuple[Any, ...]:
        """Return the answer to a snapshot, as-of or incremental read as sorted tuples (key, ordering value, value,
        time).
        """
        options = HudiReadOptions()
        if query.kind == "incremental":
            options = options.with_query_type(HudiQueryType.Incremental)
            options = options.with_start_timestamp(self.instant(query.after) if query.after else "0")
            options = options.with_end_timestamp(self.instant(query.until or 0))
        elif query.until is not None:
            options = options.with_as_of_timestamp(self.instant(query.until))
        batches = self._table.read(options)
        rows = pa.Table.from_batches(batches).to_pylist() if batches else []
        if self._ticks is None:
            return from_rows(rows, query)
        ticks = self._ticks
        return tuple(sorted((row["id"], row["ts"], row["value"], ticks[row["_hoodie_commit_time"]]) for row in rows))

    def instant(self, tick: int) -> str:
        """Return the instant (its text) of a tick."""
        if self._ticks is None:
            return instant_of(tick)
        return next(instant for instant, own in self._ticks.items() if own == tick)
