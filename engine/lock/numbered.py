"""A lock in the table's storage, as described in RFC-22 (option 2). Each acquisition creates a lock file with the next
number. A lock's heartbeat counts as expired only 500 ms after the end of the lease, because clocks drift.

A writer acquires lock number n by creating ``.hoodie/.nbcc/locks/<n>.acquired``, which fails if the object exists. Lock
number n is released by creating ``<n>.released``. If the newest lock is unreleased and its heartbeat has expired,
another writer releases the lock. Numbered locks need only one conditional operation from the store: put-if-absent. The
lock number is a fencing token, but no store checks the token.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Final, NamedTuple

from ..json_text import parse_json
from ..storage import TRANSIENT, NotFound, Storage, put_own
from .waiting import DRIFT_MS, Attempts, Now, Waiting, wall_ms

FOLDER: Final = ".hoodie/.nbcc/locks"


class _Last(NamedTuple):
    """The greatest lock number (0 if none), whether that lock was released, and the modification times of its files
    (epoch ms).
    """

    number: int
    released: bool
    modified: Mapping[str, int]


class NumberedLock(Waiting):
    """A lock stored in numbered files, with a lease of `valid_seconds` that a thread renews every `renew_seconds`."""

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
        self._number, self._since = 0, 0
        self._attempts, self._holds = Attempts(), False
        self._over = threading.Event()

    @property
    def token(self) -> int:
        """The number of the last lock that this object acquired."""
        return self._number

    def try_once(self) -> bool:
        last = self._last()
        if last.number and not last.released:
            if not (self._is_own(last.number) or self._is_dead(last)):
                return False
            # The release comes before the next number, so that the files show each lock as ended. Its outcome does not
            # matter: the put of the next number decides.
            put_own(self._storage, _path(last.number, "released"), b"")
        number, owner, since = last.number + 1, self._attempts.begin(), self._now()
        content = json.dumps({"owner": owner, "since": since}).encode()
        if not put_own(self._storage, _path(number, "acquired"), content):
            return False
        # Only the newest number is a lock: an older number may have become free because `_tidy` deleted its files.
        if (newest := self._last()).number != number or newest.released:
            return False
        self._attempts.succeeded(owner)
        self._number, self._since, self._over = number, since, threading.Event()
        # Only the holder deletes old files.
        self._tidy(number)
        self._holds = True
        threading.Thread(target=self._beating, args=(self._over,), daemon=True, name="nbcc-heartbeat").start()
        return True

    def left(self) -> float:
        """The seconds until the lock's heartbeat expires; 0 if this object does not hold the lock."""
        return max(0, self._since + self._valid_ms - self._now()) / 1000 if self._holds else 0.0

    def give_back(self) -> None:
        # First of all, so that the thread does not renew a lock that is being released.
        self._over.set()
        self._holds = False
        try:
            put_own(self._storage, _path(self._number, "released"), b"")
        except TRANSIENT as failed:  # the work under the lock is done, and the lease expires without a release
            self.warn_of_lease(failed, self._valid_ms // 1000)

    def held_by(self) -> str:
        return f"{_path(self._last().number, 'acquired')} is not released"

    def _last(self) -> _Last:
        files = [(*entry.path.rpartition("/")[2].partition(".")[::2], entry) for entry in self._storage.list(FOLDER)]
        last = max((int(number) for number, _, _ in files if number.isdecimal()), default=0)
        modified = {kind: round(entry.modified * 1000) for number, kind, entry in files if number == f"{last:020d}"}
        return _Last(last, "released" in modified, modified)

    def _is_own(self, number: int) -> bool:
        """Return whether an earlier attempt of this process acquired the lock but lost the store's response."""
        # While the lock is held here, the answer of its acquisition was not lost.
        if self._holds:
            return False
        try:
            return self._attempts.include(parse_json(self._storage.get(_path(number, "acquired")))["owner"])
        except (NotFound, ValueError, KeyError, TypeError):
            return False

    def _is_dead(self, last: _Last) -> bool:
        """Return whether the newest heartbeat of the given lock has expired. If the heartbeat file is empty or
        truncated, its modification time counts as the heartbeat.
        """
        # A lock that was never renewed has no heartbeat. Its acquisition counts as the first one.
        for kind in ("heartbeat", "acquired"):
            try:
                since = int(parse_json(self._storage.get(_path(last.number, kind)))["since"])
            except NotFound:
                continue
            except (ValueError, KeyError, TypeError, OverflowError):
                since = last.modified.get(kind, self._now())
            return self._now() > since + self._valid_ms + DRIFT_MS
        return False  # another process deleted the files after the listing

    def renew(self) -> bool:
        """Write a heartbeat for the lock; return False if the lease has expired or was released.

        A heartbeat that is written too late does not extend the lease, because another writer may have released the
        lock.
        """
        number, over = self._number, self._over
        since = self._now()
        if over.is_set() or not self.left():
            return False
        self._storage.put(_path(number, "heartbeat"), json.dumps({"since": since}).encode())
        if over.is_set() or not self.left():
            return False
        # The time before the put, so that a slow request makes the lease shorter and never longer.
        self._since = since
        return True

    def _beating(self, over: threading.Event) -> None:
        while not over.wait(self._renew):
            with suppress(*TRANSIENT):  # a later renewal may succeed; if none does in time, the lease expires
                if not self.renew():
                    return

    def _tidy(self, number: int) -> None:
        for entry in self._storage.list(FOLDER):
            old = entry.path.rpartition("/")[2].partition(".")[0]
            # The lock before this one stays: another process may just have listed it and be reading its files.
            if old.isdecimal() and int(old) < number - 1:
                self._storage.delete(entry.path)


def _path(number: int, kind: str) -> str:
    return f"{FOLDER}/{number:020d}.{kind}"
