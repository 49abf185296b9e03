"""Heartbeats: whether the writer of a pending instant still lives (RFC-22, "Inline rollback"; hudi-format §12.3).

A heartbeat is the empty file ``.hoodie/.heartbeat/<requested time>``, put again and again; the time of the last put is
the beat. Hudi's writers and cleaners go by the same files.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

from ..storage import TRANSIENT, Storage

FOLDER: Final = ".hoodie/.heartbeat"

INTERVAL_SECONDS: Final = 60.0  # hoodie.client.heartbeat.interval_in_ms
TOLERABLE_MISSES: Final = 2  # hoodie.client.heartbeat.tolerable.misses


class Hearts(Protocol):
    """The heartbeats of a table's writers."""

    def start(self, requested: str) -> None:
        """Beat for an instant of ours from now on; to be called before the instant is on the timeline."""
        ...

    def lives(self, requested: str) -> bool:
        """Whether the writer of that instant has beaten lately; of an instant of ours: always so far.

        A beat that once came too late stays missed: others may have acted on it.
        """
        ...

    def stop(self, requested: str) -> None:
        """No more beats for that instant, whosever it was; its file goes."""
        ...

    def rest(self, requested: str) -> None:
        """No more beats from here: another process goes on with the instant, or one day it counts as failed."""
        ...


class StoredHearts:
    """Hearts that beat into the table's storage, each from a thread of its own.

    Times are seconds. The clocks of this machine and of the store may differ by less than the tolerance.
    """

    def __init__(
        self,
        storage: Storage,
        interval: float = INTERVAL_SECONDS,
        misses: int = TOLERABLE_MISSES,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._storage = storage
        self._interval = interval
        self._tolerance = interval * misses
        self._now = now
        self._ours: dict[str, _Heart] = {}

    def start(self, requested: str) -> None:
        self._beat(requested)
        heart = self._ours[requested] = _Heart(self._now())
        beating = threading.Thread(target=self._keep_beating, args=(requested, heart), daemon=True)
        beating.name = f"nbcc-heartbeat-{requested}"
        beating.start()

    def lives(self, requested: str) -> bool:
        if heart := self._ours.get(requested):
            return heart.on_time(self._now(), self._tolerance)
        beats = (entry.modified for entry in self._storage.list(FOLDER) if entry.path == _path(requested))
        return self._now() - next(beats, 0.0) <= self._tolerance

    def stop(self, requested: str) -> None:
        self.rest(requested)
        self._storage.delete(_path(requested))

    def rest(self, requested: str) -> None:
        if heart := self._ours.pop(requested, None):
            heart.stopped.set()

    def _keep_beating(self, requested: str, heart: _Heart) -> None:
        while not heart.stopped.wait(self._interval):
            if not heart.on_time(self._now(), self._tolerance):
                return
            try:
                self._beat(requested)
            except TRANSIENT:
                continue  # the next beat may get through; if none does in time, the write is aborted
            heart.last = self._now()

    def _beat(self, requested: str) -> None:
        self._storage.put(_path(requested), b"")


class _Heart:
    """When it beat last, and whether it has ever been late."""

    def __init__(self, now: float) -> None:
        self.last = now
        self.late = False
        self.stopped = threading.Event()

    def on_time(self, now: float, tolerance: float) -> bool:
        self.late = self.late or now - self.last > tolerance
        return not self.late


def _path(requested: str) -> str:
    return f"{FOLDER}/{requested}"
