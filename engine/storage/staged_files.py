"""Temporary files of puts: each file is complete and durable before it gets its final name."""

from __future__ import annotations

import itertools
import os
import secrets
from functools import partial
from typing import BinaryIO, Final

STAGE: Final = ".nbcc-stage-"
"""Prefix of the temporary file of a put. Its suffix is that of a checksum side file, so Hadoop's readers skip it."""

_RANDOM: Final[list[object]] = [0, ""]
_NUMBERS: Final = itertools.count()
_COPIED_BYTES: Final = 1 << 20


def _stage_name() -> str:
    """Return a unique file name with a random part and a counter."""
    process = os.getpid()
    # A forked child would go on with its parent's random part and its counter, and so with its names.
    if _RANDOM[0] != process:
        _RANDOM[:] = process, secrets.token_hex(8)
    return f"{STAGE}{_RANDOM[1]}-{next(_NUMBERS)}.crc"


def staged(folder: int, data: bytes | BinaryIO, durable: bool) -> str:
    """Write the content to a new temporary file, and return the file's name."""
    parts = (data,) if isinstance(data, bytes) else iter(partial(data.read, _COPIED_BYTES), b"")
    stage = _stage_name()
    file = os.open(stage, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    try:
        try:
            for part in parts:
                left = memoryview(part)
                # One call may write fewer bytes than it was given.
                while left:
                    left = left[os.write(file, left) :]
            if durable and data:
                os.fsync(file)
        finally:
            os.close(file)
    except BaseException:
        unlinked(folder, stage)
        raise
    return stage


def unlinked(folder: int, name: str) -> bool:
    """Remove a file from a folder; return False if the file does not exist."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True
