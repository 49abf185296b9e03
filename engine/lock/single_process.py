"""InProcessLockProvider for a local table: a lock between threads, and a file lock that detects other processes."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from weakref import WeakValueDictionary, finalize

from ..config.options import PROVIDER
from ..errors import Conflict
from ..storage.flock import FileLock
from .between_processes import lock_file, opened
from .in_process import InProcessLock


class SingleProcessLock(InProcessLock):
    """The lock of a table in a local folder to which only one process may write.

    The first `acquire` claims the table for the calling process. The process gives up its claim when it deletes its
    last lock object for the table. A second process that tries to write gets `Conflict` while the first process has the
    claim, even if the lock is free.
    """

    def __init__(self, url: str, wait_seconds: float = 60.0) -> None:
        super().__init__(url, wait_seconds)
        self._path = lock_file(url)
        self._claim: _Claim | None = None

    def acquire(self) -> None:
        super().acquire()
        self._claim_table()

    def try_acquire(self) -> bool:
        if not super().try_acquire():
            return False
        self._claim_table()
        return True

    def _claim_table(self) -> None:
        try:
            self._claim = _claimed(self._name, self._path)  # one thread at a time: the lock is held
        except BaseException:
            super().release()
            raise


class _Claim:
    """An exclusive `flock` on the lock file. The `flock` is released when the `_Claim` is garbage-collected."""

    def __init__(self, file: FileLock) -> None:
        self.file = file
        finalize(self, file.close)


# Weak, so that the claim ends with the last lock object and another process may then write.
_CLAIMS: Final[WeakValueDictionary[Path, _Claim]] = WeakValueDictionary()


def _claimed(url: str, path: Path) -> _Claim:
    claim = _CLAIMS.get(path)
    # In a forked child the inherited claim is closed, and the child must claim the table itself.
    if claim is not None and claim.file.is_open:
        return claim
    file = opened(url, path)
    if not file.lock(wait=False):
        file.close()
        raise Conflict(
            f"lock the table {url}",
            "another process writes to it, and InProcessLockProvider excludes only the threads of one process",
            f"end that process, or set {PROVIDER}=StorageBasedLockProvider for the table",
        )
    claim = _CLAIMS[path] = _Claim(file)
    return claim
