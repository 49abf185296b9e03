"""Reads the content of data files, and reports damaged files.

All readers and table services read data files with `fetch`. A power failure may truncate a data file. A log file
truncated to zero bytes decodes to zero rows, so `fetch` compares the file size with the size listed in the commit.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..checksums import checksum_of
from ..errors import Damaged, Missing, NbccError
from ..storage import NotFound, Storage
from .tasks import BaseInput, LogInput

REMEDY = "restore the file from a copy, or restore the table to a savepoint from before it was written"


def fetch(storage: Storage, file: BaseInput | LogInput) -> bytes:
    """Return the content of a data file. Raises `NotFound` if the file is absent, and `Damaged` if its size or its
    checksum differs from the listed one.

    A log file may be longer than its listed size, because other writes may have appended to the log file. A listed size
    of 0 means an unknown size, because other engines omit the size.
    """
    data = storage.get(file.path)
    log = file if isinstance(file, LogInput) else None
    appended = log is not None and log.appended
    if file.size and (len(data) < file.size if appended else len(data) != file.size):
        raise Damaged(f"read {file.path}", f"it has {len(data)} bytes, and its commit lists {file.size}", REMEDY)
    if log is not None and log.checksum and not appended and checksum_of(data) != log.checksum:
        raise Damaged(f"read {file.path}", "its content differs from the checksum in its commit", REMEDY)
    return data


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """Return a context manager that converts exceptions of a file decoder to `Damaged`."""
    try:
        yield
    except (NbccError, NotFound, MemoryError):  # the process is short of memory, and the file may be sound
        raise
    except Exception as broken:  # damaged bytes make a decoder fail in any way, EOFError and OSError included
        what = " ".join(f"{type(broken).__name__}: {broken}".split())[:300]
        raise Damaged(f"read {path}", f"its content cannot be decoded ({what})", REMEDY) from broken


def missing(path: str) -> Missing:
    """Return the error for a data file that is listed in a completed commit but missing from the storage."""
    return Missing(f"read {path}", "a completed commit lists the file, and it is missing", REMEDY)
