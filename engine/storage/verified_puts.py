"""Puts whose failed answers are verified by reading the object.

A store may carry out a put and still answer that it failed: the answer is lost, or the client repeats the put itself
and the repetition meets the object of the first. So a failed answer alone decides nothing; the object does. The content
of such a put must be unique.
"""

from __future__ import annotations

from typing import Final

from ..errors import StorageError
from .conditional import ConditionalObject, Version
from .failures import TRANSIENT
from .protocol import NotFound, Storage

ATTEMPTS: Final = 4
"""How often a put is sent whose answers say that it failed, while the object shows that it did not happen."""


def replace_verified(target: ConditionalObject, data: bytes, known: Version | None) -> bool:
    """Whether the object was `known` and now holds `data`, which no other put has: read after every failed answer.

    The put is repeated while the object is still `known`. Raises the last error of the store if that does not help.
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
        found = target.read()
        if found is not None and found.data == data:
            return True
        if (found and found.data) != (known and known.data):
            return False
    if error is not None:
        raise error
    return False


def put_own(storage: Storage, path: str, data: bytes) -> bool:
    """Create `path` with `data`; True also if it holds `data` already, False if it holds anything else.

    Equal content is success. Whatever is put by this function either names its writer (a requested time, a completion
    time, a write token), so that only an earlier attempt of the same writer can have put it; or has the same effect
    whichever writer put it (a plan for the same time, an inflight file). An object that disappeared between the put and
    the read is put again.
    """
    for _ in range(ATTEMPTS):
        if storage.put_if_absent(path, data):
            return True
        try:
            return storage.get(path) == data
        except NotFound:
            continue
    return False
