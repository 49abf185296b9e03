"""Readers as actors: a listing is not a snapshot, so a careful reader lists twice (design: "a listing is not ...").

A listing shows all that was on the timeline when it began and any part of what came while it ran. A reader lists,
takes T := greatest completion seen, lists again, and keeps what completed at or before T. Publication follows
completion, so that everything up to T was there before the second listing began. What a restore takes off meanwhile may
be missed in the second one, and the restore's plan with it: who misses what it has seen before lists once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from ..conditions import at
from ..metadata import through
from ..reads.listing import (
    Restores,
    all_plans,
    ever_published,
    hidden,
    known,
    misses,
    newest,
    parts,
    plans_shown,
    present,
    shown,
    writes_of,
)
from ..services.cleaning import needed, published_horizon
from ..services.restoring import is_gone
from ..step import Action, Args, Guard, Row
from ..table import DataFile, Plan, Table, Write, table_of
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
    """`there`, `plans`: the completed instants and the plans that were there when the listing began, by requested time;
    `restores`: how many restores had been planned by then, `before` by when the first listing began.

    `first`, where there are restores: the writes and compactions up to T that the listing before has shown.
    `time` is its T; `kept` the requested times of the completed instants it reads by, in order of publication.
    `archived`: what it found in the archive, if it looked there before it listed.
    `begun`, beside an archiver: when the newest write had completed as the read began; elsewhere no listing misses it.
    `listed`, with a metadata table: the instants whose files it has found in it.
    """

    step: str = "idle"
    there: tuple[int, ...] = ()
    plans: tuple[int, ...] = ()
    time: int = 0
    kept: tuple[int, ...] = ()
    dead: bool = False
    archived: frozenset[int] = frozenset()
    listed: frozenset[int] | None = None
    restores: int = 0
    before: int = 0
    first: tuple[int, ...] = ()
    begun: int = 0

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
    looks = setting.protocol.archive_lookup if setting.of("archiver") else "never"
    budget = Guard(f"{me} must have a read left", lambda own: own.step not in ENDS, budget=True)
    by_metadata = bool(setting.world.metadata_table)
    files_first = by_metadata and setting.protocol.metadata_read == "before_timeline"
    begins = at(me, OPENS) if files_first else _not_reading(me)
    first_look = ("published",) if files_first and setting.of("archiver") else ()
    yield from _listing(me, setting, looks, (at(me, KNOWS) if looks == "before_listing" else begins, budget))
    if looks == "before_listing":
        unread = Guard(f"{me} must not have looked", lambda own: own.step != KNOWS)
        yield Row("reader_opens_archive", me, (me, "archive", "published"), (me,), (begins, budget, unread),
                  lambda own, archive, published: (_beginning(own, published)._replace(step=KNOWS, archived=archive),),
                  )  # fmt: skip
    if looks == "after_listing":
        yield _looking(me, once, by_clock)
    if by_metadata:
        yield Row("reader_lists_files", me, (me, "metadata", *first_look), (me,),
                  (_not_reading(me), budget) if files_first else (at(me, SURE),),
                  lambda own, metadata, *seen: (_beginning(own, *seen)._replace(step=OPENS, listed=metadata.listed),),
                  )  # fmt: skip
    yield _reading(me, setting, OPENS if by_metadata and not files_first else SURE)


def _listing(me: str, setting: Setting, looks: str, to_list: tuple[Guard, Guard]) -> Iterator[Row]:
    """The rows of one listing or two; `looks`: when it looks into the archive."""
    once, by_clock = setting.protocol.listing == "once", setting.protocol.read_time == "clock"
    removed, undone = ("removed",) if setting.of("archiver") else (), setting.if_any("restores")

    def starts(own: Reader, published: tuple[Any, ...], plans: tuple[Any, ...], *more: Any) -> tuple[Any, ...]:
        restores, time = (more[0] if undone else ()), (more[-1] if by_clock else 0)
        own = _beginning(own, published) if removed else own
        own = own._replace(step="listing", time=time, before=len(restores))
        return (_begun(own, published, plans, restores),)

    def starts_again(own: Reader, published: tuple[Any, ...], plans: tuple[Any, ...], *more: Any) -> tuple[Any, ...]:
        return (_begun(own._replace(step="listing again"), published, plans, more[0] if undone else ()),)

    def ends(own: Reader, published: tuple[Any, ...], *gone: Any, seen: tuple[int, ...]) -> tuple[Any, ...]:
        left, restores = left_by(gone)
        entries, plans = shown(own, published, seen, left, restores), plans_shown(own, seen, restores)
        time = own.time if by_clock else newest(entries, known(own, seen, restores))
        if not once:
            first = writes_of(entries, time) if undone else ()
            return (own._replace(step="listed", there=(), plans=(), time=time, restores=0, first=first),)
        own, every = own._replace(plans=plans, restores=len(restores)), ever_published(published, restores)
        return (_sure(own, entries, every, time) if looks != "after_listing" else _held(own, entries, time),)

    def ends_again(own: Reader, published: tuple[Any, ...], *gone: Any, seen: tuple[int, ...]) -> tuple[Any, ...]:
        left, restores = left_by(gone)
        entries = shown(own, published, seen, left, restores)
        if looks == "after_listing":
            return (_held(own, [entry for entry in entries if entry.completed <= own.time], own.time),)
        if misses(own.first, there := writes_of(entries, own.time), hidden(own, seen, restores)):
            return (own._replace(step="listed", there=(), plans=(), restores=0, first=there),)
        own = own._replace(plans=plans_shown(own, seen, restores), restores=len(restores))
        return (_sure(own, entries, ever_published(published, restores), own.time),)

    def left_by(gone: tuple[Any, ...]) -> tuple[frozenset[int], Restores]:
        """What an archiver has removed, and the restores that were planned."""
        return gone[0] if removed else frozenset(), gone[-1] if undone else ()

    def choices(own: Reader, published: tuple[Any, ...], *gone: Any) -> Iterable[Args]:
        return parts(own, published, *left_by(gone))

    files, ended = (me, "published", "plans", *undone), (me, "published", *removed, *undone)
    yield Row("reader_starts_listing", me, (*files, "clock") if by_clock else files, (me,), to_list, starts)
    yield Row("reader_ends_listing", me, ended, (me,), (at(me, "listing"),), ends, choices=choices)
    if not once:
        before = KNOWS if looks == "after_listing" else "listed"
        yield Row("reader_starts_listing_again", me, files, (me,), (at(me, before),), starts_again)
        yield Row("reader_ends_listing_again", me, ended, (me,), (at(me, "listing again"),), ends_again,
                  choices=choices)  # fmt: skip


def _not_reading(me: str) -> Guard:
    return Guard(f"{me} must not be reading", lambda own: not own.busy and not own.dead)


def _looking(me: str, once: bool, by_clock: bool) -> Row:
    """After each listing: what it missed because it was archived meanwhile is there."""

    def into(own: Reader, published: tuple[Any, ...], archive: frozenset[int]) -> tuple[Any, ...]:
        latest = newest_archived(published, archive)
        if own.step == "listed":
            return (own._replace(step=KNOWS, time=own.time if by_clock else max(own.time, latest)),)
        time = own.time if by_clock or not once else max(own.time, latest)
        seen = [entry for entry in published if entry.requested in own.kept]
        return (_sure(own._replace(archived=archive), seen, published, time),)

    mine = Guard(f"{me} must have listed", lambda own: own.step in ("listed", HELD) and not own.dead)
    return Row("reader_looks_into_archive", me, (me, "published", "archive"), (me,), (mine,), into)


def newest_archived(published: tuple[Any, ...], archive: frozenset[int]) -> int:
    """When the newest instant of the archive completed: a listing may have missed all that leaves while it runs."""
    return max((entry.completed for entry in published if entry.requested in archive), default=0)


def _reading(me: str, setting: Setting, since: str) -> Row:
    undone = setting.if_any("restores")
    cleaning = ("plans", "cleans", "deleted", *setting.if_any("log_plans")) if setting.of("cleaner") else ()

    def reads(own: Reader, *seen: Any) -> tuple[Any, ...]:
        if undone and any(is_gone(seen[-1], requested) for requested in (*own.kept, *own.plans)):
            return (own._replace(step="refused"),)  # the restore that has undone it says so
        return (own._replace(step=_ended(own, setting, seen) if cleaning else "answered"),)

    looked_at = (me, *(("published", *cleaning) if cleaning else ()), *undone)
    return Row("reader_reads", me, looked_at, (me,), (at(me, since),), reads)


def _ended(own: Reader, setting: Setting, seen: tuple[Any, ...]) -> str:
    """How a read ends beside cleaning."""
    deleted: frozenset[DataFile]
    published, plans, cleans, deleted, *logs = seen
    table = kept_table(own, published, plans, *logs)
    opened = (needed(table, group, inf, setting.protocol) for group in range(setting.world.groups))
    if deleted.isdisjoint(chain.from_iterable(opened)):
        return "answered"
    return "refused" if own.time < published_horizon(cleans, published, setting.protocol) else "lost"


def kept_table(
    own: Reader,
    published: tuple[Any, ...],
    plans: tuple[Plan, ...],
    log_plans: tuple[Plan, ...] = (),
    restores: Restores = (),
) -> Table:
    """The table that the instants it kept make up."""
    there = ever_published(published, restores)
    kept = through(tuple(entry for entry in there if entry.requested in own.kept), own.listed)
    # Whoever sees a compaction completed knows its base files, also if its listing missed the plan.
    seen = {*own.plans, *own.kept}
    return table_of(kept, tuple(p for p in all_plans(plans, restores) if p.requested in seen), log_plans=log_plans)


def _beginning(own: Reader, published: tuple[Any, ...] = ()) -> Reader:
    """The reader as its read begins, if it does; `published` beside an archiver alone."""
    if own.busy:
        return own
    return own._replace(begun=max((entry.completed or 0 for entry in published if isinstance(entry, Write)), default=0))


def _begun(own: Reader, published: tuple[Any, ...], plans: tuple[Plan, ...], restores: Restores) -> Reader:
    there, planned = present(published, restores), tuple(plan.requested for plan in plans)
    return own._replace(there=there, plans=planned, restores=len(restores))


def _held(own: Reader, entries: Iterable[Any], time: int) -> Reader:
    kept = tuple(entry.requested for entry in entries)
    return own._replace(step=HELD, there=(), time=time, kept=kept, archived=frozenset())


def _sure(own: Reader, entries: Iterable[Any], published: tuple[Any, ...], time: int) -> Reader:
    """A reader that keeps what completed by its time of what it listed or knows to be archived."""
    seen = {entry.requested for entry in entries} | own.archived
    kept = tuple(entry.requested for entry in published if entry.requested in seen and entry.completed <= time)
    return own._replace(step=SURE, there=(), time=time, kept=kept, archived=frozenset(), first=())
