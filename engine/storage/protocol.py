"""The storage seam: six operations, the only way by which an operation touches a table's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class NotFound(FileNotFoundError):
    """`Storage.get` of a path that holds nothing."""


class Entry(NamedTuple):
    """One object of a listing: its path relative to the table's root, its size in bytes, and when it was last put.

    `modified` is in seconds since 1970 by the store's clock; 0 where a store does not say.
    """

    path: str
    size: int
    modified: float = 0.0


class Storage(Protocol):
    """Objects under one table's root. Paths are relative to it and separated by '/'.

    Implementations can be pickled; executors open the same store again from `url`.
    A listing is not a snapshot: it holds every object present throughout it and any of those that come or go meanwhile.
    """

    @property
    def url(self) -> str:
        """Where executors find the same store."""
        ...

    def put_if_absent(self, path: str, data: bytes) -> bool:
        """Create `path` with all of `data`, atomically; False, and nothing changed, if it exists."""
        ...

    def put(self, path: str, data: bytes) -> None:
        """Replace `path` (table properties, heartbeats, and the archive's version; all else is immutable)."""
        ...

    def get(self, path: str) -> bytes:
        """The content of `path`; raises `NotFound`."""
        ...

    def list(self, prefix: str) -> list[Entry]:
        """Every object below the folder `prefix` ('' is the root), sorted by path, without checksum side files."""
        ...

    def delete(self, path: str) -> None:
        """Remove `path` and its checksum side file; it need not exist."""
        ...

    def delete_all(self, paths: Sequence[str]) -> None:
        """`delete` for each of `paths`, in as few requests as the store allows; others may see a part of it done."""
        ...
