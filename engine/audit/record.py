"""Data classes for the audit of a table. Times are strings in Hudi's instant format, and sizes are in bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from ..file_names import split_path
from ..files.group_files import BaseFile, LogFile, data_file
from ..rules import HUDI, NBCC, Rules
from ..timeline import CommitMetadata, CompactionPlan, Instant, Timeline, WriteStat, decode_commit
from ..timeline.cleans import CleanPlan
from ..timeline.metadata import COVERS, OWN_KEY
from ..timeline.restores import RestorePlan
from ..writes.idempotency import EXTRA as BATCH

File = BaseFile | LogFile
Progress = Callable[[str, int, int], None]
"""Is called with the kind of file that is read, how many are done, and how many there are."""

REWRITE: Final = "rewrite "
"""The id of a batch that repeats the rows of a file is this prefix and the path of the file."""

GONE: Final = "it is missing"
"""The reason of a fault of a file that is not there."""

SERVICES: Final = ("COMPACT", "LOG_COMPACT", "CLUSTER")
"""Operations that rewrite files and change no row."""


def undone_by(restores: Iterable[RestorePlan]) -> dict[str, str]:
    """Map the requested time of each instant that one of the restores has undone to the restore's requested time."""
    return {requested: plan.requested for plan in restores for requested, _ in plan.undone}


def no_progress(kind: str, done: int, total: int) -> None:
    """Ignore the progress of an audit (the default progress callback)."""


def listed_data_file(stat: WriteStat, instant: Instant) -> File | None:
    """Return the data file of a write stat, with the size and the checksum in the commit; None for a file of another
    kind.
    """
    file = data_file(stat.path, stat.size, instant)
    return file._replace(checksum=stat.checksum) if isinstance(file, LogFile) else file


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit(CommitMetadata):
    """The metadata of a completed write. `active` is True if the commit is on the active timeline. Of `extra`, only the
    values in `_KEPT` are in memory, because an audit holds the commits of the whole history at once.
    """

    instant: Instant
    active: bool = True

    @classmethod
    def of(cls, instant: Instant, data: bytes) -> Commit:
        """Decode the content of a completed commit file. Raises `Damaged` if it is invalid."""
        commit = decode_commit(data, instant.file_name)
        extra = {key: commit.extra[key] for key in _KEPT if key in commit.extra}
        return cls(commit.stats, commit.operation, commit.compacted, extra, commit.replaced, instant=instant)

    @property
    def batch(self) -> str:
        """The batch id of the write; '' for a write without one."""
        return self.extra.get(BATCH, "")


_KEPT: Final = (OWN_KEY, "schema", COVERS, BATCH)


class DamagedFile(NamedTuple):
    """A damaged file of a table. `kind` is the expected content of the file, such as commit, plan or archive."""

    kind: str
    path: str
    because: str


class RecordedClean(NamedTuple):
    """A completed clean. `retained` is the requested time of the earliest retained instant, and `deleted` contains the
    names of the deleted files.

    `own` is True if nbcc planned the clean. `horizon` is the completion time before which reads are refused; None if
    the clean records none, such as a clean of another engine.
    """

    instant: Instant
    retained: str | None
    deleted: frozenset[str]
    own: bool = False
    horizon: str | None = None


class RecordedRollback(NamedTuple):
    """A completed rollback. `undone` contains the requested times of the instants that were rolled back."""

    instant: Instant
    undone: tuple[str, ...]


@dataclass(frozen=True)
class Audit:
    """The file names and parsed metadata of a table. Unreadable files are listed in `faults` and missing from all other
    fields.

    `names` are the names of all files in the timeline folder. `completions` are the completed instants in the timeline
    folder. An instant with several completed files appears once for each completion time. `listing` maps every object
    outside the timeline folder to its size. `files` maps the path of each data file in `listing` to its parsed file
    name. `settled` is the greatest completion time in the first listing of the timeline. The audit has found every
    instant that completed at or before `settled`. `commits`, `plans` (of compactions), `log_plans` (of log compactions)
    and `clean_plans` map the requested times of active and archived instants to parsed commits or plans. They omit the
    instants that a restore has undone, as readers do. `archived` maps the requested time of each archived write to its
    completion time; `archive` contains the states of all archived instants. `twins` are commits that share a requested
    time with another instant; they are not in `commits`. `reads` is the number of files that the audit read.
    """

    url: str
    properties: Mapping[str, str]
    timeline: Timeline
    names: tuple[str, ...]
    completions: tuple[Instant, ...]
    listing: Mapping[str, int]
    files: Mapping[str, File]
    commits: Mapping[str, Commit]
    plans: Mapping[str, CompactionPlan]
    archived: Mapping[str, str]
    log_plans: Mapping[str, CompactionPlan] = field(default_factory=dict)
    clean_plans: Mapping[str, CleanPlan] = field(default_factory=dict)
    archive: tuple[Instant, ...] = ()
    twins: tuple[Commit, ...] = ()
    settled: str = ""
    cleans: tuple[RecordedClean, ...] = ()
    rollbacks: tuple[RecordedRollback, ...] = ()
    restores: tuple[RestorePlan, ...] = ()
    savepoints: frozenset[str] = frozenset()
    faults: tuple[DamagedFile, ...] = ()
    reads: int = field(default=0, compare=False)

    @property
    def own(self) -> bool:
        """True if the table has nbcc's properties."""
        return "nbcc.format" in self.properties

    @property
    def rules(self) -> Rules:
        """The rules by which readers read the table: nbcc's rules or Hudi's rules."""
        return NBCC if self.own else HUDI

    @cached_property
    def serious_faults(self) -> tuple[DamagedFile, ...]:
        """All faults except missing plan files of completed instants, because other engines may delete those files."""
        pending = {instant.requested for instant in self.timeline.pending if instant.writes}
        return tuple(
            fault
            for fault in self.faults
            if fault.kind != "plan" or fault.because != GONE or split_path(fault.path)[1].partition(".")[0] in pending
        )

    @cached_property
    def completed(self) -> Mapping[str, str]:
        """A mapping from the requested time of every completed write, archived or active, to its completion time."""
        # The active timeline wins over the archive, as it does for readers.
        active = {i.requested: i.completed for i in self.timeline.completed if i.writes and i.completed}
        return {**self.archived, **active}

    @cached_property
    def first_active(self) -> str | None:
        """The oldest requested time of a completed instant on the active timeline; None if no instant has completed."""
        return min((i.requested for i in self.timeline.completed if i.action != "savepoint"), default=None)

    @cached_property
    def horizon(self) -> str | None:
        """The oldest completion time as of which the table can still be read; None if no clean has deleted files.

        A clean of nbcc publishes its horizon in its plan, before the first delete. A clean of another engine records
        only the requested time of the earliest retained instant. Readers then need every write that was requested
        before that instant to be complete, so the horizon is after all of them (`reads.retention`).
        """
        published = [plan.horizon for plan in self.clean_plans.values() if plan.horizon]
        published += [clean.horizon for clean in self.cleans if clean.horizon]
        retained = [clean.retained for clean in self.cleans if clean.retained and not clean.horizon]
        foreign = ((r, plan) for r, plan in self.clean_plans.items() if plan.files and not plan.horizon)
        retained += [plan.earliest.requested if plan.earliest else requested for requested, plan in foreign]
        if retained:
            earliest = max(retained)
            # After the completion of all of them: before that, a read would need files that the clean may have deleted.
            published += [earliest, *(c for r, c in self.completed.items() if r < earliest)]
        return max(published, default=None)

    @cached_property
    def undone(self) -> Mapping[str, str]:
        """A mapping from the requested time of each instant that a restore has undone to the restore's requested time.
        """
        return undone_by(self.restores)

    def known(self, requested: str) -> bool:
        """Return True if an archived or active write, in any state, has the requested time `requested`."""
        return requested in self.archived or requested in self._requested

    @cached_property
    def _requested(self) -> frozenset[str]:
        return frozenset(instant.requested for instant in self.timeline.instants if instant.writes)

    @cached_property
    def orphans(self) -> tuple[File, ...]:
        """The data files whose instant is neither active nor archived (orphans)."""
        return tuple(file for file in self.files.values() if not self.known(file.requested))

    @cached_property
    def shared_requests(self) -> frozenset[str]:
        """The requested times that belong to more than one instant. If several instants share a requested time, a data
        file name does not show which of these instants wrote the file.
        """
        instants: dict[str, set[tuple[str, str | None]]] = {r: {("", done)} for r, done in self.archived.items()}
        for instant in self.timeline.instants:
            if instant.action == "savepoint":
                continue
            others = instants.setdefault(instant.requested, set())
            # The archive does not record under which action a write was requested, so its action is ''.
            if ("", instant.completed) not in others:  # else it is the archived one
                others.add((instant.completes_as, instant.completed))
        return frozenset(requested for requested, several in instants.items() if len(several) > 1)

    @cached_property
    def unlisted(self) -> tuple[File, ...]:
        """The data files that are not listed in their completed instant, because a Spark task attempt wrote the files
        too late.
        """
        return tuple(file for file in self._not_listed if file.requested not in self.shared_requests)

    @cached_property
    def ambiguous(self) -> tuple[File, ...]:
        """The unlisted data files whose write is ambiguous, because several instants share the requested time in the
        file name.
        """
        return tuple(file for file in self._not_listed if file.requested in self.shared_requests)

    @cached_property
    def _not_listed(self) -> tuple[File, ...]:
        return tuple(
            file for path, file in self.files.items() if file.requested in self.commits and path not in self.listed
        )

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """The paths of the log files that readers ignore and whose rows `repair` has rewritten."""
        batches = (commit.batch for commit in self.commits.values() if commit.batch)
        return frozenset(batch.removeprefix(REWRITE) for batch in batches if batch.startswith(REWRITE))

    @cached_property
    def checksums(self) -> Mapping[str, str]:
        """A mapping from the path of each log to the checksum in its completed commit, if the commit records one."""
        return {stat.path: stat.checksum for commit in self.commits.values() for stat in commit.stats if stat.checksum}

    @cached_property
    def listed(self) -> Mapping[str, str]:
        """A mapping from the path of each data file listed in a completed commit to the requested time of that commit.
        """
        return {stat.path: requested for requested, commit in self.commits.items() for stat in commit.stats}
