"""Puts that also succeed if an earlier attempt at the put has already created the object.

A store may execute a put and still report a failure. A put may appear to fail if its answer is lost, or if the client's
own retry finds the object of the first attempt. After a failure, `put_own` and `replace_verified` therefore compare the
object's content with the put's content. The content of a verified put must be unique to its writer.
"""

from __future__ import annotations

from typing import BinaryIO, Final, NamedTuple, Protocol, runtime_checkable

from ..errors import StorageError
from .conditional import ConditionalObject, Version
from .failures import TRANSIENT
from .protocol import NotFound, Storage

ATTEMPTS: Final = 4
"""The number of attempts at a put that fails and leaves no object."""


@runtime_checkable
class StorageInParts(Protocol):
    """A storage in which data files are put unconditionally."""

    def put_in_parts(self, path: str, data: bytes) -> bool:
        """Put a data file, in parts if it is large. No other attempt may use the name of the file.

        Returns False if the storage detects a different file of the same name.
        """
        ...


@runtime_checkable
class StorageOfFiles(Protocol):
    """A storage that puts an object from an open file, with only a small part of the file in memory."""

    def put_file(self, path: str, file: BinaryIO) -> bool:
        """Put a data file with the content of an open file. No other attempt may use the name of the data file.

        Returns False if the storage detects a different file of the same name.
        """
        ...


def put_file(storage: Storage, path: str, file: BinaryIO) -> bool:
    """Put a data file as `put_unique` does, with the content of an open file from its position on."""
    if isinstance(storage, StorageOfFiles):
        return storage.put_file(path, file)
    return put_unique(storage, path, file.read())


def put_unique(storage: Storage, path: str, data: bytes) -> bool:
    """Put a data file whose name no other attempt uses. Returns False if there is a different file of the same name.

    In an object store the put is unconditional, because large files are uploaded in parts. A put that is repeated after
    a lost answer replaces the object by the same bytes.
    """
    if isinstance(storage, StorageInParts):
        return storage.put_in_parts(path, data)
    return put_own(storage, path, data)


class Replaced(NamedTuple):
    """The result of `replace_verified`: True if the put succeeded, and the version that the object has after the put.
    """

    done: bool
    version: Version | None


def replace_verified(target: ConditionalObject, data: bytes, known: Version | None) -> Replaced:
    """Replace the version `known` by `data`, which must be unique to this put. The replacement fails if the object has
    the version of another writer.

    After a failed answer the function reads the object. The function repeats the put while the object still has the
    version `known`. Raises the store's last error if all attempts fail.
    """
    error: Exception | None = None
    now: Version | None = None
    for _ in range(ATTEMPTS):
        try:
            if written := target.write(data, known):
                return Replaced(True, written)
            error = None
        except TRANSIENT as failed:
            if isinstance(failed, StorageError) and not failed.unsure:
                raise
            error = failed
        now = target.read()
        if now is not None and now.data == data:
            return Replaced(True, now)
        if (now and now.data) != (known and known.data):
            return Replaced(False, now)
    if error is not None:
        raise error
    return Replaced(False, now)


def put_own(storage: Storage, path: str, data: bytes) -> bool:
    """Create `path` with `data`. `put_own` returns True also if `path` already contains `data`; it returns False if
    `path` has any other content.

    Content equal to `data` counts as success. Most content names its writer by a requested time, a completion time or a
    write token. Content that names the writer can come only from an earlier attempt of this writer. The effect of other
    content, such as an inflight file, does not depend on the writer. If the object disappears between put and read, the
    function puts the object again.
    """
    for _ in range(ATTEMPTS):
        if storage.put_if_absent(path, data):
            return True
        try:
            return storage.get(path) == data
        except NotFound:
            continue
    return False
