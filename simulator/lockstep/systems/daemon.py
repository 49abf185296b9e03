"""Daemons of a history: processes that run the operations of one table service, as ``nbcc serve`` does."""

from __future__ import annotations

import threading
from typing import Any, Final, cast

from nbcc.engine.storage import Storage
from nbcc.engine.timeline.commits import Commits

SERVICES: Final = frozenset({
    "archive", "checkpoint_state", "run_clean", "run_compaction", "run_log_compaction", "run_rollback",
    "schedule_clean", "schedule_compaction", "schedule_log_compaction", "schedule_rollback",
})  # fmt: skip
"""The operations that a daemon runs. Writers, readers and restorers are processes of their own."""


class Daemon:
    """The daemons of a history. Each keeps what it has read of the timeline during the whole history. A process of one
    operation knows nothing, so it never meets what a daemon forgets: the instants that no table service needs any more.

    The first actor of each kind of table service is a daemon; the others are processes of one operation, so that both
    occur in one history. Actors do not share a daemon: one could be paused while it holds the guard of the archive, and
    the other would wait outside the schedule. A crash of any actor ends all daemons: their successors know nothing.
    """

    def __init__(self) -> None:
        self._storage = _StorageOfThread()
        self._commits: dict[str, Commits] = {}
        self._crashes = 0

    def _new(self) -> Commits:
        return Commits(cast("Storage", self._storage))

    def commits(self, actor: str, operation: str, storage: Storage, crashes: int) -> Commits | None:
        """Return what the daemon remembers, or None if the daemon does not run the operation. The calling thread reads
        the timeline through its own `storage`. `crashes` is the number of actors that have crashed so far.
        """
        if operation not in SERVICES or actor.lstrip("abcdefghijklmnopqrstuvwxyz") != "1":
            return None
        if crashes != self._crashes:
            self._commits, self._crashes = {}, crashes
        self._storage.of.thread = storage
        return self._commits.setdefault(actor, self._new())


class _StorageOfThread:
    """The storage of the daemon. Each of its threads reads through the storage of its actor, which the schedule can
    pause.
    """

    def __init__(self) -> None:
        self.of = threading.local()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.of.thread, name)
