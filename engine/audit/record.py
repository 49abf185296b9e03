"""What was gathered, as values. Times are instant strings, sizes bytes; compact, since tables have a million files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from ..files.group_files import BaseFile, Group, LogFile
from ..rules import HUDI, NBCC, Rules
from ..timeline import CompactionPlan, Instant, Timeline

File = BaseFile | LogFile

REWRITE: Final = "rewrite "
"""A batch whose id begins so holds the rows of the file that the rest of it names, written once more."""


class Stat(NamedTuple):
    """A data file that a commit lists: where, how long it is to be, how many rows and deletes it is to hold.

    `merged` is how many logs went into it, None where the commit does not say.
    """

    path: str
    size: int
    rows: int
    deletes: int
    merged: int | None = None


class Commit(NamedTuple):
    """What a completed write says. `own`: nbcc wrote it; `active`: its file is on the active timeline.

    `covers`, of a log compaction of ours: name of each log that it made -> names of those it stands for.
    `batch`: the id of the batch that it wrote, '' if that had none.
    """

    instant: Instant
    stats: tuple[Stat, ...]
    operation: str
    own: bool
    schema: str | None
    replaced: tuple[Group, ...] = ()
    active: bool = True
    covers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    batch: str = ""


class Fault(NamedTuple):
    """A file of the table that could not be understood. `kind` says what it was to be."""

    kind: str
    path: str
    because: str


class Clean(NamedTuple):
    """A completed clean: the earliest instant that it retained (requested time), and the names it deleted.

    `own`: nbcc planned it.
    """

    instant: Instant
    retained: str | None
    deleted: frozenset[str]
    own: bool = False


class Rollback(NamedTuple):
    """A completed rollback: the requested times of the instants that it undid."""

    instant: Instant
    undone: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """A table by its own words.

    `listing` maps every object outside the timeline to its size, `files` the data files among them by path.
    `completions` are all completed files of the timeline's folder, several for one instant included. `commits`, `plans`
    and `log_plans` (of log compactions) are by requested time, archived ones too. `archived` maps the requested times
    of archived instants to their completion. What could not be read is in `faults`, and missing in the rest.
    """

    url: str
    properties: Mapping[str, str]
    timeline: Timeline
    completions: tuple[Instant, ...]
    listing: Mapping[str, int]
    files: Mapping[str, File]
    commits: Mapping[str, Commit]
    plans: Mapping[str, CompactionPlan]
    archived: Mapping[str, str]
    log_plans: Mapping[str, CompactionPlan] = field(default_factory=dict)
    cleans: tuple[Clean, ...] = ()
    rollbacks: tuple[Rollback, ...] = ()
    savepoints: frozenset[str] = frozenset()
    faults: tuple[Fault, ...] = ()
    reads: int = field(default=0, compare=False)

    @property
    def own(self) -> bool:
        """Whether the table carries nbcc's properties."""
        return "nbcc.format" in self.properties

    @property
    def rules(self) -> Rules:
        return NBCC if self.own else HUDI

    @cached_property
    def completed(self) -> Mapping[str, str]:
        """Requested to completion time of every completed write, archived ones included."""
        active = {i.requested: i.completed for i in self.timeline.completed if i.writes and i.completed}
        return {**self.archived, **active}

    @cached_property
    def first_active(self) -> str | None:
        """The requested time from which on the active timeline tells everything; None if nothing has completed."""
        return min((i.requested for i in self.timeline.completed if i.action != "savepoint"), default=None)

    @cached_property
    def horizon(self) -> str | None:
        """The completion time behind which cleaning has left no answers (`reads.retention.horizon`)."""
        retained = [clean.retained for clean in self.cleans if clean.retained]
        if not retained:
            return None
        earliest = max(retained)
        return max((earliest, *(c for r, c in self.completed.items() if r < earliest)))

    def known(self, requested: str) -> bool:
        """Whether a write of that requested time is on the active timeline, in any state, or archived."""
        return requested in self.archived or requested in self._requested

    @cached_property
    def _requested(self) -> frozenset[str]:
        return frozenset(instant.requested for instant in self.timeline.instants if instant.writes)

    @cached_property
    def orphans(self) -> tuple[File, ...]:
        """Data files whose instant nobody knows: of a write that never completed, and was taken off the timeline."""
        return tuple(file for file in self.files.values() if not self.known(file.requested))

    @cached_property
    def shared_requests(self) -> frozenset[str]:
        """Requested times of several instants. The names of data files do not say which of them wrote a file."""
        found: dict[str, set[tuple[str, str | None]]] = {r: {("", done)} for r, done in self.archived.items()}
        for instant in self.timeline.instants:
            if instant.action == "savepoint":
                continue
            others = found.setdefault(instant.requested, set())
            if ("", instant.completed) not in others:  # else it is the one that is archived
                others.add((instant.completes_as, instant.completed))
        return frozenset(requested for requested, several in found.items() if len(several) > 1)

    @cached_property
    def unlisted(self) -> tuple[File, ...]:
        """Data files of completed instants that do not list them: of attempts that came too late."""
        return tuple(file for file in self._not_listed if file.requested not in self.shared_requests)

    @cached_property
    def ambiguous(self) -> tuple[File, ...]:
        """Data files that may be those of another instant of the same requested time."""
        return tuple(file for file in self._not_listed if file.requested in self.shared_requests)

    @cached_property
    def _not_listed(self) -> tuple[File, ...]:
        return tuple(
            file for path, file in self.files.items() if file.requested in self.commits and path not in self.listed
        )

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """Paths of files whose rows have been written again, because no reader saw them."""
        batches = (commit.batch for commit in self.commits.values() if commit.batch)
        return frozenset(batch.removeprefix(REWRITE) for batch in batches if batch.startswith(REWRITE))

    @cached_property
    def listed(self) -> Mapping[str, str]:
        """Path of each data file that a completed commit lists: the requested time of that commit."""
        return {stat.path: requested for requested, commit in self.commits.items() for stat in commit.stats}
