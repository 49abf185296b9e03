"""Puts data files, each after its marker. A rollback uses the marker to find the data file after a crash."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from itertools import chain

import pyarrow as pa

from ..errors import Conflict
from ..file_names import BaseName, in_partition, marker
from ..parquet import encode_base_file, write_base_file
from ..storage import Storage, put_file, put_unique
from .columns import FILE_NAME, constant
from .tasks import WrittenFile


def put_data_file(storage: Storage, instant: str, partition: str, name: str, data: bytes) -> str:
    """Put a new data file of `instant` and return its path. No reader reads the data file until the commit of `instant`
    lists the file.

    The file's name contains a write token, so that no other attempt uses the name. On a file system the function raises
    `Conflict` if a file of that name with different bytes exists.
    """
    path = in_partition(partition, name)
    storage.put_if_absent(marker(instant, partition, name), b"")
    if not put_unique(storage, path, data):
        raise _taken(path)
    return path


def put_base_parts(
    storage: Storage, partition: str, name: BaseName, parts: Iterator[pa.Table], *, is_sorted: bool
) -> WrittenFile:
    """Put the base file `name` with rows in one or more parts, only one of which is in memory at a time. See
    `put_base_file`.

    Several parts are first written to a temporary file of this machine. The rows of several parts are not sorted.
    """
    first, second = next(parts), next(parts, None)
    if second is None:
        return put_base_file(storage, partition, name, first, is_sorted=is_sorted)
    path = in_partition(partition, str(name))
    with tempfile.TemporaryFile(prefix="nbcc-base-") as file:
        ahead = [second, first]
        del first, second
        named = (_named(part, name) for part in chain(_popped(ahead), parts))
        rows = write_base_file(named, file)
        size = file.tell()
        storage.put_if_absent(marker(name.instant, partition, str(name)), b"")
        file.seek(0)
        if not put_file(storage, path, file):
            raise _taken(path)
    return WrittenFile(path, partition, name.file_id, size, rows, 0)


def put_base_file(
    storage: Storage, partition: str, name: BaseName, rows: pa.Table, *, is_sorted: bool = False
) -> WrittenFile:
    """Put the base file `name`. `rows` have Hudi's columns; the function sets `_hoodie_file_name` to the name.

    `is_sorted` is True if the rows are sorted by a column, so that readers can skip most of them.
    """
    data = encode_base_file(_named(rows, name), is_sorted=is_sorted)
    path = put_data_file(storage, name.instant, partition, str(name), data)
    return WrittenFile(path, partition, name.file_id, len(data), len(rows), 0)


def _named(rows: pa.Table, name: BaseName) -> pa.Table:
    place = rows.schema.get_field_index(FILE_NAME)
    return rows.set_column(place, rows.schema.field(place).name, constant(str(name), len(rows)))


def _popped(parts: list[pa.Table]) -> Iterator[pa.Table]:
    while parts:
        yield parts.pop()


def _taken(path: str) -> Conflict:
    return Conflict(f"write {path}", "there is another file of that name", "retry with a new write token")
