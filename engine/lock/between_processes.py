"""A lock among the processes of one machine, for tables on its file system."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ..errors import Conflict, LockTimeout
from .in_process import InProcessLock
from .protocol import Lock

FILE: Final = ".hoodie/.nbcc.lock"
"""Empty, and left where it is: the operating system holds the lock, and gives it back when its holder dies."""

_POLL_SECONDS: Final = 0.005


class BetweenProcesses:
    """The lock of the table in a local folder: first among the threads of this process, then among processes.

    Spark writes through `format("nbcc")` from a process of its own, beside whoever uses a `Table`. It does not keep
    other machines out; on a network file system that depends on its `flock`.
    """

    def __init__(self, url: str, wait_seconds: float = 60.0) -> None:
        self._url = url
        self._wait = wait_seconds
        self._threads = InProcessLock(url, wait_seconds)
        self._path = Path(unquote(urlsplit(url).path)) / FILE
        self._held: int | None = None

    def acquire(self) -> None:
        self._threads.acquire()
        try:
            self._held = self._locked()
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        assert self._held is not None, "only its holder releases a lock"
        held, self._held = self._held, None
        os.close(held)
        self._threads.release()

    def _locked(self) -> int:
        """The open file that holds the lock."""
        import fcntl

        try:
            opened = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError as refused:
            exists = f"its lock file {FILE} cannot be opened ({refused.strerror})"
            raise Conflict(f"lock the table {self._url}", exists, "check the folder and its permissions") from None
        until = time.monotonic() + self._wait
        while True:
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(_POLL_SECONDS)
                    continue
                os.close(opened)
                raise LockTimeout(
                    f"lock the table {self._url}",
                    f"another process has held {FILE} for {self._wait:g} s",
                    "wait for its operation, or look for one that hangs",
                ) from None
            except BaseException:
                os.close(opened)
                raise
            return opened


def table_lock(url: str) -> Lock:
    """The widest lock there is for a table: among processes on a local file system, else among threads."""
    if url.startswith("file:") and os.name == "posix":
        return BetweenProcesses(url)
    return InProcessLock(url)
