"""The storage protocol: the engine accesses a table's files only by these six operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class NotFound(FileNotFoundError):
    """Raised if `Storage.get` finds no object at the path."""


class Entry(NamedTuple):
    """One object of a listing: its path relative to the table's root, its size in bytes, and the time of its last put.

    `modified` is in seconds since 1970 by the store's clock; 0 if unknown.
    """

    path: str
    size: int
    modified: float = 0.0


class Storage(Protocol):
    """The objects below one table's root. Paths are relative to the root and separated by '/'.

    Implementations can be pickled; executors reopen the store from `url`. A listing is not a snapshot of the objects at
    one time. A listing contains every object that exists while the listing runs. A listing may or may not contain an
    object that is created or deleted while the listing runs.
    """

    @property
    def url(self) -> str:
        """The URL with which executors open the storage again."""
        ...

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create `path` with `data`, atomically. If `path` exists already, the method returns False and leaves the
        content unchanged.
        """
        ...

    def put(self, path: str, data: bytes) -> None:
        """Create or replace `path`. Only table properties, heartbeats and the archive's version are replaced."""
        ...

    def get(self, path: str) -> bytes:
        """Return the content of `path`; raises `NotFound` if there is no object at `path`."""
        ...

    def list(self, prefix: str) -> list[Entry]:
        """Return all objects below the folder `prefix` ('' is the root), sorted by path, without checksum side files.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete `path` and its checksum side file. A missing file is not an error."""
        ...

    def delete_all(self, paths: Sequence[str]) -> None:
        """Delete several paths in as few requests as possible. The deletion of several paths is not atomic."""
        ...
