"""The comparison of a table's rows with those that hudi-rs reads."""

from __future__ import annotations

from urllib.parse import unquote, urlsplit

import pyarrow as pa
from hudi import HudiReadOptions, HudiTable

from nbcc import Table


def by_hudi_rs(table: Table) -> pa.Table:
    found = HudiTable(unquote(urlsplit(table.context.storage.url).path)).read(HudiReadOptions())
    return pa.Table.from_batches(found) if found else table.snapshot().slice(0, 0)


def same(table: Table) -> bool:
    """Whether hudi-rs and we give the same rows, Hudi's columns included (but the order and names of files)."""
    ours, theirs = table.snapshot(), by_hudi_rs(table)
    names = [name for name in ours.column_names if name != "_hoodie_file_name"]
    ordered = (sorted(map(repr, rows.select(names).to_pylist())) for rows in (ours, theirs))
    return next(ordered) == next(ordered)
