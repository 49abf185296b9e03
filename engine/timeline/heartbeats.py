"""Heartbeats show whether the writer of a pending instant is alive (RFC-22, "Inline rollback").

A heartbeat is the empty file ``.hoodie/.heartbeat/<requested time>``. The writer of an instant rewrites the instant's
heartbeat file at each interval; only the time of the last put matters. Hudi's writers and cleaners use the same
heartbeat files (docs/hudi-format.md).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

from ..config.coordination import HUDI_HEARTBEATS
from ..storage import TRANSIENT, Storage

FOLDER: Final = ".hoodie/.heartbeat"


class Heartbeats(Protocol):
    """The heartbeats of the writers of one table."""

    def start(self, requested: str) -> None:
        """Start renewing the heartbeat of one of this process's own instants. The caller starts the heartbeat before it
        publishes the instant's requested file.
        """
        ...

    def is_alive(self, requested: str) -> bool:
        """Return whether the instant with the requested time `requested` has an unexpired heartbeat.

        If this process renews the heartbeat, return False once the heartbeat has expired, even after a later renewal.
        After an expiry, another writer may have rolled back the instant.
        """
        ...

    def stop(self, requested: str) -> None:
        """Stop renewing the heartbeat of an instant, and delete its file. The file is deleted even if another process
        is writing the instant.
        """
        ...

    def stop_renewing(self, requested: str) -> None:
        """Stop renewing the heartbeat of an instant from this process, so that it expires unless another process renews
        it.
        """
        ...


class StoredHeartbeats:
    """Heartbeats stored as files in the table's storage, each renewed by its own thread.

    `interval` is in seconds. The clocks of this machine and the store must differ by less than interval * misses.
    """

    def __init__(
        self,
        storage: Storage,
        interval: float = HUDI_HEARTBEATS.seconds,
        misses: int = HUDI_HEARTBEATS.misses,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._storage = storage
        self._interval = interval
        self._tolerance = interval * misses
        self._now = now
        self._ours: dict[str, _Heartbeat] = {}

    def start(self, requested: str) -> None:
        # The file first: from here on no other writer rolls the instant back, even before the thread runs.
        self._put(requested)
        self.stop_renewing(requested)  # a thread of an earlier task, which would end at another time
        heartbeat = self._ours[requested] = _Heartbeat(self._now())
        thread = threading.Thread(target=self._renew_until_stopped, args=(requested, heartbeat), daemon=True)
        thread.name = f"nbcc-heartbeat-{requested}"
        thread.start()

    def is_alive(self, requested: str) -> bool:
        if heartbeat := self._ours.get(requested):
            # The file is not asked: it may look fresh after a late renewal, although another writer has begun a
            # rollback meanwhile.
            return heartbeat.on_time(self._now(), self._tolerance)
        times = (entry.modified for entry in self._storage.list(FOLDER) if entry.path == _path(requested))
        # A missing file counts as put in 1970, so an instant without a heartbeat has expired.
        return self._now() - next(times, 0.0) <= self._tolerance

    def stop(self, requested: str) -> None:
        self.stop_renewing(requested)
        # Only after the thread was stopped, which would put the file again.
        self._storage.delete(_path(requested))

    def stop_renewing(self, requested: str) -> None:
        if heartbeat := self._ours.pop(requested, None):
            heartbeat.stopped.set()

    def hand_over(self, requested: str, seconds: float) -> None:
        """Hand the instant over to another process, which completes it and deletes the heartbeat file. This process
        renews the heartbeat until the file is deleted, but for at most `seconds`.
        """
        if heartbeat := self._ours.get(requested):
            heartbeat.until = self._now() + seconds

    def _renew_until_stopped(self, requested: str, heartbeat: _Heartbeat) -> None:
        while not heartbeat.stopped.wait(self._interval):
            # Renewing an expired heartbeat would make an instant look alive that others may be rolling back.
            if not heartbeat.on_time(self._now(), self._tolerance):
                return
            try:
                if heartbeat.until is not None and self._is_over(requested, heartbeat.until):
                    return
                self._put(requested)
            except TRANSIENT:
                continue  # a later renewal may succeed; if none does in time, the write is aborted
            heartbeat.last = self._now()

    def _is_over(self, requested: str, until: float) -> bool:
        """Return whether the time `until` has passed or the instant's heartbeat file has been deleted."""
        return self._now() > until or all(entry.path != _path(requested) for entry in self._storage.list(FOLDER))

    def _put(self, requested: str) -> None:
        self._storage.put(_path(requested), b"")


class _Heartbeat:
    """The state of a heartbeat that this process renews. Renewal ends at the time `until`, if `until` is set."""

    def __init__(self, now: float) -> None:
        self.last = now
        self.late = False
        self.until: float | None = None
        self.stopped = threading.Event()

    def on_time(self, now: float, tolerance: float) -> bool:
        # Sticky: one late moment is enough for another writer to have begun a rollback.
        self.late = self.late or now - self.last > tolerance
        return not self.late


def _path(requested: str) -> str:
    return f"{FOLDER}/{requested}"
