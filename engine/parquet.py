"""Encodes and decodes Parquet as Hudi does: base files, and the content of log blocks (docs/hudi-format.md)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Final

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import Damaged
from .expansion import Opened, batches_bounded, read_bounded
from .limits import Limits, limits

FEW_VALUES: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
"""Meta columns with few distinct values: the only columns that are always dictionary-encoded."""

_CODEC: Final = "snappy"  # measured: twice as fast as zstd at its lowest level, both ways
_WORTH: Final = 0.9  # a column that compresses to more than this ratio stays uncompressed
_SAMPLE: Final = 1000  # rows that are compressed to estimate the ratio
_GROUP_ROWS: Final = 1 << 17  # of files that are written in parts: a reader holds one group's compressed bytes


def encode_parquet(rows: pa.Table) -> bytes:
    """Return the bytes of a Parquet file with the given rows, meta columns first. A file without rows is valid.

    The file contains no Arrow schema, because readers use the commit's Avro schema. Times have the same units in the
    file as in the rows.
    """
    return bytes(_encoded(rows, _codecs(rows) if len(rows) > _SAMPLE else _CODEC))


def write_parquet(parts: Iterable[pa.Table], target: BinaryIO) -> int:
    """Write the parts, which have one schema, as one Parquet file, and return the number of their rows.

    The file is as `encode_parquet` returns it, but has smaller row groups. The function holds one part at a time.
    """
    rows, writer = 0, None
    for part in parts:
        if writer is None:
            options = _options(part, _codecs(part) if len(part) > _SAMPLE else _CODEC)
            writer = pq.ParquetWriter(target, part.schema, **options)
        writer.write_table(part, row_group_size=_GROUP_ROWS)
        rows += len(part)
    assert writer is not None, "a file has at least one part, which may be empty"
    writer.close()
    return rows


def _options(rows: pa.Table, codecs: Mapping[str, str] | str) -> dict[str, Any]:
    return {
        "compression": codecs,
        "use_dictionary": [name for name in FEW_VALUES if name in rows.column_names],
        "store_schema": False,
        "write_statistics": False,
    }


def _encoded(rows: pa.Table, codecs: Mapping[str, str] | str) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(rows, sink, **_options(rows, codecs))
    return sink.getvalue()


def _codecs(rows: pa.Table) -> dict[str, str]:
    """Return a mapping from the path of each leaf column to its codec. Columns that compression does not make smaller,
    such as hashes, stay uncompressed.
    """
    sample = pq.read_metadata(pa.BufferReader(_encoded(rows.slice(0, _SAMPLE), _CODEC))).row_group(0)
    leaves = [sample.column(number) for number in range(sample.num_columns)]
    return {leaf.path_in_schema: "none" if _stays_large(leaf) else _CODEC for leaf in leaves}


def _stays_large(leaf: pq.ColumnChunkMetaData) -> bool:
    """Return True if compression of the column saves too little space. Returns False if the sample has less than a byte
    for each row (mostly nulls), because such a sample is too small to decide.
    """
    size: int = leaf.total_uncompressed_size
    return size > _SAMPLE and leaf.total_compressed_size > _WORTH * size


def decode_parquet(
    data: bytes | memoryview,
    name: str,
    columns: Sequence[str] | None = None,
    packed: bool = False,
    bounds: Limits | None = None,
) -> pa.Table:
    """Return the rows of a Parquet file: all columns, or the requested `columns` that the file has.

    The columns have the types of the file, but dictionaries are unpacked. If `packed` is true, the columns `FEW_VALUES`
    stay dictionaries; callers that merge and write rows use this. `name` is the file's name in errors. Raises `Damaged`
    if the bytes are not Parquet. Raises `LimitExceeded` if the rows need more memory than `bounds` (default: the limits
    of this process) allows.
    """
    buffer, few = pa.py_buffer(data), FEW_VALUES if packed else ()
    try:
        file = pq.ParquetFile(pa.BufferReader(buffer), read_dictionary=few or None)
    except (pa.ArrowException, OSError, KeyError) as broken:  # KeyError: it lacks one of the columns of few values
        raise Damaged(
            f"read {name}", f"its {len(data)} bytes are not parquet ({broken})", "restore the file from a copy"
        ) from None
    wanted = None if columns is None else [column for column in columns if column in file.schema_arrow.names]
    return read_bounded(Opened(name, buffer, file, few), wanted, bounds or limits())


def parquet_batches(
    opened: BinaryIO, name: str, columns: Sequence[str] | None, bounds: Limits
) -> Iterator[pa.Table]:
    """Return the rows of `decode_parquet` with `packed`, in batches. The result has at least one batch."""
    size = opened.seek(0, os.SEEK_END)
    opened.seek(0)
    try:
        file = pq.ParquetFile(opened, read_dictionary=FEW_VALUES)
    except (pa.ArrowException, OSError, KeyError) as broken:
        raise Damaged(
            f"read {name}", f"its {size} bytes are not parquet ({broken})", "restore the file from a copy"
        ) from None
    wanted = None if columns is None else [column for column in columns if column in file.schema_arrow.names]
    return batches_bounded(name, file, FEW_VALUES, wanted, bounds.decoded(size))
