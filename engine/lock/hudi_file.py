"""Hudi's FileSystemBasedLockProvider: a writer holds the lock as long as the lock file ``.hoodie/lock`` exists.

A writer acquires the lock by creating the lock file if absent, and releases the lock by deleting the file
(docs/hudi-format.md). A writer may remove a lock file older than `hoodie.write.lock.filesystem.expire` minutes. The
holder does not renew the lock file, so the lock can expire while its holder is still writing. Hudi deletes the lock
file without checking the content, so a Hudi writer may release the lock of another writer.
"""

from __future__ import annotations

import json
import os
import threading
import uuid
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from ..errors import CannotRun, Unsupported
from ..json_text import parse_json
from ..storage.flock import locked
from .waiting import Now, Waiting, wall_ms

FILE: Final = ".hoodie/lock"
EMPTY_MS: Final = 300_000
"""An empty file of this age is removed under every `expire`: its creator died before it wrote the content."""
_NEVER: Final = float("inf")


class HudiFileLock(Waiting):
    """The lock of a table in a local folder, shared with Hudi's writers through Hudi's lock file."""

    def __init__(self, url: str, wait_seconds: float = 60.0, expire_minutes: int = 0, now: Now = wall_ms) -> None:
        super().__init__(url, wait_seconds)
        self._path = Path(unquote(urlsplit(url).path)) / FILE
        self._expire_ms = expire_minutes * 60_000
        self._now = now
        self._content = b""

    def try_once(self) -> bool:
        if not self.url.startswith("file:"):
            raise Unsupported(
                f"lock the table {self.url}",
                "a lock file needs a file system",
                "use StorageBasedLockProvider for this store",
            )
        content = _info().encode()
        try:
            self._remove_expired()
            # The look at the file is cheap and saves a staged file for each poll. The link below decides.
            if self._path.exists() or not self._created(content):
                return False
        except OSError as refused:
            exists = f"its lock file {FILE} cannot be written ({refused.strerror})"
            remedy = "free some space, or check the folder and its permissions"
            raise CannotRun(f"lock the table {self.url}", exists, remedy) from refused
        self._content = content
        return True

    def _created(self, content: bytes) -> bool:
        """Create the lock file and its content atomically, so that a crash never leaves an empty lock file."""
        staged = self._path.with_name(f".nbcc.lock.{uuid.uuid4()}")
        try:
            with open(staged, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            # A link fails if the name exists, also across processes. A rename would replace the file of the holder.
            os.link(staged, self._path)
        except FileExistsError:
            return False
        finally:
            staged.unlink(missing_ok=True)
        return True

    def give_back(self) -> None:
        with suppress(FileNotFoundError):
            # Another writer may have removed this lock as expired and hold it now: its file must stay.
            if self._path.read_bytes() == self._content:
                self._path.unlink()

    def held_by(self) -> str:
        try:
            info = parse_json(self._path.read_text(encoding="utf-8"))
            return f"{FILE} has been held since {info['lockCreateTime']}"
        except (OSError, ValueError, KeyError, TypeError):
            return f"{FILE} exists"

    def _remove_expired(self) -> None:
        """Remove an expired lock file while holding a `flock`. Check the file's age again under the `flock`, because
        another process may have replaced the file since the first check.
        """
        if not self._has_expired():
            return
        with locked(self._path.with_name(".nbcc.lock.guard")):
            if self._has_expired():
                self._path.unlink(missing_ok=True)

    def _has_expired(self) -> bool:
        """Return whether the lock file has expired. A lock file without content that is older than `EMPTY_MS` was left
        by a crash and counts as expired.
        """
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return False
        # Hudi's default of 0 minutes means that a lock never expires.
        bound = self._expire_ms or _NEVER
        if not status.st_size:
            bound = min(bound, EMPTY_MS)
        return self._now() - status.st_mtime_ns // 1_000_000 > bound


def _info() -> str:
    """Return the content of a lock file in Hudi's JSON format. The thread name in the lock file contains a UUID, so it
    identifies one acquisition.
    """
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    name = f"{threading.current_thread().name} of nbcc {uuid.uuid4()}"
    return json.dumps({"lockCreateTime": now, "lockThreadName": name, "lockStacksInfo": []})
