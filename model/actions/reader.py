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

from ..kernel.table import DataFile, Plan, Table, Write, table_of
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.cleaning import Clean, needed, published_horizon
from ..mechanisms.log_compaction import with_log_plans
from ..mechanisms.metadata_table import MetadataTable, through
from ..mechanisms.restores import is_gone
from ..protocol import Protocol
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
from ..rules import rules_of
from . import Setting

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]
Removed = frozenset[int]

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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from _transitions_of(me, setting)


def _transitions_of(me: str, setting: Setting) -> Iterator[Transition]:
    looks = setting.protocol.archive_lookup if setting.of("archiver") else "never"
    by_metadata = bool(setting.world.metadata_table)
    files_first = by_metadata and setting.protocol.metadata_read == "before_timeline"
    begins, idle = (OPENS, ()) if files_first else ("", (NOT_READING,))
    lists_at, first = (KNOWS, ()) if looks == "before_listing" else (begins, idle)
    yield from _listing(me, setting, looks, lists_at, (*first, READ_LEFT))
    if looks == "before_listing":
        yield transition("reader_opens_archive", me, at=begins, to=KNOWS,
                         guards=(*idle, READ_LEFT, ARCHIVE_NOT_READ), effect=open_archive)  # fmt: skip
    if looks == "after_listing":
        yield transition("reader_looks_into_archive", me, guards=(HAS_LISTED,), effect=read_archive)
    if by_metadata:
        since, when = ("", [NOT_READING, READ_LEFT]) if files_first else (SURE, [])
        lists = transition("reader_lists_files", me, at=since, to=OPENS, guards=when, effect=list_files)
        yield lists.precede(note_newest_write) if files_first and setting.of("archiver") else lists
    reads = read_files if setting.of("cleaner") else read_all
    yield transition("reader_reads", me, at=OPENS if by_metadata and not files_first else SURE, effect=reads)


def _listing(me: str, setting: Setting, looks: str, begins: str, first: tuple[Guard, ...]) -> Iterator[Transition]:
    """The transitions of one listing or two; `looks`: when the reader reads the archive."""
    by_clock = setting.protocol.read_time == "clock"
    starts = transition("reader_starts_listing", me, at=begins, to="listing", guards=first, effect=start_listing)
    if by_clock:
        starts = starts.extend(take_clock_time)
    yield starts.precede(note_newest_write) if setting.of("archiver") else starts
    ends = end_only_listing if setting.protocol.listing == "once" else end_first_listing
    yield transition("reader_ends_listing", me, at="listing", effect=ends, arguments=listed_parts)
    if setting.protocol.listing != "once":
        before = KNOWS if looks == "after_listing" else "listed"
        yield transition("reader_starts_listing_again", me, at=before, to="listing again",
                         effect=start_second_listing)  # fmt: skip
        again = hold_second_listing if looks == "after_listing" else end_second_listing
        yield transition("reader_ends_listing_again", me, at="listing again", effect=again,
                         arguments=listed_parts)  # fmt: skip


def start_listing(own: Reader, published: Published, plans: Plans, restores: Restores = ()) -> Changes:
    """Begin to list: all that is on the timeline now will be seen."""
    own = own._replace(time=0, before=len(restores))
    return {"own": _started(own, published, plans, restores)}


def take_clock_time(own: Reader, clock: int) -> Changes:
    """Read as of the time on the clock, instead of the greatest completion time that the listing shows."""
    return {"own": own._replace(time=clock)}


def note_newest_write(own: Reader, published: Published) -> Changes:
    """Remember, where the read begins, when the newest write had completed. ACK asks for it beside an archiver."""
    return {"own": own if own.busy else own._replace(begun=_newest_write(published))}


def start_second_listing(own: Reader, published: Published, plans: Plans, restores: Restores = ()) -> Changes:
    """Begin to list again: everything up to T was there before."""
    return {"own": _started(own, published, plans, restores)}


def listed_parts(
    own: Reader, published: Published, removed: Removed = frozenset(), restores: Restores = ()
) -> Iterable[Args]:
    """What a listing may show of the instants that came or went while it ran."""
    return parts(own, published, removed, restores)


def end_first_listing(
    own: Reader, published: Published, protocol: Protocol, setting: Setting,
    removed: Removed = frozenset(), restores: Restores = (), *, seen: tuple[int, ...],
) -> Changes:  # fmt: skip
    """T is the greatest completion time seen."""
    entries, time = _first_time(own, published, protocol, removed, restores, seen)
    first = writes_of(entries, time) if setting.of("restorer") else ()
    return {"own": own._replace(step="listed", there=(), plans=(), time=time, restores=0, first=first)}


def end_only_listing(
    own: Reader, published: Published, protocol: Protocol, setting: Setting,
    removed: Removed = frozenset(), restores: Restores = (), *, seen: tuple[int, ...],
) -> Changes:  # fmt: skip
    """`listing = once`: the reader keeps what the first listing shows."""
    entries, time = _first_time(own, published, protocol, removed, restores, seen)
    own = own._replace(plans=plans_shown(own, seen, restores), restores=len(restores))
    if setting.of("archiver") and protocol.archive_lookup == "after_listing":
        return {"own": _held(own, entries, time)}
    return {"own": _sure(own, entries, ever_published(published, restores), time)}


def end_second_listing(
    own: Reader, published: Published, removed: Removed = frozenset(), restores: Restores = (), *, seen: tuple[int, ...]
) -> Changes:
    """Keep what completed at or before T. A reader that misses what it has seen before lists once more."""
    entries = shown(own, published, seen, removed, restores)
    there = writes_of(entries, own.time)
    if misses(own.first, there, hidden(own, seen, restores)):
        return {"own": own._replace(step="listed", there=(), plans=(), restores=0, first=there)}
    own = own._replace(plans=plans_shown(own, seen, restores), restores=len(restores))
    return {"own": _sure(own, entries, ever_published(published, restores), own.time)}


def hold_second_listing(
    own: Reader, published: Published, removed: Removed = frozenset(), restores: Restores = (), *, seen: tuple[int, ...]
) -> Changes:
    """Keep what completed at or before T; the archive is read afterwards."""
    entries = shown(own, published, seen, removed, restores)
    return {"own": _held(own, [entry for entry in entries if entry.completed <= own.time], own.time)}


def open_archive(own: Reader, published: Published, archive: Removed) -> Changes:
    """Read the archive before the active timeline."""
    begun = own.begun if own.busy else _newest_write(published)
    return {"own": own._replace(archived=archive, begun=begun)}


def read_archive(own: Reader, published: Published, archive: Removed, protocol: Protocol) -> Changes:
    """After each listing: the archive holds what the listing missed because it was archived meanwhile."""
    by_clock, once = protocol.read_time == "clock", protocol.listing == "once"
    latest = newest_archived(published, archive)
    if own.step == "listed":
        return {"own": own._replace(step=KNOWS, time=own.time if by_clock else max(own.time, latest))}
    time = own.time if by_clock or not once else max(own.time, latest)
    seen = [entry for entry in published if entry.requested in own.kept]
    return {"own": _sure(own._replace(archived=archive), seen, published, time)}


def list_files(own: Reader, metadata: MetadataTable) -> Changes:
    """List the files through the metadata table instead of the store."""
    return {"own": own._replace(listed=metadata.listed)}


def read_all(own: Reader, restores: Restores = ()) -> Changes:
    """Read the files of the instants it kept. A read of what a restore has deleted is refused."""
    return {"own": own._replace(step="refused" if _is_restored_away(own, restores) else "answered")}


def read_files(
    own: Reader, published: Published, plans: Plans, cleans: tuple[Clean, ...], deleted: frozenset[DataFile],
    setting: Setting, log_plans: Plans = (), restores: Restores = (),
) -> Changes:  # fmt: skip
    """A cleaner may have deleted a file: the read is refused if its time is before the horizon, else lost."""
    if _is_restored_away(own, restores):
        return {"own": own._replace(step="refused")}
    table = kept_table(own, published, plans, log_plans)
    rules = rules_of(setting.protocol)
    opened = (needed(rules, table, group, inf) for group in range(setting.world.groups))
    if deleted.isdisjoint(chain.from_iterable(opened)):
        return {"own": own._replace(step="answered")}
    behind = own.time < published_horizon(rules, cleans, published)
    return {"own": own._replace(step="refused" if behind else "lost")}


READ_LEFT = Guard("{me} must have a read left", lambda own: own.step not in ENDS, limit=True)
NOT_READING = Guard("{me} must not be reading", lambda own: not own.busy and not own.dead)
ARCHIVE_NOT_READ = Guard("{me} must not have looked", lambda own: own.step != KNOWS)
HAS_LISTED = Guard("{me} must have listed", lambda own: own.step in ("listed", HELD) and not own.dead)


def newest_archived(published: tuple[Any, ...], archive: frozenset[int]) -> int:
    """When the newest instant of the archive completed: a listing may have missed all that leaves while it runs."""
    return max((entry.completed for entry in published if entry.requested in archive), default=0)


def _is_restored_away(own: Reader, restores: Restores) -> bool:
    return bool(restores) and any(is_gone(restores, requested) for requested in (*own.kept, *own.plans))


def _first_time(
    own: Reader, published: Published, protocol: Protocol, removed: Removed, restores: Restores, seen: tuple[int, ...]
) -> tuple[Published, int]:
    """What the first listing shows, and the time of the read."""
    entries = shown(own, published, seen, removed, restores)
    by_clock = protocol.read_time == "clock"
    return entries, own.time if by_clock else newest(entries, known(own, seen, restores))


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
    table = table_of(kept, tuple(p for p in all_plans(plans, restores) if p.requested in seen))
    return with_log_plans(table, kept, log_plans)


def _newest_write(published: Published) -> int:
    return max((entry.completed or 0 for entry in published if isinstance(entry, Write)), default=0)


def _started(own: Reader, published: Published, plans: Plans, restores: Restores) -> Reader:
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
