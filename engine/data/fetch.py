"""Data files on their way to a decoder: the size is the one that the commit lists, and what cannot be decoded says so.

Every reader and service gets the data files of a slice or window here. A power cut may leave a file empty or short;
an empty log decodes as no rows, so that only the listed size shows the loss.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..errors import Damaged, Missing, NbccError
from ..storage import NotFound, Storage
from .tasks import BaseInput, LogInput

REMEDY = "restore the file from a copy, or restore the table to a savepoint from before it was written"


def fetch(storage: Storage, file: BaseInput | LogInput) -> bytes:
    """The content of a data file; `NotFound` without it, `Damaged` if its size is not the listed one.

    A log that later writes may have appended to can only be too short. A size of 0 in a commit means unknown, because
    other engines leave the field out; a file of nbcc is never empty unless it holds no record.
    """
    data = storage.get(file.path)
    appended = isinstance(file, LogInput) and file.appended
    if file.size and (len(data) < file.size if appended else len(data) != file.size):
        raise Damaged(f"read {file.path}", f"it has {len(data)} bytes, and its commit lists {file.size}", REMEDY)
    return data


@contextmanager
def decoding(path: str) -> Iterator[None]:
    """A context around the decoding of a file: an exception that damaged bytes cause becomes `Damaged`."""
    try:
        yield
    except (NbccError, NotFound):
        raise
    except Exception as broken:  # damaged bytes make a decoder fail in any way, EOFError and OSError included
        what = " ".join(f"{type(broken).__name__}: {broken}".split())[:300]
        raise Damaged(f"read {path}", f"its content cannot be decoded ({what})", REMEDY) from broken


def missing(path: str) -> Missing:
    """The error for a data file that a completed commit lists and the storage does not hold."""
    return Missing(f"read {path}", "a completed commit lists the file, and it is missing", REMEDY)
