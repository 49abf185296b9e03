"""Readers as actors: a listing is not a snapshot, so a careful reader lists twice (design: "a listing is not ...").

A listing shows all that was on the timeline when it began and any part of what came while it ran. A reader lists,
takes T := greatest completion seen, lists again, and keeps what completed at or before T. Publication follows
completion, so that everything up to T was there before the second listing began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, combinations
from math import inf
from typing import Any, NamedTuple

from ..cleaning import needed, published_horizon
from ..conditions import at
from ..metadata import through
from ..step import Action, Args, Guard, Row
from ..table import DataFile, Plan, Table, table_of
from . import Setting

KIND, PREFIX = "reader", "r"
IN_RANDOM_WORLDS = 1
ACTIONS = (
    Action("reader_starts_listing", "begins to list the timeline", "{actor} starts listing the timeline"),
    Action("reader_ends_listing", "has listed all that was there and part of what came meanwhile",
           "{actor} ends its listing; of what came meanwhile it saw {seen}", joins=True),
    Action("reader_starts_listing_again", "begins its second listing", "{actor} starts listing again", joins=True),
    Action("reader_ends_listing_again", "keeps what completed at or before its time",
           "{actor} ends its second listing; of what came meanwhile it saw {seen}", joins=True),
    Action("reader_opens_archive", "reads the manifest of the archived timeline before it lists the active one",
           "{actor} opens the archive"),
    Action("reader_looks_into_archive", "reads the manifest of the archived timeline and what it lists",
           "{actor} looks into the archive", joins=True),
    Action("reader_lists_files", "lists files through the metadata table: those of completed instants",
           "{actor} lists files through the metadata table", joins=True),
    Action("reader_reads", "reads the files of the instants it kept; refuses if cleaning was faster", "{actor} reads",
           joins=True),
)  # fmt: skip


SURE = "sure of its instants"
KNOWS = "knows the archive"
HELD = "listed what it will read"
OPENS = "sure of its files"
ENDS = ("answered", "refused", "lost")
"""How a read ends: refused if files are gone because its time is before the horizon, lost if they are gone without."""


class Reader(NamedTuple):
    """`mark`: how much was published when the listing began; `plans`: how many plans there were.

    `time` is its T; `kept` the requested times of the completed instants it reads by, in order of publication.
    `archived`: what it found in the archive, if it looked there before it listed.
    `listed`, with a metadata table: the instants whose files it has found in it.
    """

    step: str = "idle"
    mark: int = 0
    plans: int = 0
    time: int = 0
    kept: tuple[int, ...] = ()
    dead: bool = False
    archived: frozenset[int] = frozenset()
    listed: frozenset[int] | None = None

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", *ENDS)


def components(setting: Setting) -> dict[str, Any]:
    return {me: Reader() for me in setting.of(KIND)}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _rows_of(me, setting)


def _rows_of(me: str, setting: Setting) -> Iterator[Row]:
    once, by_clock = setting.protocol.listing == "once", setting.protocol.read_time == "clock"
    removed = ("removed",) if setting.of("archiver") else ()
    looks = setting.protocol.archive_lookup if removed else "never"
    budget = Guard(f"{me} must have a read left", lambda own: own.step not in ENDS, budget=True)
    by_metadata = bool(setting.world.metadata_table)
    files_first = by_metadata and setting.protocol.metadata_read == "before_timeline"
    begins = at(me, OPENS) if files_first else _not_reading(me)
    to_list = at(me, KNOWS) if looks == "before_listing" else begins

    def starts(own: Reader, published: tuple[Any, ...], plans: tuple[Any, ...], clock: int = 0) -> tuple[Any, ...]:
        return (own._replace(step="listing", mark=len(published), plans=len(plans), time=clock),)

    def ends(own: Reader, published: tuple[Any, ...], *gone: frozenset[int], seen: tuple[int, ...]) -> tuple[Any, ...]:
        entries = _listed(own, published, seen, *gone)
        time = own.time if by_clock else max((entry.completed for entry in entries), default=0)
        if not once:
            return (own._replace(step="listed", mark=0, plans=0, time=time),)
        return (_sure(own, entries, published, time) if looks != "after_listing" else _held(own, entries, time),)

    def starts_again(own: Reader, published: tuple[Any, ...], plans: tuple[Any, ...]) -> tuple[Any, ...]:
        return (own._replace(step="listing again", mark=len(published), plans=len(plans)),)

    def ends_again(
        own: Reader, published: tuple[Any, ...], *gone: frozenset[int], seen: tuple[int, ...]
    ) -> tuple[Any, ...]:
        entries = _listed(own, published, seen, *gone)
        if looks != "after_listing":
            return (_sure(own, entries, published, own.time),)
        return (_held(own, [entry for entry in entries if entry.completed <= own.time], own.time),)

    files = (me, "published", "plans")
    yield Row("reader_starts_listing", me, (*files, "clock") if by_clock else files, (me,), (to_list, budget),
              starts)  # fmt: skip
    yield Row("reader_ends_listing", me, (*files[:2], *removed), (me,), (at(me, "listing"),), ends, choices=_parts)
    if not once:
        before = KNOWS if looks == "after_listing" else "listed"
        yield Row("reader_starts_listing_again", me, files, (me,), (at(me, before),), starts_again)
        yield Row("reader_ends_listing_again", me, (*files[:2], *removed), (me,), (at(me, "listing again"),),
                  ends_again, choices=_parts)  # fmt: skip
    if looks == "before_listing":
        unread = Guard(f"{me} must not have looked", lambda own: own.step != KNOWS)
        yield Row("reader_opens_archive", me, (me, "archive"), (me,), (begins, budget, unread),
                  lambda own, archive: (own._replace(step=KNOWS, archived=archive),))  # fmt: skip
    if looks == "after_listing":
        yield _looking(me, once, by_clock)
    if by_metadata:
        yield Row("reader_lists_files", me, (me, "metadata"), (me,),
                  (_not_reading(me), budget) if files_first else (at(me, SURE),),
                  lambda own, metadata: (own._replace(step=OPENS, listed=metadata.listed),))  # fmt: skip
    yield _reading(me, setting, OPENS if by_metadata and not files_first else SURE)


def _not_reading(me: str) -> Guard:
    return Guard(f"{me} must not be reading", lambda own: not own.busy and not own.dead)


def _looking(me: str, once: bool, by_clock: bool) -> Row:
    """After each listing: what it missed because it was archived meanwhile is there."""

    def into(own: Reader, published: tuple[Any, ...], archive: frozenset[int]) -> tuple[Any, ...]:
        newest = max((entry.completed for entry in published if entry.requested in archive), default=0)
        if own.step == "listed":
            return (own._replace(step=KNOWS, time=own.time if by_clock else max(own.time, newest)),)
        time = own.time if by_clock or not once else max(own.time, newest)
        seen = [entry for entry in published if entry.requested in own.kept]
        return (_sure(own._replace(archived=archive), seen, published, time),)

    mine = Guard(f"{me} must have listed", lambda own: own.step in ("listed", HELD) and not own.dead)
    return Row("reader_looks_into_archive", me, (me, "published", "archive"), (me,), (mine,), into)


def _reading(me: str, setting: Setting, since: str) -> Row:
    if not setting.of("cleaner"):
        return Row("reader_reads", me, (me,), (me,), (at(me, since),), lambda own: (own._replace(step="answered"),))

    log_plans = setting.if_any("log_plans")

    def reads(
        own: Reader, published: Any, plans: Any, cleans: Any, deleted: frozenset[DataFile], *logs: tuple[Plan, ...]
    ) -> tuple[Any, ...]:
        table = kept_table(own, published, plans, *logs)
        opened = (needed(table, group, inf, setting.protocol) for group in range(setting.world.groups))
        if deleted.isdisjoint(chain.from_iterable(opened)):
            return (own._replace(step="answered"),)
        behind = own.time < published_horizon(cleans, published, setting.protocol)
        return (own._replace(step="refused" if behind else "lost"),)

    seen = (me, "published", "plans", "cleans", "deleted", *log_plans)
    return Row("reader_reads", me, seen, (me,), (at(me, since),), reads)


def kept_table(
    own: Reader, published: tuple[Any, ...], plans: tuple[Plan, ...], log_plans: tuple[Plan, ...] = ()
) -> Table:
    """The table that the instants it kept make up."""
    kept = through(tuple(entry for entry in published if entry.requested in own.kept), own.listed)
    # Whoever sees a compaction completed knows its base files, also if its listing missed the plan.
    known = tuple(plan for i, plan in enumerate(plans) if i < own.plans or plan.requested in own.kept)
    return table_of(kept, known, log_plans=log_plans)


def _parts(own: Reader, published: tuple[Any, ...], removed: frozenset[int] = frozenset()) -> Iterable[Args]:
    """Every part of what was published since the listing began and is still there, by requested time."""
    later = [entry.requested for entry in published[own.mark :] if entry.requested not in removed]
    return ((("seen", part),) for part in chain.from_iterable(combinations(later, n) for n in range(len(later) + 1)))


def _listed(
    own: Reader, published: tuple[Any, ...], seen: tuple[int, ...], removed: frozenset[int] = frozenset()
) -> tuple[Any, ...]:
    """What a listing that ends now shows: what has left the active timeline meanwhile is not in it."""
    listed = (*published[: own.mark], *(entry for entry in published[own.mark :] if entry.requested in seen))
    return tuple(entry for entry in listed if entry.requested not in removed)


def _held(own: Reader, entries: Iterable[Any], time: int) -> Reader:
    kept = tuple(entry.requested for entry in entries)
    return Reader(HELD, plans=own.plans, time=time, kept=kept, listed=own.listed)


def _sure(own: Reader, entries: Iterable[Any], published: tuple[Any, ...], time: int) -> Reader:
    """A reader that keeps what completed by its time of what it listed or knows to be archived."""
    seen = {entry.requested for entry in entries} | own.archived
    kept = tuple(entry.requested for entry in published if entry.requested in seen and entry.completed <= time)
    return Reader(SURE, plans=own.plans, time=time, kept=kept, listed=own.listed)
