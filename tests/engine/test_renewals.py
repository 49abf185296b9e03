"""Leases and heartbeats outlive a renewal that fails: the next one may get through."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from obstore.exceptions import GenericError

from nbcc.engine.lock.numbered import NumberedLock
from nbcc.engine.lock.storage_lock import StorageLock
from nbcc.engine.storage import open_storage
from nbcc.engine.storage.conditional import LocalObject
from nbcc.engine.timeline.heartbeats import StoredHeartbeats
from tests.builders.tables import tick

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
