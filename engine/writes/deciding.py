"""Decides announced instants: the author of an entry of the decision log decides every instant that is announced, its
own and those of others (`timeline.announcements`).

An actor decides only what it finds undecided: the entries before the last one are on the timeline when the last one is
created, and the timeline is listed after the last one was read. So no instant is decided twice, and a write and its
rollback exclude each other. No heartbeat is checked: whether a write was rolled back is on the timeline.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from ..context import Context
from ..errors import Conflict
from ..storage import NotFound, Storage, listed_ahead, together
from ..storage.requests import WIDTH
from ..timeline import Instant
from ..timeline.announcements import FOLDER as ANNOUNCED
from ..timeline.announcements import Announced, Announcement, announced_instants, load_announcement
from ..timeline.cuts import is_cut
from ..timeline.decisions import Decision, LogEntry, carry_out, carry_out_at_once, rival_of, unpublished
from ..timeline.history import Active
from ..timeline.timeline import FOLDER
from .candidates import Candidates, decided_on
from .commit_protocol import undone_conflict
from .decision_log import decides_without_lock, is_parallel, learn_tail

AHEAD_SECONDS: Final = 5.0
"""For how long a writer waits for the times of an entry with many items: as long as 2,500 of them take."""


@dataclass(frozen=True)
class Round:
    """What one round of deciding has found: the tail of the decision log, and the timeline that was listed after it;
    the entry that was created; the announcements that are not needed any more (`garbage`), and those that no entry can
    decide (`refused`).

    `undecided` states whether an entry was to be created and another author created one first. `timeline` is None if
    the tail has decided the wanted instant, so that nothing else was listed. `ended` states how the wanted instant
    ended if its announcement was deleted.
    """

    tail: LogEntry
    timeline: Active | None = None
    entry: LogEntry | None = None
    garbage: list[Announced] = field(default_factory=list)
    refused: Mapping[Announced, Conflict] = field(default_factory=dict)
    undecided: bool = False
    ended: Instant | Conflict | None = None

    @property
    def newest(self) -> LogEntry:
        """The last entry that is known to be published."""
        return self.entry or self.tail

    def outcome(self, name: Announced) -> Instant | Conflict | None:
        """Return the instant if it is decided and published, the `Conflict` if it cannot be decided, or None."""
        for entry in (self.tail, self.newest):
            if (item := entry.decides(name)) is not None:
                return item.instant
        if self.timeline is not None:
            there = decided_on(self.timeline, name)
            if there is not None and (name.is_plan or there.completed):
                return there
        return self.ended or self.refused.get(name)


def decide_announced(
    context: Context,
    own: Announcement | None = None,
    *,
    wanted: Announced | None = None,
    ticks: bool = False,
    floor: str = "",
) -> Round:
    """Learn the tail of the decision log; publish it; list the announcements; create the next entry for all of them
    that are undecided; check the cut; publish in ascending order.

    If another author creates the entry first, or the number of the entry was cut, the result is `undecided`, and the
    caller decides again. If the tail decides the `wanted` instant, nothing more is done than to see it published. If
    `ticks` is True, an entry is also created if there is nothing to decide, to reserve a time. The entry has at least
    the given `floor`.

    The steps are the model's `learns_tail`, `publishes_item`, `lists_announced`, `creates_entry`, `checks_cut` and
    `publishes_item`. Their order matters. What is announced before the tail is learnt is in the listing, so that a
    writer fails at most two creates. The timeline is listed after the tail is learnt, so that what an earlier entry has
    decided is not decided again. Nothing is created before the tail is published.
    """
    tail, storage, round_trip = _published_tail(context, wanted)
    if storage is None:
        return Round(tail)
    names = announced_instants(storage)
    timeline = context.active(storage)
    awaited = wanted or (own.name if own is not None else None)
    known = None if awaited is None else _known(context, awaited, awaited in names, timeline, tail)
    if known is not None:
        return known
    candidates = Candidates(context, tail, timeline, _loaded(context, names, own), floor)
    # A stable sort: names of equal order stay in the order of their requested times.
    for name in sorted(names, key=candidates.order):
        candidates.consider(name)
    # A refused writer decides nothing for others: it might fail to create each entry, and never end.
    if awaited in candidates.final or (not candidates.items and not ticks):
        return Round(tail, timeline, None, candidates.garbage, candidates.refused)
    entry = candidates.entry()
    if ticks:
        # Another author whose clock reads the same time may create an equal entry, and use its `AUTHOR` time, too.
        entry = entry._replace(author=context.names.write_token())
    if not create_entry(context, entry):
        rival = context.commits.decoded.tail
        # A rival was read by its number: if that was cut, it may be the void entry of another author, as late as this.
        if rival is not None and _sees_published(
            context, rival, wanted, round_trip, may_be_void=partial(is_cut, context.storage, rival.number)
        ):
            return Round(rival)
        # The refusals may be due to items of the entry, which did not come to be.
        return Round(tail, timeline, undecided=True)
    publish_entry(context, entry, own)
    decided = [item.announced for item in entry.items if item.announced is not None]
    return Round(tail, timeline, entry, [*candidates.garbage, *decided], candidates.refused)


def _known(context: Context, name: Announced, is_announced: bool, timeline: Active, tail: LogEntry) -> Round | None:
    """Return the round of an actor that finds its instant on the timeline, or ended; None if it must decide it."""
    if _is_behind_missing(context, decided_on(timeline, name), tail):
        return Round(tail, undecided=True)
    ended = _ended(context, name, is_announced, timeline, tail)
    return None if ended is None else Round(tail, timeline, ended=ended)


def _is_behind_missing(context: Context, there: Instant | None, tail: LogEntry) -> bool:
    """Return whether an earlier instant of the same entry may be missing on the timeline: instants are published at the
    same time, and the entry is a later one than the tail, which is published.
    """
    return is_parallel(context) and there is not None and (there.completed or "") > tail.time


def _ended(
    context: Context, name: Announced, is_announced: bool, timeline: Active, tail: LogEntry
) -> Instant | Conflict | None:
    """Return how an instant ended whose announcement was deleted, or that the timeline does not show any more. It was
    published, perhaps archived since, or rolled back while its author stood still. Returns None if that is not known
    yet.
    """
    there = decided_on(timeline, name)
    if is_announced and (there is not None or name.is_plan):
        return None
    if there is not None and not name.is_plan:
        return there if there.completed else undone_conflict(context, timeline, name.requested, name.action)
    # The instant was published before its announcement was deleted, so a listing that begins now shows it.
    timeline = context.active()
    if (there := decided_on(timeline, name)) is not None:
        is_last = there.completed and not _is_behind_missing(context, there, tail)
        return there if is_last or name.is_plan else None
    archived = context.commits.history(timeline).archived
    found = archived.find(name.requested, name.action) if archived is not None else None
    return found or undone_conflict(context, timeline, name.requested, name.action)


def create_entry(context: Context, entry: LogEntry) -> bool:
    """Create the next entry of the decision log; return False if another author was faster, or if it is not known
    whether the entry decides anything, because its number has been cut.
    """
    try:
        rival = rival_of(context.storage, entry)
    except NotFound:  # the number was cut
        return False
    if rival is not None:
        # The rival is the new tail, so the next round needs no get of it.
        context.commits.decoded.tail = rival
        return False
    # A put that succeeds proves nothing here: the number may be free because its entry was deleted.
    if is_cut(context.storage, entry.number):
        return False
    context.commits.decoded.tail, context.commits.decoded.created = entry, entry.number
    return True


def publish_entry(context: Context, entry: LogEntry, own: Announcement | None = None) -> None:
    """Put the instants of an entry onto the timeline, in ascending order or at the same time."""
    contents = _contents(context, entry.items, own)
    if is_parallel(context):
        carry_out_at_once(context.storage, entry.items, contents)
    else:
        carry_out(context.storage, entry, contents)


def _published_tail(context: Context, wanted: Announced | None) -> tuple[LogEntry, Storage | None, float]:
    """Learn the tail, and see it published. Returns the tail; the storage with listings of the announcements and the
    timeline that were begun after it was learnt, or None if the tail decides the `wanted` instant; and the seconds that
    it took to learn the tail.
    """
    while True:
        begun = time.monotonic()
        tail = learn_tail(context)
        round_trip = time.monotonic() - begun
        if _sees_published(context, tail, wanted, round_trip):
            return tail, None, round_trip
        storage = listed_ahead(context.storage, ANNOUNCED, FOLDER)
        missing = unpublished(storage, tail)
        if missing:
            _see_published(context, tail, missing, None, round_trip)
        else:
            _pass(context, tail)
            return tail, storage, round_trip


def _pass(context: Context, tail: LogEntry) -> None:
    """Advance the clock past the times of the tail. An entry with many items may take times that this clock has not
    reached yet: then wait for them. Raises `Conflict` if they are far in the future.
    """
    until = time.monotonic() + AHEAD_SECONDS
    while tail.time:
        try:
            context.clock.not_before(tail.time)
            return
        except Conflict:
            if time.monotonic() > until:
                raise
            context.clock.pause(0.05)


def _valid() -> bool:
    return False


def _sees_published(
    context: Context,
    entry: LogEntry,
    wanted: Announced | None,
    round_trip: float,
    may_be_void: Callable[[], bool] = _valid,
) -> bool:
    """If an entry decides the `wanted` instant, return True when the instant is on the timeline. Returns False if the
    entry may decide nothing (`may_be_void`). That is asked only before this actor publishes the entry: an instant that
    is on the timeline was decided, because no actor publishes a void entry.
    """
    item = None if wanted is None else entry.decides(wanted)
    if item is None:
        return False
    # Without the lock, it was decided since its announcement: it is too early to ask what is published.
    missing = [*entry.items] if decides_without_lock(context) else unpublished(context.storage, entry)
    return not missing or _see_published(context, entry, missing, item, round_trip, may_be_void)


def _see_published(
    context: Context, tail: LogEntry, missing: list[Decision], wanted: Decision | None, round_trip: float,
    may_be_void: Callable[[], bool] = _valid,
) -> bool:  # fmt: skip
    """Return True when all items of the tail, or the `wanted` one, are on the timeline, and False if it may be void.

    With the lock, the author of the tail has died or has lost the lock. Without it, the author is probably publishing:
    this actor waits as long as that should take, and publishes the tail itself if no more of it was published in that
    time. The `wanted` instant counts as published after all that complete before it.
    """
    ahead = missing if wanted is None else missing[: missing.index(wanted) + 1]
    while decides_without_lock(context):
        rounds = math.ceil(len(ahead) / WIDTH) if is_parallel(context) else len(ahead)
        context.clock.pause(rounds * round_trip)
        missing = unpublished(context.storage, tail)
        left = [item for item in ahead if item in missing]
        if not left:
            return True
        # No progress in a whole wait: the author has died or stands still.
        if len(left) == len(ahead):
            break
        ahead = left
    if may_be_void():
        return False
    contents = _contents(context, missing, None)
    if is_parallel(context):  # from the other end, to share the work with an author that is slow
        carry_out_at_once(context.storage, missing[::-1], contents)
    else:
        carry_out(context.storage, tail._replace(items=tuple(missing)), contents)
    return True


def _loaded(
    context: Context, names: Iterable[Announced], own: Announcement | None
) -> dict[Announced, Announcement | None]:
    """Read the announcements that must be checked before their instants are decided."""
    unread = [name for name in names if name.is_checked and (own is None or name != own.name)]
    reads = [partial(load_announcement, context.storage, name) for name in unread]
    loaded = dict(zip(unread, together(context.storage, reads), strict=True))
    return loaded if own is None else {**loaded, own.name: own}


def _contents(context: Context, items: Iterable[Decision], own: Announcement | None) -> dict[Announced, bytes]:
    """Read the announced contents of the timeline files of decided instants. Only the actor that publishes them reads
    them, because all authors together would send as many requests as the square of their number.
    """
    names = [item.announced for item in items if item.announced is not None and not item.data]
    unread = [name for name in names if own is None or name != own.name]
    reads = [partial(load_announcement, context.storage, name) for name in unread]
    loaded = zip(unread, together(context.storage, reads), strict=True)
    contents = {name: announcement.data for name, announcement in loaded if announcement is not None}
    return contents if own is None else {**contents, own.name: own.data}


def carry_floor(context: Context, floor: str) -> LogEntry:
    """Return an entry, published, that has at least the given floor, as all later entries do."""
    while (newest := decide_announced(context, ticks=True, floor=floor).newest).floor < floor:
        pass
    return newest


def own_entry(context: Context) -> LogEntry:
    """Create an entry, which decides what is announced, and return it."""
    while (entry := decide_announced(context, ticks=True).entry) is None:
        pass
    return entry


def tick(context: Context) -> str:
    """Return a new time that every later commit completes after: an entry of the decision log reserves it."""
    return own_entry(context).time
