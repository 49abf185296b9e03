"""The storage protocol: the operations that every storage of a table's files implements, and a storage that forwards
them.
"""

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


class Listable(Protocol):
    """How the objects of a storage are listed. The defaults are those of a wrapper and of a storage in memory, whose
    every listing is a call of `list`.

    `is_remote` states whether a request is a round trip to an object store, which answers several at the same time.
    `lists_ahead` states whether the listings were started before they were needed. `may_tear` states whether a power
    cut can leave a file empty or cut short, which no object store does.
    """

    is_remote: bool = False
    lists_ahead: bool = False
    may_tear: bool = False

    def list(self, prefix: str) -> list[Entry]:
        """Return all objects below the folder `prefix` ('' is the root), sorted by path; checksum side files are
        omitted.
        """
        ...

    def paths(self, prefix: str) -> Sequence[str]:
        """Return the paths of all objects below `prefix`, in any order. On a file system, listing only paths takes a
        fifth of the time of listing paths with sizes and modification times.
        """
        return [entry.path for entry in self.list(prefix)]

    def sizes_but(self, folder: str) -> tuple[dict[str, int], Sequence[str]]:
        """List all objects in one pass. Returns a mapping from path to size for all objects outside `folder`, and the
        paths of all objects inside it.
        """
        entries, head = self.list(""), f"{folder}/"
        sizes = {entry.path: entry.size for entry in entries if not entry.path.startswith(head)}
        return sizes, [entry.path for entry in entries if entry.path.startswith(head)]

    def list_new(self, folder: str) -> Sequence[Entry]:
        """List a folder; in an object store, list it after `last_seen`."""
        return self.list(folder)

    def last_seen(self, folder: str) -> str:
        """Return the path after which `list_new` starts; '' if no path is remembered."""
        return ""

    def remember(self, folder: str, path: str) -> None:
        """Make later listings of the folder by `list_new` start after `path`, and so omit earlier objects. Only an
        object store remembers: a file system lists the whole folder in any case.
        """
        return

    def list_ahead(self, folder: str) -> None:
        """Start to list a folder, if listings are started before they are needed. An earlier listing is dropped."""
        return

    def forget_listings(self) -> None:
        """Drop the listings that were started in advance, so that later calls list the folders again."""
        return

    def make_durable(self, path: str) -> bool:
        """Write a file to the disk, whichever program put it; raises `NotFound` if there is none. Returns True if a
        power failure leaves the file as it is, and False if that is unknown.
        """
        return False


class Storage(Listable, Protocol):
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

    def delete(self, path: str) -> None:
        """Delete `path` and its checksum side file. A missing file is not an error."""
        ...

    def delete_all(self, paths: Sequence[str]) -> None:
        """Delete several paths in as few requests as possible. The deletion of several paths is not atomic."""
        ...


def content_or_none(storage: Storage, path: str) -> bytes | None:
    """Return the content of `path`; None if there is no object at `path`."""
    try:
        return storage.get(path)
    except NotFound:
        return None


class StorageWrapper(Listable):
    """A storage that forwards every request to the storage `inner`. A subclass does otherwise for some requests."""

    def __init__(self, inner: Storage) -> None:
        self.inner = inner

    @property
    def url(self) -> str:
        return self.inner.url

    def list(self, prefix: str) -> list[Entry]:
        return self.inner.list(prefix)

    def get(self, path: str) -> bytes:
        return self.inner.get(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.inner.put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self.inner.put(path, data)

    def delete(self, path: str) -> None:
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        self.inner.delete_all(paths)
