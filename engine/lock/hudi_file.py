"""Hudi's FileSystemBasedLockProvider: the file ``.hoodie/lock`` exists as long as somebody holds the lock.

Written from its behaviour (hudi-format §12.2): created if absent, deleted to give it back, taken over if it is older
than `hoodie.write.lock.filesystem.expire` minutes (0: never); processes of ours do that one at a time. Nobody renews
it, so that it can expire under its holder; and Hudi deletes whatever file is there when it gives the lock back, so that
it can free another's.
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

from ..errors import Unsupported
from .waiting import Now, Waiting, wall_ms

FILE: Final = ".hoodie/lock"


class HudiFileLock(Waiting):
    """The lock of a table in a local folder, which Hudi's writers keep to as well."""

    def __init__(self, url: str, wait_seconds: float = 60.0, expire_minutes: int = 0, now: Now = wall_ms) -> None:
        super().__init__(url, wait_seconds)
        if not url.startswith("file:"):
            raise Unsupported(
                f"lock the table {url}",
                "a lock file needs a file system",
                "use StorageBasedLockProvider for this store",
            )
        self._path = Path(unquote(urlsplit(url).path)) / FILE
        self._expire_ms = expire_minutes * 60_000
        self._now = now
        self._content = b""

    def try_once(self) -> bool:
        self._remove_expired()
        try:
            opened = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        except FileExistsError:
            return False
        try:
            self._content = _info().encode()
            os.write(opened, self._content)
        finally:
            os.close(opened)
        return True

    def give_back(self) -> None:
        with suppress(FileNotFoundError):
            if self._path.read_bytes() == self._content:
                self._path.unlink()

    def held_by(self) -> str:
        try:
            told = json.loads(self._path.read_text(encoding="utf-8"))
            return f"{FILE} has been held since {told['lockCreateTime']}"
        except (OSError, ValueError, KeyError, TypeError):
            return f"{FILE} exists"

    def _remove_expired(self) -> None:
        """Under a `flock`: who has waited for it looks again, and finds what another has locked meanwhile."""
        import fcntl

        if not self._has_expired():
            return
        guard = os.open(self._path.with_name(".nbcc.lock.guard"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if self._has_expired():
                self._path.unlink(missing_ok=True)
        finally:
            os.close(guard)

    def _has_expired(self) -> bool:
        try:
            since = self._path.stat().st_mtime_ns // 1_000_000
        except FileNotFoundError:
            return False
        return bool(self._expire_ms) and self._now() - since > self._expire_ms


def _info() -> str:
    """What Hudi writes into it, for whoever wonders; the thread's name tells our locks from each other."""
    now = datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
    name = f"{threading.current_thread().name} of nbcc {uuid.uuid4()}"
    return json.dumps({"lockCreateTime": now, "lockThreadName": name, "lockStacksInfo": []})
