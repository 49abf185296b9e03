"""The active timeline as a value, and how a reader comes by one that is settled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

from .. import html
from ..errors import Unsupported
from ..rules import NBCC, Rules
from ..storage import Entry, Storage
from .instant import COLUMNS, COMPLETES_AS, HOME, Instant, is_layout_1, parse_instant
from .restores import RestorePlan, load_restore_plan

if TYPE_CHECKING:
    from .commits import Commits

FOLDER: Final = HOME

_ADVANCE: Final = {"requested": 0, "inflight": 1, "completed": 2}


@dataclass(frozen=True)
class Timeline:
    """All instants of one listing, each in the highest state seen, ordered by requested time.

    `begun_as` remembers under which action a completed instant was pending, where that differs: it tells the commit
    of a compaction from that of a copy-on-write writer. `archived`: some instants have left for the archive. What
    `restores` have undone is not among the instants; what is left of it there, in whatever state, is in `undone`.
    """

    instants: tuple[Instant, ...] = ()
    begun_as: Mapping[tuple[str, str], str] = field(default_factory=dict)
    archived: bool = False
    restores: tuple[RestorePlan, ...] = ()
    undone: tuple[Instant, ...] = ()

    @classmethod
    def of(cls, seen: Iterable[Instant], archived: bool = False) -> Timeline:
        """The timeline that these states of instants add up to."""
        highest: dict[tuple[str, str], Instant] = {}
        begun_as: dict[tuple[str, str], str] = {}
        for instant in seen:
            key = (instant.requested, instant.completes_as)
            if instant.action in COMPLETES_AS:
                begun_as[key] = instant.action
            known = highest.get(key)
            if known is None or _ADVANCE[instant.state] > _ADVANCE[known.state]:
                highest[key] = instant
        return cls(tuple(highest[key] for key in sorted(highest)), begun_as, archived)

    def joined(self, archived: Iterable[Instant]) -> Timeline:
        """The timeline with what has left it for the archive: nothing is out of sight then."""
        seen = tuple(archived)
        if not seen:
            return replace(self, archived=False)
        begun = (Instant(requested, action, "requested") for (requested, _), action in self.begun_as.items())
        whole = Timeline.of((*seen, *begun, *self.instants))
        return replace(whole, restores=self.restores, undone=self.undone)

    def without_undone(self, restores: Iterable[RestorePlan]) -> Timeline:
        """The timeline as these restores leave it."""
        plans = tuple(restores)
        gone = {requested for plan in plans for requested, _ in plan.undone}

        def is_undone(instant: Instant) -> bool:
            return instant.requested in gone and (instant.writes or instant.action == "savepoint")

        left = tuple(instant for instant in self.instants if not is_undone(instant))
        return replace(self, instants=left, restores=plans, undone=tuple(i for i in self.instants if is_undone(i)))

    @cached_property
    def completed(self) -> tuple[Instant, ...]:
        """Completed instants in the order of their completion."""
        return tuple(sorted((i for i in self.instants if i.completed), key=completion_of))

    @cached_property
    def pending(self) -> tuple[Instant, ...]:
        """Requested and inflight instants by requested time."""
        return tuple(i for i in self.instants if not i.completed)

    @property
    def pending_compactions(self) -> tuple[Instant, ...]:
        """Plans that have not completed."""
        return tuple(i for i in self.pending if i.action == "compaction")

    @cached_property
    def savepoints(self) -> tuple[Instant, ...]:
        """Completed savepoints by requested time, which is that of the instant that each pins."""
        return tuple(i for i in self.instants if i.action == "savepoint" and i.completed)

    def is_pinned(self, time: str) -> bool:
        """Whether a savepoint keeps what a read as of that completion time opens."""
        pinned = (self.find(saved.requested) for saved in self.savepoints)
        return any(instant is not None and instant.completed == time for instant in pinned)

    @property
    def greatest_completion(self) -> str | None:
        """The newest completion time, None if nothing has completed. A savepoint, which may be dropped, does not count;
        the request of a restore does: nothing completes at or before it any more.
        """
        begun = (plan.requested for plan in self.restores)
        return max((*(completion_of(i) for i in self.completed if i.action != "savepoint"), *begun), default=None)

    @cached_property
    def newest(self) -> str | None:
        """The greatest time of any kind: what a clock must not go before. None on an empty timeline."""
        return max((max(i.requested, i.completed or "") for i in self.instants), default=None)

    def completed_before(self, time: str) -> tuple[Instant, ...]:
        """Instants with a completion strictly before `time`: what a plan with that barrier may take."""
        return tuple(i for i in self.completed if completion_of(i) < time)

    def find(self, requested: str, action: str | None = None) -> Instant | None:
        """The instant requested then, among those that write data or of the action named."""
        for instant in self._by_requested.get(requested, ()):
            if instant.completes_as == COMPLETES_AS.get(action, action) if action else instant.writes:
                return instant
        return None

    def is_compaction(self, instant: Instant) -> bool:
        """Whether `instant`, pending or completed, carries out a compaction plan."""
        return self.begun_as.get((instant.requested, instant.completes_as)) == "compaction"

    def is_log_compaction(self, instant: Instant) -> bool:
        """Whether `instant`, pending or completed, carries out the plan of a log compaction."""
        return self.begun_as.get((instant.requested, instant.completes_as)) == "logcompaction"

    def is_service(self, instant: Instant) -> bool:
        """Whether `instant` rewrites files and changes no row."""
        return self.is_compaction(instant) or self.is_log_compaction(instant)

    def until(self, time: str) -> Timeline:
        """The timeline without what completed after `time`: those instants count as inflight."""
        return replace(
            self, instants=tuple(self._reopened(i) if i.completed and i.completed > time else i for i in self.instants)
        )

    def _reopened(self, instant: Instant) -> Instant:
        action = self.begun_as.get((instant.requested, instant.completes_as), instant.action)
        return Instant(instant.requested, action, "inflight")

    def __str__(self) -> str:
        """``timeline of 3 instants, 1 of them pending, newest completion 2026…``."""
        count = f"{len(self.instants)} instant{'' if len(self.instants) == 1 else 's'}"
        pending = f", {len(self.pending)} of them pending" if self.pending else ""
        return f"timeline of {count}{pending}, newest completion {self.greatest_completion or 'none'}"

    def _repr_html_(self) -> str:
        return html.table(COLUMNS, (instant.row for instant in self.instants), str(self))

    @cached_property
    def _by_requested(self) -> dict[str, list[Instant]]:
        found: dict[str, list[Instant]] = {}
        for instant in self.instants:
            found.setdefault(instant.requested, []).append(instant)
        return found


def completion_of(instant: Instant) -> str:
    """The completion time of an instant that is known to be completed."""
    assert instant.completed is not None, f"{instant} is pending"
    return instant.completed


def load(storage: Storage) -> Timeline:
    """The timeline by one listing, as its restores leave it. Raises `Unsupported` for instants of layout 1."""
    entries = storage.list(FOLDER)
    timeline = Timeline.of(_instants(entries), any(_in_archive(entry.path) for entry in entries))
    restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
    return timeline.without_undone(load_restore_plan(storage, each) for each in restores) if restores else timeline


def load_settled(
    storage: Storage, rules: Rules = NBCC, now: str | None = None, commits: Commits | None = None
) -> Timeline:
    """A timeline that holds every instant completed by some T, and no later one.

    One listing may show a late publication and miss an earlier one. So T is the greatest completion of a first
    listing: all that completed by T was published before T was, and is in the second. What an archiver takes off
    meanwhile is in the archive, which `commits` looks into after each listing. `Rules(listing="once")` trusts the
    first; `Rules(read_time="clock")` takes the time `now` for T, settled or not.
    """
    listed = look(storage, rules, commits)
    time = read_time(listed, rules, now)
    return (look(storage, rules, commits) if lists_twice(rules) else listed).until(time)


def look(storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """What a reader sees by one listing and a look into the archive, if its rules have it look there."""
    if commits is None or rules.files == "directory":
        return load(storage)
    if rules.archive_lookup == "never":
        return replace(load(storage), archived=False)
    return commits.whole(load(storage))


def read_time(listed: Timeline, rules: Rules, now: str | None) -> str:
    """The T of a snapshot; '' is before every completion."""
    if rules.read_time == "clock" and now is not None:
        return now
    return listed.greatest_completion or ""


def lists_twice(rules: Rules) -> bool:
    return rules.listing == "twice"


def _in_archive(path: str) -> bool:
    """Whether a path below the timeline's folder is a file of archived instants."""
    return path.rpartition("/")[0] != FOLDER and path.endswith(".parquet")


def _instants(entries: Iterable[Entry]) -> Iterable[Instant]:
    for entry in entries:
        folder, _, name = entry.path.rpartition("/")
        if folder != FOLDER:
            continue  # the archive lies below
        if instant := parse_instant(name):
            yield instant
        elif is_layout_1(name):
            raise Unsupported(
                "read the timeline",
                f"its instant {name} has no completion time (timeline layout 1)",
                "upgrade the table with Apache Hudi 1.x first",
            )
