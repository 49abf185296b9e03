"""Checks that the data files listed in commits are readable and contain the numbers of rows recorded in the commits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import pyarrow as pa

from ..checksums import checksum_of
from ..data.columns import IS_DELETED, RECORD_KEY
from ..files.data_block import decode_data
from ..files.delete_block import decode_deletes
from ..files.group_files import BaseFile
from ..files.log_block import Block, BlockKind, read_blocks, without_rolled_back
from ..json_text import parse_json
from ..parquet import decode_parquet
from ..schema import META_COLUMNS
from ..storage import Storage
from ..timeline import WriteStat
from .record import Audit, DamagedFile, File, Progress, no_progress

_ROWS: Final = (BlockKind.AVRO, BlockKind.PARQUET)
_OTHERS: Final = frozenset({*META_COLUMNS, IS_DELETED, "_hoodie_operation"})


def file_faults(storage: Storage, audit: Audit, progress: Progress = no_progress) -> Iterator[DamagedFile]:
    """Yield the faults inside the data files listed in completed commits. Files that are missing from the storage are
    skipped.

    Files of Apache Hudi have no checksums, so a changed value inside a row of theirs is detected only if decoding the
    file fails.
    """
    listed = [(s, c.schema) for c in audit.commits.values() for s in c.stats if s.path in audit.files]
    for done, (stat, schema) in enumerate(listed):
        progress("data files", done, len(listed))
        if because := _fault(storage, audit.files[stat.path], stat, schema):
            yield DamagedFile("data", stat.path, because)


def _fault(storage: Storage, file: File, stat: WriteStat, schema: str | None) -> str | None:
    try:
        data = storage.get(file.path)
        if isinstance(file, BaseFile):
            rows, deletes = _rows(decode_parquet(data, file.path), schema), stat.deletes
        elif stat.checksum and stat.checksum != checksum_of(data):
            return "its content differs from the checksum in its commit"
        else:
            rows, deletes = _counted(without_rolled_back(read_blocks(data, file.path)), file, schema)
    except Exception as error:  # damaged bytes can make a decoder raise anything
        return " ".join(str(getattr(error, "exists", None) or f"{type(error).__name__}: {error}").split())[:300]
    if (rows, deletes) != (stat.writes, stat.deletes):
        return f"it holds {rows} rows and {deletes} deletes, its commit records {stat.writes} and {stat.deletes}"
    return None


def _rows(rows: pa.Table, schema: str | None) -> int:
    names = set(rows.column_names)
    if lacking := sorted(set(META_COLUMNS) - names):
        raise ValueError(f"its rows lack the column {lacking[0]}")
    if schema is not None and (unknown := sorted(names - _columns(schema))):
        raise ValueError(f"its rows have a column {unknown[0]!r}, which the schema of its commit lacks")
    if count := rows[RECORD_KEY].null_count:
        raise ValueError(f"{count} of its rows have no key")
    return len(rows)


@lru_cache(maxsize=64)
def _columns(schema: str) -> frozenset[str]:
    return _OTHERS | {field["name"] for field in parse_json(schema)["fields"]}


def _counted(blocks: list[Block], file: File, schema: str | None) -> tuple[int, int]:
    """Return the numbers of rows and deletes in the blocks of a log file. Raises ValueError for a block that readers
    would skip or could not read.
    """
    rows = deletes = 0
    for block in blocks:
        if block.instant != file.requested:
            what = "is torn" if block.kind == BlockKind.CORRUPT else f"belongs to the instant {block.instant}"
            raise ValueError(f"a block in it {what}")
        if block.kind in _ROWS:
            rows += _rows(decode_data(block, file.path), schema)
        elif block.kind == BlockKind.DELETE:
            deletes += sum(len(part) for part in decode_deletes(block, file.path))
        else:
            raise ValueError(f"it holds a {block.kind.name} block")
    return rows, deletes
