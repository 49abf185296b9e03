"""Reads data files for a decoder, and reports damaged files.

Every reader and service reads the data files of a slice or window with `fetch`. A power failure may truncate a file. A
log that was truncated to zero bytes decodes as no rows, so only the size listed in the commit reveals the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Damaged, Missing, NbccError
from ..storage import NotFound, Storage
from .tasks import BaseInput, LogInput

REMEDY = "restore the file from a copy, or restore the table to a savepoint from before it was written"


def fetch(storage: Storage, file: BaseInput | LogInput) -> bytes:
    """Return the content of a data file. Raises `NotFound` if the file is absent, and `Damaged` if its size differs
    from the listed size.

    A log may be longer than listed, because later writes may have appended to it. A listed size of 0 means unknown,
    because other engines omit the field.
    """
    data = storage.get(file.path)
    appended = isinstance(file, LogInput) and file.appended
    if file.size and (len(data) < file.size if appended else len(data) != file.size):
        raise Damaged(f"read {file.path}", f"it has {len(data)} bytes, and its commit lists {file.size}", REMEDY)
    return data


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """Return a context manager for the decoding of a file, which turns exceptions of the decoder into `Damaged`."""
    try:
        yield
    except (NbccError, NotFound, MemoryError):  # the process is short of memory, and the file may be sound
        raise
    except Exception as broken:  # damaged bytes make a decoder fail in any way, EOFError and OSError included
        what = " ".join(f"{type(broken).__name__}: {broken}".split())[:300]
        raise Damaged(f"read {path}", f"its content cannot be decoded ({what})", REMEDY) from broken


def missing(path: str) -> Missing:
    """Return the error for a data file that is listed in a completed commit but missing in the storage."""
    return Missing(f"read {path}", "a completed commit lists the file, and it is missing", REMEDY)
