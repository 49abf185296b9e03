"""An exclusive `flock` on a file, safe in processes that fork. A forked child process neither holds nor releases the
parent's `flock`.

A `flock` belongs to the open file description, which a forked child inherits. The file stays locked until every process
has closed its descriptor of the open file description. A forked child closes all inherited lock descriptors
immediately, so that it does not prolong the lock. A child must not unlock an inherited descriptor, because that would
release the parent's lock. The parent unlocks the file explicitly, because a child between fork and exec may still have
the descriptor open.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

_OPEN: Final[set[int]] = set()
_changing: Final = threading.RLock()  # held by a fork, so that no descriptor is open and not in `_OPEN` at that moment


class FileLock:
    """An open lock file, on which the process that opened it can hold an exclusive `flock`. The constructor raises
    `OSError` if the file can be neither opened nor created.
    """

    def __init__(self, path: Path) -> None:
        self._pid = os.getpid()
        with _changing:
            self._descriptor: int | None = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
            _OPEN.add(self._descriptor)

    @property
    def is_open(self) -> bool:
        """Return True if this process has the lock file open. In a forked child, `is_open` is False, because the child
        has closed its inherited descriptor.
        """
        return self._descriptor is not None and self._pid == os.getpid()

    def lock(self, *, wait: bool = True) -> bool:
        """Lock the file exclusively. Return False if `wait` is False and another open file description holds the lock.
        """
        import fcntl

        assert self.is_open, "the file is closed"
        assert self._descriptor is not None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Unlock and close the file. In a forked child, `close` has no effect, because the child has already closed the
        file.
        """
        import fcntl

        with _changing:
            if not self.is_open:
                return
            descriptor, self._descriptor = self._descriptor, None
            assert descriptor is not None
            _OPEN.discard(descriptor)
            with suppress(OSError):
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive `flock` on the file `path` during a `with` block."""
    file = FileLock(path)
    try:
        file.lock()
        yield
    finally:
        file.close()


def _close_inherited() -> None:
    for descriptor in _OPEN:
        with suppress(OSError):
            os.close(descriptor)
    _OPEN.clear()
    _changing.release()  # the only thread of the child is the copy of the one that acquired it


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(before=_changing.acquire, after_in_parent=_changing.release, after_in_child=_close_inherited)
