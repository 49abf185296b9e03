"""Puts that also succeed if an earlier attempt at the same put has already created the object.

A store may execute a put and still report a failure. A put can appear to fail if the response is lost, or if the
client's own retry finds the object of the first attempt. After a failure, `put_own` and `replace_verified` read the
object and compare its content with the content to be put. Equal content counts as success, so the content should
identify its writer.
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
    """A storage that uploads large data files in parts, without conditional puts."""

    def put_in_parts(self, path: str, data: bytes) -> bool:
        """Put a data file, in several parts if it is large. The data file's name must be unique to this put.

        Returns False if a file of that name already exists with other content.
        """
        ...


@runtime_checkable
class StorageOfFiles(Protocol):
    """A storage that can upload an open file without loading all of it into memory."""

    def put_file(self, path: str, file: BinaryIO) -> bool:
        """Put a data file with the content of an open file. The data file's name must be unique to this put.

        Returns False if a file of that name already exists with other content.
        """
        ...


@runtime_checkable
class StorageThatCompares(Protocol):
    """A storage whose failed put has read the object that exists, so that a second read would cost a request."""

    def create_or_get(self, path: str, data: bytes) -> bytes | None:
        """See the function `create_or_get`."""
        ...


def create_or_get(storage: Storage, path: str, data: bytes) -> bytes | None:
    """Create the object `path` with the content `data`. Returns None if the object has this content now, and otherwise
    the content that it has. Raises `NotFound` if the object disappears between the put and the read.
    """
    if isinstance(storage, StorageThatCompares):
        return storage.create_or_get(path, data)
    if storage.put_if_absent(path, data) or (there := storage.get(path)) == data:
        return None
    return there


def put_file(storage: Storage, path: str, file: BinaryIO) -> bool:
    """Put a data file with the content of `file` from its current position. The data file's name must be unique to this
    put. Returns False if a different file with the same name exists.
    """
    if isinstance(storage, StorageOfFiles):
        return storage.put_file(path, file)
    return put_unique(storage, path, file.read())


def put_unique(storage: Storage, path: str, data: bytes) -> bool:
    """Put a data file whose name is unique to this put. Returns False if a different file with the same name exists.

    In an object store, the put is unconditional, because large files are uploaded in parts. A put repeated after a lost
    response replaces the object with the same bytes.
    """
    if isinstance(storage, StorageInParts):
        return storage.put_in_parts(path, data)
    return put_own(storage, path, data)


class ReplaceResult(NamedTuple):
    """The result of `replace_verified`: whether the put succeeded, and the object's current version."""

    done: bool
    version: Version | None


def replace_verified(target: ConditionalObject, data: bytes, known: Version | None) -> ReplaceResult:
    """Replace the content of an object with `data` if the object's version equals `known`. `data` must be unique to
    this put.

    If the store answers with an error, `replace_verified` reads the object to learn the outcome. The put is repeated
    until it succeeds or the object's version differs from `known`. Raises the store's last error if all attempts at the
    put fail.
    """
    error: Exception | None = None
    now: Version | None = None
    for _ in range(ATTEMPTS):
        try:
            if written := target.write(data, known):
                return ReplaceResult(True, written)
            error = None
        except TRANSIENT as failed:
            if isinstance(failed, StorageError) and not failed.unsure:
                raise
            error = failed
        # The second look: the put may have succeeded although the answer was an error or was lost.
        now = target.read()
        if now is not None and now.data == data:
            return ReplaceResult(True, now)
        if (now and now.data) != (known and known.data):
            return ReplaceResult(False, now)
    if error is not None:
        raise error
    return ReplaceResult(False, now)


def put_own(storage: Storage, path: str, data: bytes) -> bool:
    """Create the object `path` with the content `data`. Returns False if the object already exists with other content.

    An existing object with equal content counts as success. If `data` contains a time or token of this writer, only an
    earlier attempt of this writer can have created an equal object. If `data` does not identify a writer, as in an
    inflight file, it does not matter which writer created the object. If the object disappears between the put and the
    read, `put_own` repeats the put.
    """
    for _ in range(ATTEMPTS):
        try:
            return create_or_get(storage, path, data) is None
        except NotFound:
            continue
    return False
