"""Reads and puts of large data files that do not fit into the memory of a task."""

from __future__ import annotations

import io
from typing import BinaryIO, Protocol, runtime_checkable

from .protocol import Storage
from .verified_puts import put_unique


@runtime_checkable
class StorageOfFiles(Protocol):
    """A storage that reads parts of an object, and puts an object from an open file."""

    def open_file(self, path: str) -> BinaryIO:
        """Open `path` for reads of parts of it; raises `NotFound` if there is no object at `path`."""
        ...

    def put_from(self, path: str, file: BinaryIO) -> bool:
        """Put a data file whose name no other attempt uses. Returns False if there is a file of that name."""
        ...


def open_file(storage: Storage, path: str) -> BinaryIO:
    """Open an object for reads of parts of it. A storage that cannot read parts is read whole."""
    return storage.open_file(path) if isinstance(storage, StorageOfFiles) else io.BytesIO(storage.get(path))


def put_from(storage: Storage, path: str, file: BinaryIO) -> bool:
    """Put a data file whose name no other attempt uses, from an open file. Returns False if there is a file of that
    name.
    """
    file.seek(0)
    if isinstance(storage, StorageOfFiles):
        return storage.put_from(path, file)
    return put_unique(storage, path, file.read())
