"""What storage holds, as values: writes, compaction plans, and the words in which a timeline is observed.

Times are ticks of one clock, from 1. A log file is named by (requested time of its write, version).
"""

from __future__ import annotations

from math import inf
from typing import Any, Literal, NamedTuple, TypeVar, cast

Log = tuple[int, int]


class Write(NamedTuple):
    """A delta commit. `files` are its (group, version); `completed` is None while it is not published.

    `bases` is used by the layout before RFC-66 only: per file group the barrier that the names of its logs carry.
    `onto`, of a copy-on-write table: (group, requested time of the base file that it merged, None without one).
    `file_ids`: (group, file id) where that is not the one fixed by the bucket.
    `loaded`: the file groups in which its one file is a base file (bulk insert), whose barrier is `requested`.
    `into`: (group, requested time of the clustering that made the file group its writer has found), if there is one.
    `columns`: how many of the columns that were added its writer knew (see `schemas`).
    `replaced`: those of them, all of its partitions, in which it hides what completed before it was requested.
    `places`: of each of its files the place of that block in a log that it shares with others.
    """

    requested: int
    completed: int | None
    actor: str
    number: int
    files: tuple[tuple[int, int], ...]
    bases: tuple[int | None, ...] = ()
    file_ids: tuple[tuple[int, int], ...] = ()
    onto: tuple[tuple[int, int | None], ...] = ()
    loaded: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    into: tuple[tuple[int, int], ...] = ()
    places: tuple[int, ...] = ()
    columns: int = 0

    @property
    def action(self) -> str:
        return "commit" if self.onto or self.replaced else "deltacommit"

    @property
    def groups(self) -> tuple[int, ...]:
        """The file groups that it touches."""
        return tuple(dict.fromkeys(group for group, _ in self.files))

    def logs(self, group: int) -> tuple[Log, ...]:
        """Its log files in a file group, versions ascending."""
        return () if group in self.loaded else self.files_in(group)

    def files_in(self, group: int) -> tuple[Log, ...]:
        """Its files in a file group, logs or base file, versions ascending."""
        return tuple([(self.requested, version) for in_group, version in self.files if in_group == group])

    def place_in(self, group: int) -> float:
        """Where in the file group's shared log its first block stands; inf where logs are not shared."""
        found = (at for (in_group, _), at in zip(self.files, self.places, strict=False) if in_group == group)
        return min(found, default=inf)

    def ranks_at(self, group: int) -> int | None:
        """The time at which its records rank in a file group: its completion; a replace's when it was requested."""
        return self.requested if group in self.replaced else self.completed


class DataFile(NamedTuple):
    """A file of the instant `requested` in a file group; a base file has version 0."""

    group: int
    requested: int
    version: int


class GroupPlan(NamedTuple):
    """What a plan takes in one file group: the base file of the instant `base` (or none) and logs."""

    group: int
    base: int | None
    logs: tuple[Log, ...]

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The files that it takes."""
        base = () if self.base is None else (DataFile(self.group, self.base, 0),)
        return (*base, *(DataFile(self.group, *log) for log in self.logs))


class Plan(NamedTuple):
    """A compaction plan; its requested time is a barrier in each of its file groups. `runner` is at work on it.

    `clusters`: what it writes are file groups of their own, which take the place of those that it names.
    `columns`: how many of the columns that were added its base files have, None where none ever is.
    `unmarked`: another engine has begun with it, and merges by its own rules (see `foreign`).
    """

    requested: int
    runner: str
    inflight: bool
    groups: tuple[GroupPlan, ...]
    clusters: bool = False
    columns: int | None = None
    unmarked: bool = False

    def of(self, group: int) -> GroupPlan | None:
        """Its part in one file group, None if it leaves the group alone."""
        for part in self.groups:
            if part.group == group:
                return part
        return None


class Compaction(NamedTuple):
    """A published completion of the plan with this requested time; `clustered`: the file groups that it replaced."""

    requested: int
    completed: int
    actor: str
    clustered: tuple[int, ...] = ()

    @property
    def action(self) -> str:
        return "commit"


class LogCompaction(NamedTuple):
    """A published completion of the log compaction with this requested time: its logs replace their inputs."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "deltacommit"


class Altered(NamedTuple):
    """A published commit without files: since before it was requested the table has so many `columns` more."""

    requested: int
    completed: int
    actor: str
    columns: int

    @property
    def action(self) -> str:
        return "deltacommit"


class Rollback(NamedTuple):
    """A plan, made by `planner`, to undo the write requested at `target`.

    `deleted`: how many of its files are gone, those put first; `forgotten`: how many of them nobody looks for again.
    `removed`: the state that the write's instant had when it was taken off the timeline, '' while it is there.
    """

    requested: int
    target: int
    planner: str
    inflight: bool = False
    deleted: int = 0
    forgotten: int = 0
    removed: str = ""


class RolledBack(NamedTuple):
    """A published completion of the rollback with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "rollback"


class Victims(NamedTuple):
    """The files of one file group that a clean deletes."""

    group: int
    files: tuple[DataFile, ...]


class Clean(NamedTuple):
    """A clean that was planned: from then on reads before `horizon` are refused. `runner` is at work on it."""

    requested: int
    horizon: int
    runner: str
    inflight: bool
    groups: tuple[Victims, ...]


class Cleaned(NamedTuple):
    """A published completion of the clean with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "clean"


class Savepoint(NamedTuple):
    """The instant requested then, which completed at `at`, is pinned: `files` are those that a read as of then opens.

    `writes`: the requested times of the writes that had completed by then. `completed` is None while the savepoint is
    not published.
    """

    requested: int
    at: int
    files: tuple[DataFile, ...]
    writes: tuple[int, ...]
    completed: int | None = None


class Restore(NamedTuple):
    """A restore that was planned, to the state as of `at`: from then on nobody sees the instants `undone` (requested
    times, in the order in which they go; the first `gone` of them are gone). `runner` is at work on it.

    `kept`: the writes of the savepoint. `plans`: the compaction plans among what is undone; `entries`, where somebody
    may be reading by them: the completed instants.
    """

    requested: int
    at: int
    runner: str
    inflight: bool
    undone: tuple[int, ...]
    kept: tuple[int, ...]
    plans: tuple[Plan, ...] = ()
    gone: int = 0
    entries: tuple[Any, ...] = ()


def is_undone(restores: tuple[Restore, ...], requested: int) -> bool:
    """Whether a restore has undone the instant requested then."""
    return any(requested in each.undone for each in restores)


class Restored(NamedTuple):
    """A published completion of the restore with this requested time."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "restore"


class Instant(NamedTuple):
    """One action on the timeline as anybody can observe it."""

    requested: int
    action: str
    state: Literal["requested", "inflight", "completed"]
    completed: int | None

    @property
    def completes_as(self) -> str:
        """The action of the completed instant."""
        return {"compaction": "commit", "logcompaction": "deltacommit"}.get(self.action, self.action)


class FileSlice(NamedTuple):
    """One slice of a file group. A pending plan has a slice (its barrier, no base) even before it has a log.

    `base` is the requested time of the compaction that wrote the base file. The log with which a compaction keeps its
    tombstones is part of its base and not listed among `logs`.
    """

    group: int
    barrier: int | None
    base: int | None
    logs: tuple[Log, ...]


class Table(NamedTuple):
    """What a reader or planner goes by: writes (by completion, pending ones last), plans, and completed plans.

    `completed` maps by position: the completion time of each plan, None while it is pending.
    `log_compactions`: the plans of log compactions, each with its completion time or None.
    `schemas`: the times since which it has one column more each; `altered`: the commits that say so.
    `oldest`, once a horizon is published: by file group the barrier before which slices are out of sight (0: none).
    """

    writes: tuple[Write, ...]
    plans: tuple[Plan, ...]
    completed: tuple[int | None, ...]
    log_compactions: tuple[tuple[Plan, int | None], ...] = ()
    oldest: tuple[int, ...] = ()
    schemas: tuple[int, ...] = ()
    altered: tuple[Altered, ...] = ()

    def in_sight(self, group: int, barrier: int | None) -> bool:
        """Whether a slice is not superseded for every read since the horizon."""
        return not self.oldest or (barrier or 0) >= self.oldest[group]


def table_of(
    published: tuple[Write | Compaction | RolledBack, ...],
    plans: tuple[Plan, ...],
    pending: tuple[Write, ...] = (),
    log_plans: tuple[Plan, ...] = (),
) -> Table:
    """The table that published instants, plans and (where they are looked at) pending writes make up."""
    writes = sorted((entry for entry in published if isinstance(entry, Write)), key=lambda w: w.completed or 0)
    done = {entry.requested: entry.completed for entry in published if completes_plan(entry)}
    logs = {entry.requested: entry.completed for entry in published if isinstance(entry, LogCompaction)}
    return Table(
        (*writes, *sorted(pending)),
        plans,
        tuple(done.get(plan.requested) for plan in plans),
        tuple((plan, logs.get(plan.requested)) for plan in log_plans),
    )


def completes_plan(entry: object) -> bool:
    """Whether a published instant is the completion of the plan with its requested time."""
    return isinstance(entry, Compaction) or (isinstance(entry, Write) and bool(entry.replaced))


Published = TypeVar("Published")


def without_deleted(entry: Published, rollbacks: tuple[Rollback, ...]) -> Published:
    """A published instant with the files that are still there of those that it lists."""
    if not isinstance(entry, Write):
        return entry
    gone = max((rollback.deleted for rollback in rollbacks if rollback.target == entry.requested), default=0)
    return cast(Published, entry._replace(files=entry.files[gone:])) if gone else entry
