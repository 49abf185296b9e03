"""Locks after a failure: a disk without space, a lock file that a crash left empty, a renewal that fails."""

from __future__ import annotations

import os
import resource
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from obstore.exceptions import GenericError

from nbcc.engine.errors import CannotRun, LockTimeout
from nbcc.engine.lock import held
from nbcc.engine.lock.hudi_file import EMPTY_MS, HudiFileLock
from nbcc.engine.lock.numbered import NumberedLock
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.storage import open_storage
from nbcc.engine.storage.conditional import LocalObject
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from tests.builders.tables import tick

NOW = 1_700_000_000_000


@contextmanager
def no_space() -> Iterator[None]:
    """Files can be created in this process, and not a byte written into them, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_no_lock_file(folder: Path) -> None:
    lock, refused = HudiFileLock(folder.as_uri(), 0.0), None
    with no_space():
        try:
            lock.acquire()
        except CannotRun as raised:
            refused = raised
    assert refused is not None
    assert "its lock file .hoodie/lock cannot be written (File too large)" in str(refused)
    assert list((folder / ".hoodie").iterdir()) == []
    with held(HudiFileLock(folder.as_uri(), 0.0)):
        assert (folder / ".hoodie/lock").read_bytes()
    assert list((folder / ".hoodie").iterdir()) == []


@pytest.mark.parametrize(("content", "taken"), [(b"", True), (b"{}", False)])
def test_an_empty_file_is_removed_after_a_while(content: bytes, taken: bool, folder: Path) -> None:
    """It never had a holder; one with content has, and is not removed unless a setting says when."""
    path, now = folder / ".hoodie/lock", [NOW + EMPTY_MS]
    path.write_bytes(content)
    os.utime(path, ns=(NOW * 10**6, NOW * 10**6))
    lock = HudiFileLock(folder.as_uri(), 0.0, now=lambda: now[0])
    with pytest.raises(LockTimeout):
        lock.acquire()
    now[0] += 1
    assert lock.try_once() is taken


FAILURES = [OSError("reset by peer"), GenericError("reset by peer")]


@dataclass
class Shaky:
    """What it stands before, but once a write fails, as it may in any network."""

    inner: Any
    failure: Exception
    fails: bool = False
    written: threading.Event = field(default_factory=threading.Event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def put(self, path: str, data: bytes) -> None:
        self._written(lambda: self.inner.put(path, data))

    def write(self, data: bytes, known: Any) -> Any:
        return self._written(lambda: self.inner.write(data, known))

    def _written(self, write: Callable[[], Any]) -> Any:
        if self.fails:
            self.fails = False
            raise self.failure
        done = write()
        self.written.set()
        return done

    def goes_on(self) -> bool:
        """Whether something is written after a failure."""
        self.fails = True
        self.written.clear()
        return self.written.wait(10)


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_lease_is_renewed_after_a_failure(failure: Exception, tmp_path: Path) -> None:
    file = Shaky(LocalObject(str(tmp_path), "lock.json", tmp_path.as_uri()), failure)
    lock = StorageLock(open_storage(tmp_path), 1.0, 60, 0.01, file=file)
    lock.acquire()
    assert file.goes_on()
    lock.release()


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_numbered_lock_beats_after_a_failure(failure: Exception, tmp_path: Path) -> None:
    storage = Shaky(open_storage(tmp_path), failure)
    lock = NumberedLock(storage, 1.0, 60, 0.01)
    lock.acquire()
    assert storage.goes_on()
    lock.release()


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
def test_a_heartbeat_continues_after_a_failure(failure: Exception, tmp_path: Path) -> None:
    storage = Shaky(open_storage(tmp_path), failure)
    heartbeats = StoredHeartbeats(storage, interval=0.01, misses=1_000_000)
    heartbeats.start(tick(1))
    assert storage.goes_on()
    heartbeats.stop(tick(1))
