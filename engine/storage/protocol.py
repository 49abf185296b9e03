"""The storage protocol: the operations that every storage of a table's files implements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class NotFound(FileNotFoundError):
    """Raised by `Storage.get` if no object exists at the path."""


class Entry(NamedTuple):
    """One listed object: its path relative to the table's root, its size in bytes, and its modification time.

    `modified` is the modification time in seconds since 1970 by the store's clock; 0 if unknown.
    """

    path: str
    size: int
    modified: float = 0.0


class Storage(Protocol):
    """The storage of the objects below one table's root. Object paths are relative to the table's root and separated by
    '/'.

    A storage can be pickled; executors reopen the store from `url`. A listing is not a snapshot of the objects at one
    time. A listing contains every object that exists during the entire listing. An object that is created or deleted
    during the listing may or may not be listed.
    """

    @property
    def url(self) -> str:
        """The URL from which executors reopen the storage."""
        ...

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create the object `path` with the content `data`, atomically. If `path` exists, return False and leave its
        content unchanged.
        """
        ...

    def put(self, path: str, data: bytes) -> None:
        """Create the object `path`, or replace its content."""
        ...

    def get(self, path: str) -> bytes:
        """Return the content of `path`; raises `NotFound` if there is no object at `path`."""
        ...

    def list(self, prefix: str) -> list[Entry]:
        """Return all objects below the folder `prefix` ('' is the root), sorted by path; checksum side files are
        omitted.
        """
        ...

    def delete(self, path: str) -> None:
        """Delete `path` and its checksum side file. A missing file is not an error."""
        ...

    def delete_all(self, paths: Sequence[str]) -> None:
        """Delete several paths in as few requests as possible. The deletion of several paths is not atomic."""
        ...
