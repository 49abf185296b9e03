"""Puts that verify a failed answer by reading the object.

A store may execute a put and still report a failure: the answer is lost, or the client's own retry finds the object of
the first attempt. So the object decides, not the answer. The content of such a put must be unique to its writer.
"""

from __future__ import annotations

from typing import Final

from ..errors import StorageError
from .conditional import ConditionalObject, Version
from .failures import TRANSIENT
from .protocol import NotFound, Storage

ATTEMPTS: Final = 4
"""The number of attempts at a put that fails and leaves no object."""


def replace_verified(target: ConditionalObject, data: bytes, known: Version | None) -> bool:
    """Replace the version `known` by `data`; returns whether it succeeded. `data` must be unique to this put.

    After a failed answer the object is read. The put is repeated while the object is still `known`. Raises the store's
    last error if all attempts fail.
    """
    error: Exception | None = None
    for _ in range(ATTEMPTS):
        try:
            if target.write(data, known):
                return True
            error = None
        except TRANSIENT as failed:
            if isinstance(failed, StorageError) and not failed.unsure:
                raise
            error = failed
        now = target.read()
        if now is not None and now.data == data:
            return True
        if (now and now.data) != (known and known.data):
            return False
    if error is not None:
        raise error
    return False


def put_own(storage: Storage, path: str, data: bytes) -> bool:
    """Create `path` with `data`. Also True if it already contains `data`; False for any other content.

    Equal content counts as success. Either the content names its writer (a requested time, a completion time, a write
    token), so only an earlier attempt of the same writer can have put it; or its effect does not depend on the writer
    (a plan for the same time, an inflight file). If the object disappears between put and read, it is put again.
    """
    for _ in range(ATTEMPTS):
        if storage.put_if_absent(path, data):
            return True
        try:
            return storage.get(path) == data
        except NotFound:
            continue
    return False
