"""All that an operation is given: nothing else in the engine reaches outside."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .rules import NBCC, Rules
from .timeline import Timeline
from .timeline.commits import Commits
from .timeline.heartbeats import Hearts, StoredHearts

if TYPE_CHECKING:
    from .clock import Clock
    from .data.jobs import Jobs
    from .lock import Lock
    from .names import Names
    from .storage import Storage


@dataclass(frozen=True, slots=True)
class Context:
    """The seams of one table and the rules by which it is handled.

    `commits` remembers what the table's completed instants say, which never changes. Heartbeats go by the storage,
    unless `own_hearts` are given.
    """

    storage: Storage
    lock: Lock
    clock: Clock
    names: Names
    jobs: Jobs
    rules: Rules = NBCC
    own_hearts: Hearts | None = None
    hearts: Hearts = field(init=False, repr=False, compare=False)
    commits: Commits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "commits", Commits(self.storage))
        object.__setattr__(self, "hearts", self.own_hearts or StoredHearts(self.storage))

    def whole(self, timeline: Timeline) -> Timeline:
        """A timeline that was listed just now with all that has left it for the archive, where commits list files."""
        return self.commits.whole(timeline) if self.rules.files == "listed" else timeline
