"""Reads Parquet files within a memory limit. Dictionary pages let a small file expand to any number of long values.

For most columns, the Parquet footer determines an upper bound of the decoded size. If the decoded size of a file may
exceed the memory limit, string columns are read as Arrow dictionaries. The module computes the decoded size of all
string columns before it decodes any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .limits import Limits, exceeded

_WIDTHS: Final = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 8, "FLOAT": 4, "DOUBLE": 8}
_DENSE: Final = frozenset({"PLAIN", "RLE", "BIT_PACKED"})
"""Encodings of text columns whose size in memory is that in the file plus the offsets."""

_OFFSET: Final = 8  # bytes for each text
_LARGEST_BATCH: Final = 1 << 16


class _Bound(NamedTuple):
    """Lower and upper bounds of the decoded size in bytes. `flat` contains the top-level string columns whose bounds
    differ.
    """

    least: int
    most: int
    flat: frozenset[str]
    nested: int  # bytes in the file of columns inside lists, maps and structs that may expand


class Opened(NamedTuple):
    """An open Parquet file of `size` bytes. `reopen` opens the file again and reads the given columns as Arrow
    dictionaries.

    `few` lists the columns that are always read as Arrow dictionaries. `row_groups` lists the indexes of the row groups
    to read; None means all row groups.
    """

    name: str
    size: int
    reopen: Callable[[Sequence[str]], pq.ParquetFile]
    file: pq.ParquetFile
    few: Sequence[str]
    row_groups: Sequence[int] | None = None

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the row groups to read."""
        return list(range(self.file.metadata.num_row_groups)) if self.row_groups is None else list(self.row_groups)


def read_bounded(opened: Opened, wanted: Sequence[str] | None, bounds: Limits) -> pa.Table:
    """Return the `wanted` columns of a file (None: all columns). Raises `LimitExceeded` if the rows take more memory
    than `bounds` allows.
    """
    name, file, few, groups = opened.name, opened.file, opened.few, opened.numbers
    limit = bounds.decoded(opened.size)
    bound = _bound(file, wanted, few, groups)
    if bound.least > limit:
        raise _too_much(name, bound.least, limit)
    if bound.most <= limit:
        return file.read_row_groups(groups, columns=wanted, use_threads=False)
    packed = opened.reopen([*few, *bound.flat])
    if bound.nested:
        rows = _by_batches(packed, name, wanted, bound, limit, groups)
    else:
        rows = packed.read_row_groups(groups, columns=wanted, use_threads=False)
    return _unpacked(rows, file.schema_arrow, bound.flat, name, limit)


def read_batches(opened: Opened, wanted: Sequence[str] | None, bounds: Limits) -> Iterator[pa.Table]:
    """Yield the rows that `read_bounded` would return, in batches. Each batch contains rows of only one row group. The
    memory limits apply to each row group separately.
    """
    for number in opened.numbers:
        group = opened._replace(row_groups=[number])
        if _bound(opened.file, wanted, opened.few, [number]).most > bounds.decoded(opened.size):
            yield read_bounded(group, wanted, bounds)
            continue
        for batch in opened.file.iter_batches(_LARGEST_BATCH, [number], wanted, use_threads=False):
            yield pa.Table.from_batches([batch])


def _bound(file: pq.ParquetFile, wanted: Sequence[str] | None, few: Sequence[str], groups: Sequence[int]) -> _Bound:
    least = most = nested = 0
    flat: set[str] = set()
    for number in groups:
        group = file.metadata.row_group(number)
        for at in range(group.num_columns):
            chunk, leaf = group.column(at), file.schema.column(at)
            top = leaf.path.partition(".")[0]
            if wanted is not None and leaf.path not in wanted and top not in wanted:
                continue
            values, size = max(chunk.num_values, group.num_rows), chunk.total_uncompressed_size
            if chunk.physical_type != "BYTE_ARRAY":
                width = _WIDTHS.get(chunk.physical_type) or leaf.length
                least, most = least + values * width, most + values * width
                continue
            least += values * 4 if leaf.path in few else size
            if leaf.path in few or _DENSE.issuperset(chunk.encodings):
                most += size + values * _OFFSET
                continue
            most += values * (size + _OFFSET)
            if leaf.path == leaf.name and leaf.max_repetition_level == 0:
                flat.add(leaf.path)
            else:
                nested += size
    return _Bound(least, most, frozenset(flat), nested)


def _by_batches(
    file: pq.ParquetFile, name: str, wanted: Sequence[str] | None, bound: _Bound, limit: int, groups: Sequence[int]
) -> pa.Table:
    batch_rows = max(1, min(_LARGEST_BATCH, limit // bound.nested))
    batches, total = [], 0
    for batch in file.iter_batches(batch_rows, groups, wanted, use_threads=False):
        total += batch.nbytes
        if total > limit:
            raise _too_much(name, total, limit)
        batches.append(batch)
    schema = file.schema_arrow
    selected = schema if wanted is None else pa.schema([schema.field(column) for column in wanted])
    return pa.Table.from_batches(batches) if batches else selected.empty_table()


def _unpacked(rows: pa.Table, schema: pa.Schema, flat: frozenset[str], name: str, limit: int) -> pa.Table:
    chosen = [column for column in rows.column_names if column in flat]
    total = rows.nbytes + sum(_unpacked_bytes(chunk) for column in chosen for chunk in rows[column].chunks)
    if total > limit:
        raise _too_much(name, total, limit)
    for column in chosen:
        at = rows.schema.get_field_index(column)
        rows = rows.set_column(at, schema.field(column), rows[column].cast(schema.field(column).type))
    return rows


def _unpacked_bytes(chunk: pa.DictionaryArray) -> int:
    lengths = pc.binary_length(chunk.dictionary).cast(pa.int64())
    return pc.sum(lengths.take(chunk.indices)).as_py() or 0


def _too_much(name: str, size: int, limit: int) -> Exception:
    return exceeded(name, f"its rows take at least {size} bytes in memory, and the limit is {limit}", "decoded_bytes")
