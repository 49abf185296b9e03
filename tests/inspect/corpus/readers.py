"""What readers answer about a table: the engine, hudi-rs, and Apache Hudi on Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from hudi import HudiReadOptions, HudiTable

from nbcc.engine import Table
from nbcc.engine.errors import NbccError

Answer = Literal["right", "lacks rows", "other rows", "fails"]
Rows = frozenset[str]
Reader = Callable[[Path], Rows]


class ReaderFailed(Exception):
    """The reader returned no rows, but an error."""


def _without_meta(rows: list[dict[str, Any]]) -> Rows:
    kept = ({name: value for name, value in row.items() if not name.startswith("_hoodie_")} for row in rows)
    return frozenset(repr(sorted(row.items())) for row in kept)


def by_nbcc(folder: Path) -> Rows:
    try:
        return _without_meta(Table.open(None, folder).snapshot().to_pylist())
    except NbccError as refused:
        raise ReaderFailed(str(refused)) from None


def by_hudi_rs(folder: Path) -> Rows:
    try:
        batches = HudiTable(str(folder)).read(HudiReadOptions())
    except BaseException as error:  # a panic of its library is not an Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        raise ReaderFailed(f"{type(error).__name__}: {error}") from None
    return _without_meta(pa.Table.from_batches(batches).to_pylist() if batches else [])


def answer(reader: Reader, folder: Path, right: Rows) -> Answer:
    """Compare the rows that a reader returns for a table with the `right` ones."""
    try:
        rows = reader(folder)
    except ReaderFailed:
        return "fails"
    if rows == right:
        return "right"
    return "lacks rows" if rows < right else "other rows"
