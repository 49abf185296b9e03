"""Puts data files into the storage. A marker is created before each data file, so that a rollback finds the data files
of a crashed writer.
"""

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
    """Write a new data file of `instant` and return its path. Readers do not use the data file until the commit of
    `instant` lists the file.

    `name` must contain a write token, so that no other attempt uses the same name. On a file system, raises `Conflict`
    if a file with the same name but different content exists.
    """
    path = in_partition(partition, name)
    storage.put_if_absent(marker(instant, partition, name), b"")
    if not put_unique(storage, path, data):
        raise _taken(path)
    return path


def put_base_parts(
    storage: Storage, partition: str, name: BaseName, parts: Iterator[pa.Table], *, is_sorted: bool
) -> WrittenFile:
    """Write the base file `name` from rows in one or more parts (see `put_base_file`), with only one part in memory at
    a time.

    `is_sorted` has an effect only if `parts` contains a single table.
    """
    first, second = next(parts), next(parts, None)
    if second is None:
        return put_base_file(storage, partition, name, first, is_sorted=is_sorted)
    path = in_partition(partition, str(name))
    with tempfile.TemporaryFile(prefix="nbcc-base-") as file:
        ahead = [second, first]
        del first, second  # `_popped` gives up each part before the next one is read
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
    """Write the base file `name`. `rows` must have Hudi's meta columns; the function sets `_hoodie_file_name` to the
    file name.

    If `is_sorted` is True (the rows are sorted by a column), row groups are smaller, so that readers can skip more
    rows.
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
