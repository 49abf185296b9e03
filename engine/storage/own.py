"""A conditional put that recognises its own success."""

from __future__ import annotations

from typing import Final

from .protocol import NotFound, Storage

ATTEMPTS: Final = 3


def put_own(storage: Storage, path: str, data: bytes) -> bool:
    """Create `path` with `data`; True also if it holds `data` already, False if it holds anything else.

    Equal content is success. Whatever is put by this function either names its writer (a requested time, a completion
    time, a write token), so that only an earlier attempt of the same writer can have put it; or has the same effect
    whichever writer put it (a plan for the same time, an inflight file). A request is often empty; but its name is a
    time that only the holder of the table's lock takes, and where a lock can be lost, the decision log keeps times
    unique. An object that disappeared between the put and the read is put again.
    """
    for _ in range(ATTEMPTS):
        if storage.put_if_absent(path, data):
            return True
        try:
            return storage.get(path) == data
        except NotFound:
            continue
    return False
