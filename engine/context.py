"""The dependencies of a table operation: storage, lock, clock, name generator, jobs, rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .config.coordination import HUDI_HEARTBEATS, HeartbeatInterval
from .rules import NBCC, Rules
from .timeline.commits import Commits
from .timeline.heartbeats import Heartbeats, StoredHeartbeats
from .timeline.history import Active, History

if TYPE_CHECKING:
    from .clock import Clock
    from .data.jobs import Jobs
    from .lock import Lock
    from .names import Names
    from .storage import Storage


@dataclass(frozen=True, slots=True)
class Context:
    """The dependencies of the operations on one table. The engine accesses storage, lock, clock and Spark only through
    a `Context`.

    `commits` caches decoded completed instants, which never change. The context stores heartbeats in `storage` unless
    `own_heartbeats` is set.
    """

    storage: Storage
    lock: Lock
    clock: Clock
    names: Names
    jobs: Jobs
    rules: Rules = NBCC
    own_heartbeats: Heartbeats | None = None
    heartbeat_interval: HeartbeatInterval = HUDI_HEARTBEATS
    own_commits: Commits | None = None
    heartbeats: Heartbeats = field(init=False, repr=False, compare=False)
    commits: Commits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "commits", self.own_commits or Commits(self.storage))
        object.__setattr__(self, "heartbeats", self.own_heartbeats or self._stored_heartbeats())

    def _stored_heartbeats(self) -> StoredHeartbeats:
        return StoredHeartbeats(self.storage, *self.heartbeat_interval)

    def active(self, through: Storage | None = None) -> Active:
        """List the active timeline, without the instants that a restore has undone. `through` is a storage that has
        begun to list this table.
        """
        return self.commits.active(through)

    def history(self, active: Active | None = None) -> History:
        """Return the history of the table. Its active timeline is `active`, or else listed now; the archive is read
        after it, if readers take the list of files from commits (``files="listed"``).
        """
        if active is None:
            active = self.active()
        return self.commits.history(active) if self.rules.files == "listed" else History(active)

    def without_late_states(self, active: Active) -> Active:
        """Return a listed timeline without the pending states that stalled actors put after others had completed and
        archived the instant.
        """
        return self.commits.without_late_states(active) if self.rules.files == "listed" else active
