"""Encodes and decodes Parquet as Hudi does: base files, and the content of log blocks (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from .errors import Damaged
from .expansion import Opened, read_bounded
from .limits import Limits, limits

FEW_VALUES: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
"""Meta columns with few distinct values: the only columns that are always dictionary-encoded."""

_CODEC: Final = "snappy"  # measured: twice as fast as zstd at its lowest level, both ways
_WORTH: Final = 0.9  # a column that compresses to more than this ratio stays uncompressed
_SAMPLE: Final = 1000  # rows that are compressed to estimate the ratio


def encode_parquet(rows: pa.Table) -> bytes:
    """Return the bytes of a Parquet file with the given rows, meta columns first. A file without rows is valid.

    The file contains no Arrow schema, because readers use the commit's Avro schema. Times have the same units in the
    file as in the rows.
    """
    return bytes(_encoded(rows, _codecs(rows) if len(rows) > _SAMPLE else _CODEC))


def _encoded(rows: pa.Table, codecs: Mapping[str, str] | str) -> pa.Buffer:
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        compression=codecs,
        use_dictionary=[name for name in FEW_VALUES if name in rows.column_names],
        store_schema=False,
        write_statistics=False,
    )
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
