"""Hudi's StorageBasedLockProvider (RFC-91): a lease in ``.hoodie/.locks/table_lock.json``, renewed while it is held.

Written from its behaviour (hudi-format §12.2): ``{"expired", "validUntil" (epoch ms), "owner"}``, replaced only by
whoever knows what it holds. A lease that ran out more than 500 ms ago is free: clocks drift. Its holder may be alive,
and the file has no room for a number that a store could compare: `Rules.decision` is what helps then.
"""

from __future__ import annotations

import json
import threading
import uuid
from contextlib import suppress
from typing import Any, Final

from ..storage import TRANSIENT
from .conditional import ConditionalObject, Version, conditional_object
from .waiting import Now, Waiting, wall_ms

FILE: Final = ".hoodie/.locks/table_lock.json"
DRIFT_MS: Final = 500


class StorageLock(Waiting):
    """A lease of `valid_seconds`, renewed every `renew_seconds` by a thread of its own."""

    def __init__(
        self,
        url: str,
        wait_seconds: float = 60.0,
        valid_seconds: float = 300.0,
        renew_seconds: float = 30.0,
        *,
        now: Now = wall_ms,
        file: ConditionalObject | None = None,
    ) -> None:
        super().__init__(url, wait_seconds)
        self._file = file or conditional_object(url, FILE)
        self._valid_ms, self._renew = round(valid_seconds * 1000), renew_seconds
        self._now = now
        self._owner = ""
        self._over = threading.Event()
        self._changing = threading.Lock()

    def try_once(self) -> bool:
        known = self._file.read()
        if known is not None and not self._is_free(known):
            return False
        self._owner = str(uuid.uuid4())
        if not self._file.write(self._lease(), known):
            return False
        self._over = threading.Event()
        threading.Thread(target=self._renewing, args=(self._over,), daemon=True, name="nbcc-lease").start()
        return True

    def give_back(self) -> None:
        self._over.set()
        with self._changing:
            known = self._file.read()
            if known is not None and self._is_ours(known):
                told = _told(known)
                self._file.write(_text(expired=True, until=told["validUntil"], owner=self._owner), known)

    def renew(self) -> bool:
        """Make the lease longer; False if it is somebody else's by now."""
        with self._changing:
            known = self._file.read()
            held = known is not None and self._is_ours(known) and not _told(known)["expired"]
            return held and self._file.write(self._lease(), known)

    def held_by(self) -> str:
        known = self._file.read()
        return f"{FILE} is leased to {_told(known)['owner']}" if known else f"{FILE} changes hands"

    def _renewing(self, over: threading.Event) -> None:
        while not over.wait(self._renew):
            with suppress(*TRANSIENT):  # the next one may get through; if none does in time, the lease runs out
                if not self.renew():
                    return

    def _lease(self) -> bytes:
        return _text(expired=False, until=self._now() + self._valid_ms, owner=self._owner)

    def _is_free(self, known: Version) -> bool:
        told = _told(known)
        return bool(told["expired"]) or self._now() > int(told["validUntil"]) + DRIFT_MS

    def _is_ours(self, known: Version) -> bool:
        return bool(_told(known)["owner"] == self._owner)


def _text(*, expired: bool, until: int, owner: str) -> bytes:
    return json.dumps({"expired": expired, "validUntil": until, "owner": owner}).encode()


def _told(known: Version) -> dict[str, Any]:
    """A file that is no lease is one that ran out long ago."""
    try:
        told = json.loads(known.data)
        return {"expired": told["expired"], "validUntil": int(told["validUntil"]), "owner": told["owner"]}
    except (ValueError, KeyError, TypeError):
        return {"expired": True, "validUntil": 0, "owner": "nobody"}
