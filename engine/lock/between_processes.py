"""A lock shared by the processes of one machine, for a table on a local file system."""

from __future__ import annotations

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ..errors import Conflict, LockTimeout
from ..storage.flock import FileLock
from .waiting import Waiting

FILE: Final = ".hoodie/.nbcc.lock"
"""An empty file that is never deleted. The operating system releases the lock when its holder dies."""


class BetweenProcesses(Waiting):
    """The lock of a table in a local folder: a writer first excludes the other threads of its process, then the other
    processes.

    Spark's `format("nbcc")` writes from a separate process, so a lock between threads would not exclude users of
    `Table`. The lock does not exclude other machines, except on a network file system whose `flock` works across
    machines.
    """

    poll_seconds = 0.001

    def __init__(self, url: str, wait_seconds: float = 60.0) -> None:
        super().__init__(url, wait_seconds)
        self._path = lock_file(url)
        self._held: FileLock | None = None

    def try_once(self) -> bool:
        file = opened(self.url, self._path)
        try:
            # Not blocking, because a blocking `flock` cannot end after a time.
            if file.lock(wait=False):
                self._held = file
        finally:
            if self._held is not file:
                file.close()
        return self._held is file

    def timed_out(self) -> LockTimeout:
        return LockTimeout(
            f"lock the table {self.url}",
            f"{self.held_by()} for {self._wait:g} s",
            "wait for its operation, or look for one that hangs",
        )

    def give_back(self) -> None:
        assert self._held is not None, "only its holder releases a lock"
        held, self._held = self._held, None
        held.close()

    def held_by(self) -> str:
        return f"another process has held {FILE}"


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
