"""Computes, encodes and decodes the value ranges of columns in a file or row group, which let readers skip data.

A range may be wider than the values of its column, but never narrower. The ranges of a log are stored in its commit,
and the ranges of a base file in the file's footer. Floating-point columns with NaN, nested columns, decimals and
binaries have no range.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..json_text import parse_json
from ..parquet import NO_NAN, has_statistics, is_ranged_type
from ..schema.evolution import WIDER

COLUMNS: Final = 32
"""A commit has ranges of this many columns at most: the first ones of the table."""

TEXT_LENGTH: Final = 32
"""The largest number of characters of a bound that a commit stores."""

_LAST: Final = 0x10FFFF
_SURROGATES: Final = (0xD800, 0xDFFF)

Bounds = tuple[Any, Any, bool]
"""(least, most, whether the column has nulls) of a column, with plain values. None: the column has no such bound."""


class LogRanges(NamedTuple):
    """The value ranges of a log's rows, by column. `deletes` is True if the log has deletes, which the ranges do not
    include.
    """

    columns: Mapping[str, Bounds]
    deletes: bool


class Range(NamedTuple):
    """The range of a column: every non-null value is between `least` and `most` (None means unbounded).

    `nulls` is True if the column may contain nulls. `values` is True if the column may contain non-null values. For a
    file without rows, both `nulls` and `values` are False.
    """

    least: pa.Scalar | None = None
    most: pa.Scalar | None = None
    nulls: bool = True
    values: bool = True


Ranges = Mapping[str, Range]

ONLY_NULLS: Final = Range(values=False)


def bounds_of(rows: pa.Table, names: Iterable[str]) -> dict[str, Bounds]:
    """Return the bounds of each column in `names`, as stored in a commit: minimum, maximum, and whether the column
    contains nulls. Columns without bounds are omitted.
    """
    bounds = {}
    for name in names:
        column = rows[name]
        if is_ranged_type(column.type) and has_statistics(column):
            extremes = pc.min_max(column)
            least, most = _plain(extremes["min"]), _plain(extremes["max"])
            if isinstance(least, str):
                least, most = least[:TEXT_LENGTH], upper_bound(most, TEXT_LENGTH)
            bounds[name] = (least, most, column.null_count > 0)
    return bounds


def _plain(value: pa.Scalar) -> Any:
    """Convert a scalar to a JSON value; dates and timestamps become integers."""
    if pa.types.is_date32(value.type):
        value = value.cast(pa.int32())
    elif pa.types.is_timestamp(value.type):
        value = value.cast(pa.int64())
    return value.as_py()


def upper_bound(text: str, length: int) -> str | None:
    """Return a string of at most `length` characters that is not less than `text` in code point order (the order of
    UTF-8 bytes), or None if no string qualifies.
    """
    if len(text) <= length:
        return text
    head = text[:length]
    while head:
        successor = ord(head[-1]) + 1
        if _SURROGATES[0] <= successor <= _SURROGATES[1]:
            successor = _SURROGATES[1] + 1
        if successor <= _LAST:
            return head[:-1] + chr(successor)
        head = head[:-1]  # the last character is the greatest one, so the character before it must rise
    return None


def encode_ranges(files: Mapping[str, Mapping[str, Bounds]]) -> str:
    """Encode a mapping from file paths to column bounds as JSON."""
    names = sorted({name for bounds in files.values() for name in bounds})
    rows = {path: [bounds.get(name) for name in names] for path, bounds in files.items()}
    return json.dumps({"columns": names, "files": rows}, separators=(",", ":"))


def decode_ranges(text: str) -> dict[str, dict[str, Bounds]]:
    """Decode the column bounds of each file from JSON. If the JSON is invalid, the result is empty, so that readers
    skip no data.
    """
    try:
        record = parse_json(text)
        names = record["columns"]
        return {
            path: {name: (b[0], b[1], b[2]) for name, b in zip(names, row, strict=True) if b is not None}
            for path, row in record["files"].items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        return {}


def ranges_of_log(log: LogRanges, schema: pa.Schema) -> dict[str, Range]:
    """Return the value ranges of a log's rows, converted to the column types of `schema`, the table's current schema.
    """
    return {
        field.name: range_of(*log.columns[field.name], field.type) for field in schema if field.name in log.columns
    }


def range_of(least: Any, most: Any, nulls: bool, kind: pa.DataType) -> Range:
    """Return the range with the given bounds, converted from JSON values to the type `kind`."""
    if least is None and most is None:
        return Range(nulls=nulls is not False, values=False)
    return Range(_scalar(least, kind), _scalar(most, kind), nulls is not False)


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar | None:
    try:
        return None if value is None else pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        return None


def ranges_of_groups(metadata: pq.FileMetaData, file: pa.Schema, schema: pa.Schema) -> list[dict[str, Range]]:
    """Return the value ranges of each row group of a Parquet file. `file` is the schema stored in the file, and
    `schema` is the schema of the table.

    A column that is missing from the file is treated as all null. If a column has different types in the file and the
    table, its statistics are used only if the table's type is wider.
    """
    places = {metadata.schema.column(place).path: place for place in range(metadata.num_columns)}
    omits_nan = NO_NAN in (metadata.metadata or {})
    ranges: list[dict[str, Range]] = [{} for _ in range(metadata.num_row_groups)]
    for field in schema:
        if field.name not in file.names:
            of_each: Sequence[Range] = [ONLY_NULLS] * len(ranges)
        elif field.name in places and _is_comparable(file.field(field.name).type, field.type, omits_nan):
            of_each = [_of_chunk(metadata, each, places[field.name], file, field) for each in range(len(ranges))]
        else:
            continue
        for group, here in zip(ranges, of_each, strict=True):
            group[field.name] = here
    return ranges


def _is_comparable(old: pa.DataType, new: pa.DataType, omits_nan: bool) -> bool:
    """Return True if statistics of a column of the type `old` are valid after a cast to the type `new`."""
    if pa.types.is_dictionary(old):
        old = old.value_type
    if pa.types.is_floating(old) and not omits_nan:
        return False
    return is_ranged_type(old) and (old.equals(new) or (old, new) in WIDER)


def _of_chunk(metadata: pq.FileMetaData, group: int, place: int, file: pa.Schema, field: pa.Field) -> Range:
    chunk = metadata.row_group(group).column(place)
    if not chunk.is_stats_set:
        return Range()
    statistics = chunk.statistics
    nulls = statistics.null_count if statistics.has_null_count else None
    if nulls is not None and nulls == metadata.row_group(group).num_rows:
        return ONLY_NULLS
    if not statistics.has_min_max:
        return Range(nulls=nulls != 0)
    old = file.field(field.name).type
    try:
        if pa.types.is_string(field.type):
            least, most = (pa.scalar(value, pa.string()) for value in (statistics.min, statistics.max))
        else:
            raw = (statistics.min_raw, statistics.max_raw)
            least, most = (pa.scalar(value, old).cast(field.type) for value in raw)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):  # the file is of another engine, or hostile
        return Range(nulls=nulls != 0)
    return Range(least, most, nulls != 0)
