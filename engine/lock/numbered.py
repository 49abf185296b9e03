"""RFC-22, option 2: lock files that are only ever created, under growing numbers; a heartbeat tells the dead.

``.hoodie/.nbcc/locks/<n>.acquired`` is put if absent, ``<n>.released`` ends it. Whoever finds the last one acquired and
its heartbeat older than the lease releases it for its holder. It needs nothing of a store but put-if-absent. The number
is a fencing token; the RFC has no store that would look at it, and neither have we.
"""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import suppress
from typing import Final

from ..storage import TRANSIENT, NotFound, Storage
from .waiting import Now, Waiting, wall_ms

FOLDER: Final = ".hoodie/.nbcc/locks"


class NumberedLock(Waiting):
    """A lease of `valid_seconds`, its heartbeat put anew every `renew_seconds`."""

    def __init__(
        self,
        storage: Storage,
        wait_seconds: float = 60.0,
        valid_seconds: float = 300.0,
        renew_seconds: float = 30.0,
        *,
        now: Now = wall_ms,
    ) -> None:
        super().__init__(storage.url, wait_seconds)
        self._storage, self._now = storage, now
        self._valid_ms, self._renew = round(valid_seconds * 1000), renew_seconds
        self._number = 0
        self._over = threading.Event()

    @property
    def token(self) -> int:
        """The number of the lock that was acquired last: greater than that of every lock before it."""
        return self._number

    def try_once(self) -> bool:
        last, released = self._last()
        if last and not released:
            if not self._is_dead(last):
                return False
            self._storage.put_if_absent(_path(last, "released"), b"")
        number, content = last + 1, json.dumps({"owner": str(uuid.uuid4()), "since": self._now()}).encode()
        if not self._storage.put_if_absent(_path(number, "acquired"), content):
            return False
        # Only the newest number is a lock: an older one may have been free again because its files were tidied away.
        if self._last() != (number, False):
            return False
        self._number, self._over = number, threading.Event()
        self._tidy(number)
        threading.Thread(target=self._beating, args=(number, self._over), daemon=True, name="nbcc-heartbeat").start()
        return True

    def give_back(self) -> None:
        self._over.set()
        self._storage.put_if_absent(_path(self._number, "released"), b"")

    def held_by(self) -> str:
        return f"{_path(self._last()[0], 'acquired')} is not released"

    def _last(self) -> tuple[int, bool]:
        """The greatest number acquired (0: none) and whether it was released."""
        names = [entry.path.rpartition("/")[2].partition(".")[::2] for entry in self._storage.list(FOLDER)]
        last = max((int(number) for number, _ in names if number.isdecimal()), default=0)
        return last, (f"{last:020d}", "released") in names

    def _is_dead(self, number: int) -> bool:
        for kind in ("heartbeat", "acquired"):
            try:
                since = int(json.loads(self._storage.get(_path(number, kind)))["since"])
            except (NotFound, ValueError, KeyError):
                continue
            return self._now() > since + self._valid_ms
        return True

    def _beating(self, number: int, over: threading.Event) -> None:
        while not over.wait(self._renew):
            with suppress(*TRANSIENT):  # the next one may get through; if none does in time, the lease runs out
                self._storage.put(_path(number, "heartbeat"), json.dumps({"since": self._now()}).encode())

    def _tidy(self, number: int) -> None:
        for entry in self._storage.list(FOLDER):
            old = entry.path.rpartition("/")[2].partition(".")[0]
            if old.isdecimal() and int(old) < number - 1:
                self._storage.delete(entry.path)


def _path(number: int, kind: str) -> str:
    return f"{FOLDER}/{number:020d}.{kind}"
