"""A lock shared by the processes of one machine, for a table on a local file system."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ..errors import Conflict, LockTimeout
from ..storage.flock import FileLock
from .in_process import InProcessLock

FILE: Final = ".hoodie/.nbcc.lock"
"""An empty file that is never deleted. The operating system releases the lock when its holder dies."""

_POLL_SECONDS: Final = 0.001


class BetweenProcesses:
    """The lock of a table in a local folder: a writer first excludes the other threads of its process, then the other
    processes.

    Spark's `format("nbcc")` writes from a separate process, so a lock between threads would not exclude users of
    `Table`. The lock does not exclude other machines, except on a network file system whose `flock` works across
    machines.
    """

    def __init__(self, url: str, wait_seconds: float = 60.0) -> None:
        self._url = url
        self._wait = wait_seconds
        self._threads = InProcessLock(url, wait_seconds)
        self._path = lock_file(url)
        self._held: FileLock | None = None

    def acquire(self) -> None:
        # Threads first: a `flock` belongs to an open file, and one object has room for one open file only.
        self._threads.acquire()
        try:
            self._held = self._locked()
        except BaseException:
            self._threads.release()
            raise

    @property
    def wait_seconds(self) -> float:
        return self._wait

    def try_acquire(self) -> bool:
        if not self._threads.try_acquire():
            return False
        try:
            file = opened(self._url, self._path)
            if file.lock(wait=False):
                self._held = file
                return True
            file.close()
        except BaseException:
            self._threads.release()
            raise
        self._threads.release()
        return False

    def timed_out(self) -> LockTimeout:
        return LockTimeout(
            f"lock the table {self._url}",
            f"another process has held {FILE} for {self._wait:g} s",
            "wait for its operation, or look for one that hangs",
        )

    def release(self) -> None:
        self._threads.check_held()
        assert self._held is not None, "only its holder releases a lock"
        held, self._held = self._held, None
        # The processes before the threads: a thread that waits must find the file lock free when its turn comes.
        held.close()
        self._threads.release()

    def _locked(self) -> FileLock:
        file = opened(self._url, self._path)
        until = time.monotonic() + self._wait
        try:
            # Polled, because a blocking `flock` cannot end after a time.
            while not file.lock(wait=False):
                if time.monotonic() >= until:
                    raise self.timed_out()
                time.sleep(_POLL_SECONDS)
        except BaseException:
            file.close()
            raise
        return file


def lock_file(url: str) -> Path:
    """Return the path of the lock file for a table in a local folder."""
    return Path(unquote(urlsplit(url).path)) / FILE


def opened(url: str, path: Path) -> FileLock:
    """Open the lock file; raise `Conflict` if it cannot be opened."""
    try:
        return FileLock(path)
    except OSError as refused:
        exists = f"its lock file {FILE} cannot be opened ({refused.strerror})"
        raise Conflict(f"lock the table {url}", exists, "check the folder and its permissions") from None
