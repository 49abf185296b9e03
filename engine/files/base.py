"""Parquet as Hudi reads it: base files, and the content of parquet log blocks (hudi-format §6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from ..errors import NotATable

FEW_VALUES: Final = ("_hoodie_commit_time", "_hoodie_partition_path", "_hoodie_file_name")
"""Meta columns with few values: the only ones for which a dictionary pays at any size."""

_CODEC: Final = "snappy"  # measured: twice as fast as zstd at its lowest level, both ways


def encode_parquet(rows: pa.Table) -> bytes:
    """The bytes of a parquet file of these rows, meta columns first. Any number of rows, also none.

    No Arrow schema inside and no change of time units: the Avro schema of the commit is what readers go by.
    """
    sink = pa.BufferOutputStream()
    pq.write_table(
        rows,
        sink,
        compression=_CODEC,
        use_dictionary=[name for name in FEW_VALUES if name in rows.column_names],
        store_schema=False,
        write_statistics=False,
    )
    return bytes(sink.getvalue())


def decode_parquet(
    data: bytes | memoryview, name: str, columns: Sequence[str] | None = None, packed: bool = False
) -> pa.Table:
    """The rows of a parquet file, all columns or those of `columns` that it has.

    Types are the file's own, dictionaries undone, save that `packed` leaves `FEW_VALUES` as dictionaries (rows that are
    merged and written again need not be told apart). Raises `NotATable` saying `name` if it is no parquet.
    """
    try:
        file = pq.ParquetFile(pa.BufferReader(pa.py_buffer(data)), read_dictionary=FEW_VALUES if packed else None)
    except pa.ArrowInvalid as broken:
        raise NotATable(
            f"read {name}", f"its {len(data)} bytes are no parquet ({broken})", "restore the file from a copy"
        ) from None
    wanted = None if columns is None else [column for column in columns if column in file.schema_arrow.names]
    return file.read(columns=wanted, use_threads=False)
