"""Encodes and decodes base files and the content of log blocks in Hudi's Parquet format (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .checksums import Mismatch, chunks_of, reserved, seal, sealed, verified_footer, verify_chunks
from .errors import Damaged
from .expansion import Opened, read_batches, read_bounded
from .limits import Limits, limits

FEW_VALUES: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
"""Meta columns with few distinct values: the only columns that are always dictionary-encoded."""

NO_NAN: Final = b"nbcc.statistics.no_nan"
"""Key in the footer of nbcc's base files: columns with NaN have no statistics in this file."""

GROUP_ROWS: Final = 1 << 16
"""The largest number of rows in a row group of a base file."""

_UNCOUNTED: Final = ("_hoodie_commit_seqno", "_hoodie_file_name")  # conditions on them are rare, and they are long
_SORTED_GROUPS: Final = 64  # the row groups of a sorted file, unless they would have fewer rows than the next constant
_LEAST_GROUP_ROWS: Final = 1 << 13  # smaller groups compress worse, and the footer grows with their number
_CODEC: Final = "snappy"  # measured: twice as fast as zstd at its lowest level, both ways
_WORTH: Final = 0.9  # a column that compresses to more than this ratio stays uncompressed
_SAMPLE: Final = 1000  # rows that are compressed to estimate the ratio


def encode_parquet(rows: pa.Table) -> bytes:
    """Return the bytes of a Parquet file with the given rows. A file with zero rows is valid.

    The file contains no Arrow schema, because readers use the commit's Avro schema. Timestamps keep the time unit of
    the given rows.
    """
    return bytes(_encoded(rows, _codecs_of(rows)))


def encode_base_file(rows: pa.Table, *, is_sorted: bool = False) -> bytes:
    """Return the bytes of a base file with column statistics and a page index, which let readers skip rows.

    Row groups have `GROUP_ROWS` rows. Sorted rows are written in smaller row groups, so that a range query on the sort
    column reads less of the file. Floating-point columns with NaN have no statistics, because Parquet's statistics
    ignore NaN. The footer key `NO_NAN` records that columns with statistics contain no NaN, which is not guaranteed in
    files of other engines.
    """
    group_rows = GROUP_ROWS
    if is_sorted:
        group_rows = min(GROUP_ROWS, max(_LEAST_GROUP_ROWS, -(-len(rows) // _SORTED_GROUPS)))
    counted = [name for name in rows.column_names if name not in _UNCOUNTED and has_statistics(rows[name])]
    rows = rows.replace_schema_metadata(None)  # the file it was read from has checksums of its own
    options = {"write_statistics": counted or False, "write_page_index": bool(counted)}
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, rows.schema, **_options(rows, _codecs_of(rows)), **options) as writer:
        writer.write_table(rows, group_rows)
        writer.add_key_value_metadata({NO_NAN: b"true", **reserved(rows.schema, _groups(rows, group_rows))})
    return sealed(sink.getvalue())


def _groups(rows: pa.Table, group_rows: int) -> int:
    return max(1, -(-len(rows) // group_rows))


def write_base_file(parts: Iterable[pa.Table], target: BinaryIO) -> int:
    """Write Arrow tables with equal schemas to one base file, and return the number of rows. `target` can be read.

    Only one Arrow table is in memory at a time. Floating-point columns have no statistics, because later Arrow tables
    may contain NaN.
    """
    parts = iter(parts)
    first = next(parts)
    counted = [each.name for each in first.schema if each.name not in _UNCOUNTED and _is_counted(each.type)]
    options = {"write_statistics": counted or False, "write_page_index": bool(counted)}
    rows, groups, schema = len(first), _groups(first, GROUP_ROWS), first.schema.remove_metadata()
    with pq.ParquetWriter(target, schema, **_options(first, _codecs_of(first)), **options) as writer:
        writer.write_table(first.cast(schema), GROUP_ROWS)
        del first
        for part in parts:
            writer.write_table(part.cast(schema), GROUP_ROWS)
            rows, groups = rows + len(part), groups + _groups(part, GROUP_ROWS)
        writer.add_key_value_metadata({NO_NAN: b"true", **reserved(schema, groups)})
    seal(target)
    return rows


def _is_counted(kind: pa.DataType) -> bool:
    values = kind.value_type if pa.types.is_dictionary(kind) else kind
    return is_ranged_type(values) and not pa.types.is_floating(values)


def has_statistics(column: pa.ChunkedArray) -> bool:
    """Return True if nbcc writes statistics for the column: its type must be supported, and it must not contain NaN."""
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    if pa.types.is_floating(kind):
        return not pc.any(pc.is_nan(column)).as_py()
    return is_ranged_type(kind)


def is_ranged_type(kind: pa.DataType) -> bool:
    """Return True if nbcc writes statistics for columns of the type `kind`. Parquet and Arrow order the values of these
    types identically.
    """
    return bool(
        kind in (pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.date32())
        or pa.types.is_timestamp(kind)
    )


def _encoded(rows: pa.Table, codecs: Mapping[str, str] | str) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, write_statistics=False, **_options(rows, codecs))
    return sink.getvalue()


def _options(rows: pa.Table, codecs: Mapping[str, str] | str) -> dict[str, Any]:
    dictionaries = [name for name in FEW_VALUES if name in rows.column_names]
    return {"compression": codecs, "use_dictionary": dictionaries, "store_schema": False}


def _codecs_of(rows: pa.Table) -> Mapping[str, str] | str:
    return _codecs(rows) if len(rows) > _SAMPLE else _CODEC


def _codecs(rows: pa.Table) -> dict[str, str]:
    """Return the codec of each leaf column, by column path. Columns that compression does not shrink, such as hashes,
    stay uncompressed.
    """
    sample = pq.read_metadata(pa.BufferReader(_encoded(rows.slice(0, _SAMPLE), _CODEC))).row_group(0)
    leaves = [sample.column(number) for number in range(sample.num_columns)]
    return {leaf.path_in_schema: "none" if _stays_large(leaf) else _CODEC for leaf in leaves}


def _stays_large(leaf: pq.ColumnChunkMetaData) -> bool:
    size: int = leaf.total_uncompressed_size
    return size > _SAMPLE and leaf.total_compressed_size > _WORTH * size


def decode_parquet(
    data: bytes | memoryview,
    name: str,
    columns: Sequence[str] | None = None,
    packed: bool = False,
    bounds: Limits | None = None,
    row_groups: Sequence[int] | None = None,
) -> pa.Table:
    """Return the rows of a Parquet file, with all columns or only those in `columns`. Columns that the file lacks are
    ignored. `row_groups` lists the indexes of the row groups to decode (default: all).

    The columns have the types of the file, and dictionary columns are decoded to plain values. If `packed` is True, the
    columns in `FEW_VALUES` remain dictionary-encoded, which suits callers that merge and write rows. `name` is the file
    name for error messages. Raises `Damaged` if the bytes are not Parquet. Raises `LimitExceeded` if the rows need more
    memory than `bounds` allows (default: the limits of this process).
    """
    buffer, few = pa.py_buffer(data), FEW_VALUES if packed else ()

    def reopen(few: Sequence[str]) -> pq.ParquetFile:
        return pq.ParquetFile(pa.BufferReader(buffer), read_dictionary=few or None)

    try:
        checksums = verified_footer(buffer, buffer.size)
        file = reopen(few)
        if checksums is not None:
            verify_chunks(buffer, 0, chunks_of(file.metadata, columns, row_groups), checksums)
    except Mismatch as differs:
        raise Damaged(f"read {name}", str(differs), "restore the file from a copy") from None
    except (pa.ArrowException, OSError, KeyError, ValueError) as broken:  # KeyError: it lacks a column of few values
        raise Damaged(
            f"read {name}", f"its {len(data)} bytes are not parquet ({broken})", "restore the file from a copy"
        ) from None
    opened = Opened(name, buffer.size, reopen, file, few, row_groups)
    return read_bounded(opened, _present(file, columns), bounds or limits())


def parquet_batches(
    reopen: Callable[[Sequence[str]], pq.ParquetFile],
    name: str,
    size: int,
    columns: Sequence[str] | None,
    bounds: Limits,
    row_groups: Sequence[int],
) -> Iterator[pa.Table]:
    """Yield the rows of a Parquet file in batches. Columns in `FEW_VALUES` remain dictionary-encoded. `reopen` opens
    the file and reads the given columns as Arrow dictionaries. `size` is the file size in bytes.
    """
    file = reopen(FEW_VALUES)
    opened = Opened(name, size, reopen, file, FEW_VALUES, row_groups)
    return read_batches(opened, _present(file, columns), bounds)


def _present(file: pq.ParquetFile, columns: Sequence[str] | None) -> list[str] | None:
    return None if columns is None else [column for column in columns if column in file.schema_arrow.names]
