"""Hudi's StorageBasedLockProvider (RFC-91): a lease stored in ``.hoodie/.locks/table_lock.json`` and renewed by its
holder.

The lease object contains ``{"expired", "validUntil" (epoch ms), "owner"}``; a writer replaces it only if it is
unchanged since the writer read it. A lease counts as free only 500 ms after it has expired, because clocks drift. The
holder of an expired lease may still be alive, and no store checks a fencing token. Only the property `decision = log`
prevents a late commit by such a holder (docs/locks.md).

The holder remembers the version of the lease object that it last put, so that it can renew or release the lease in one
request. A process can reacquire its last lease in one request if no other writer has held the lease since.
"""

from __future__ import annotations

import json
import os
import threading
from contextlib import suppress
from typing import Final, NamedTuple

from ..json_text import parse_json
from ..storage import TRANSIENT, Storage
from ..storage.conditional import ConditionalObject, Version, conditional_object
from ..storage.verified_puts import ReplaceResult, replace_verified
from .waiting import DRIFT_MS, Attempts, Now, Waiting, wall_ms

FILE: Final = ".hoodie/.locks/table_lock.json"


class Lease(NamedTuple):
    """The content of the lease object; `until` is the end of the lease in milliseconds since the epoch."""

    expired: bool
    until: int
    owner: str


class _Held:
    """One acquisition of the lease, shared between the thread that renews the lease and the thread that releases it."""

    def __init__(self, owner: str, version: Version, until: int) -> None:
        self.owner, self.process = owner, os.getpid()
        self.version, self.until = version, until
        self.over = threading.Event()
        self.changing = threading.Lock()


class StorageLock(Waiting):
    """A lock stored in one object, with a lease of `valid_seconds` that a thread renews every `renew_seconds`.

    `file` is the object that stores the lease; the default is `FILE` in `storage`.
    """

    def __init__(
        self,
        storage: Storage,
        wait_seconds: float = 60.0,
        valid_seconds: float = 300.0,
        renew_seconds: float = 30.0,
        *,
        now: Now = wall_ms,
        file: ConditionalObject | None = None,
    ) -> None:
        super().__init__(storage.url, wait_seconds)
        self._file = file or conditional_object(storage, FILE)
        self._valid_ms, self._renew = round(valid_seconds * 1000), renew_seconds
        self._now = now
        self._held: _Held | None = None
        self._attempts = Attempts()
        self._released: Version | None = None
        self._was_last = False

    def try_once(self) -> bool:
        if self._was_last:
            # Without a read: the put fails if anything has changed since this process released the lease.
            done, known = self._take(self._released)
            if done:
                return True
        else:
            known = self._file.read()
        # Only then is the remembered version worth a request at the next attempt.
        self._was_last = known is not None and self._released is not None and known.data == self._released.data
        return (known is None or self._is_free(known)) and self._take(known).done

    def _take(self, known: Version | None) -> ReplaceResult:
        until, owner = self._end(), self._attempts.begin()
        taken = replace_verified(self._file, _text(expired=False, until=until, owner=owner), known)
        if taken.done and taken.version is not None:
            self._attempts.succeeded(owner)
            self._held = held = _Held(owner, taken.version, until)
            threading.Thread(target=self._renewing, args=(held,), daemon=True, name="nbcc-lease").start()
        return taken

    def left(self) -> float:
        """The seconds until the lease expires; 0 if this process does not hold the lease."""
        held = self._held_here()
        return 0.0 if held is None else max(0, held.until - self._now()) / 1000

    def give_back(self) -> None:
        held, self._held = self._held, None
        assert held is not None, "only its holder releases a lock"
        # Before the lock below, so that a renewal that is waiting gives up.
        held.over.set()
        # A renewal under way must end first, because it changes the version that the release expects.
        with held.changing:
            try:
                self._released = self._expire(held)
                self._was_last = self._released is not None
            except TRANSIENT as failed:  # the work under the lock is done, and the lease expires without a release
                self.warn_of_lease(failed, self._valid_ms // 1000)

    def renew(self) -> bool:
        """Extend the lease; return False if the lease was released or has another owner."""
        return (held := self._held_here()) is not None and self._renew_held(held)

    def held_by(self) -> str:
        known = self._file.read()
        lease = None if known is None else lease_of(known)
        if lease is not None:
            return f"{FILE} is leased to {lease.owner}"
        return f"{FILE} changes hands" if known is None else f"{FILE} holds no lease that can be read"

    def _held_here(self) -> _Held | None:
        """Return this process's acquisition of the lease; None if the process does not hold the lease. A forked child
        does not inherit the lease.
        """
        return self._held if self._held is not None and self._held.process == os.getpid() else None

    def _renew_held(self, held: _Held) -> bool:
        with held.changing:
            known: Version | None = held.version
            while not held.over.is_set():
                lease = None if known is None else lease_of(known)
                if lease is not None and (lease.owner != held.owner or lease.expired):
                    # The holder's next request is refused at once, not only when the old lease would have ended.
                    held.until = 0
                    return False
                if known is not None and lease is None:
                    return True  # unreadable, so it may be another owner's lease: retry at the next renewal
                until = self._end()
                done, now = replace_verified(self._file, _text(expired=False, until=until, owner=held.owner), known)
                if done and now is not None:
                    held.version, held.until = now, until
                    return True
                if (now and now.data) == (known and known.data):
                    return True  # refused although unchanged: retry at the next renewal
                known = now
            return False

    def _renewing(self, held: _Held) -> None:
        while not held.over.wait(self._renew):
            with suppress(*TRANSIENT):  # a later renewal may succeed; if none does in time, the lease expires
                if not self._renew_held(held):
                    return

    def _expire(self, held: _Held) -> Version | None:
        """Mark the lease as released, and return the new version of the lease object. Returns None if another writer
        has the lease.
        """
        known: Version | None = held.version
        for _ in range(2):  # a put of a renewal whose answer was lost may have replaced the version
            lease = None if known is None else lease_of(known)
            if lease is None or lease.owner != held.owner:
                return None
            text = _text(expired=True, until=lease.until, owner=held.owner)
            done, known = replace_verified(self._file, text, known)
            if done:
                return known
        return None

    def _end(self) -> int:
        return self._now() + self._valid_ms

    def _is_free(self, known: Version) -> bool:
        """Return whether the lease has expired or was released. A lease that cannot be decoded counts as held until
        `valid_seconds` after it was written.
        """
        lease = lease_of(known)
        if lease is None:
            return self._now() > known.modified_ms + self._valid_ms + DRIFT_MS
        if self._held_here() is None and self._attempts.include(lease.owner):
            return True  # an earlier attempt of this process, whose answer or release was lost
        return lease.expired or self._now() > lease.until + DRIFT_MS


def lease_of(known: Version) -> Lease | None:
    """Return the lease that an object contains; None if the content is empty, truncated or not a lease."""
    try:
        content = parse_json(known.data)
        expired, until, owner = content["expired"], content["validUntil"], content["owner"]
    except (ValueError, KeyError, TypeError):
        return None
    fits = isinstance(expired, bool) and isinstance(until, int) and isinstance(owner, str)
    return Lease(expired, until, owner) if fits else None


def _text(*, expired: bool, until: int, owner: str) -> bytes:
    return json.dumps({"expired": expired, "validUntil": until, "owner": owner}).encode()
