"""A consumer reads consecutive incremental windows, and stores the start of the next window as a checkpoint.

A consumer lists the timeline twice. An incremental window begins at the checkpoint and ends at the greatest completion
time in the first listing. The second listing shows every instant whose completion time is at or before the window's
end. A consumer stores the rows of a window atomically with the checkpoint, so a crash never causes a write to be
delivered twice.

RFC-22, "Incremental reads", discusses three ways for a checkpoint to advance past pending writers. With option 1 of
RFC-22, a consumer reads all completed writes, but its checkpoint stays before the oldest pending write. With option 2
of RFC-22, the incremental window also ends before the requested time of the oldest pending write. With option 3 of
RFC-22, completion times bound the incremental windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from ..kernel.table import Write
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, transition
from ..protocol import Protocol
from ..rules import Rules
from ..variants.listing import ReaderListing
from ..variants.windows import Windows
from ..world import World
from .bulk_insert.rules import loaded
from .cleaning.mechanism import CLEANER
from .cleaning.rules import Clean, DataFile, published_horizon


class Consumers(Options):
    """The options of consumers: how the checkpoint advances, and what happens to a window that begins before the
    cleaning horizon.
    """

    checkpoint: Literal["end_of_window", "before_pending", "fenced"] = option(
        "end_of_window",
        "the checkpoint that a consumer stores. end_of_window: the end of its window; before_pending: the last time "
        "before the oldest pending write, so that it reads later writes again (RFC-22, option 1); fenced: as "
        "before_pending, and its window ends there as well (option 2)",
    )
    behind_horizon: Literal["refused", "skipped"] = option(
        "refused",
        "what becomes of a window that begins before the horizon. refused: it is not read; skipped: the consumer reads "
        "the writes whose files are left",
    )


class ConsumedWindows(Limits):
    """The limit on the number of incremental windows that each consumer reads."""

    windows: int = limit(0, "how many windows each consumer reads", in_random_worlds=(2,), needs="consumer")


ENDS = ("refused", "lost")
"""How a window ends that is not read: refused if it begins before the horizon; lost if its files are deleted and no
horizon explains it."""

NEWEST_TIME, BOUNDS, LISTED_BOUNDS = "newest_time", "window_bounds", "listed_bounds"
"""Views: the greatest time that a listing shows; where a window ends that is taken now, and the checkpoint after it;
both as the second listing leaves them."""
READABLE = "readable_writes"
"""The view of the writes of the window whose files are left."""

LISTS_WINDOW = "lists window"
"""The tag of a transition after which a consumer has the writes of its window."""


class Consumer(NamedTuple):
    """The state of one consumer.

    `checkpoint` is the time at which the next incremental window begins. `after` and `until` bound the current or last
    incremental window. `kept` contains the requested times of the writes in the window from `after` to `until`.
    `delivered` contains the requested times of the writes delivered so far. `again` is the requested time of a write
    that was delivered twice; 0 if there is none. `store` is the checkpoint that will be stored with the rows of the
    current window. `behind` is True if the window begins before the cleaning horizon, so that files of the window may
    have been deleted.
    """

    step: str = "idle"
    checkpoint: int = 0
    after: int = 0
    until: int = 0
    store: int = 0
    kept: tuple[int, ...] = ()
    behind: bool = False
    delivered: tuple[int, ...] = ()
    again: int = 0
    windows: int = 0
    records: tuple[Any, ...] = ()


CONSUMER = Kind(
    name="consumer", prefix="cons", first=Consumer(), idle_steps=("idle", *ENDS), in_random_worlds=(0, 0, 0, 1)
)
NO_ACTORS: Mapping[str, Any] = MappingProxyType({})


def compose(composition: Composition) -> None:
    """Add the views and transitions of every consumer to a model."""
    if not composition.actors_of(CONSUMER):
        return
    by_pending = composition.protocol[Consumers].checkpoint != "end_of_window"
    once = composition.protocol[ReaderListing].listing == "once"
    composition.map_view(NEWEST_TIME, newest_time)
    composition.map_view(BOUNDS, bounds_before_pending if by_pending else window_bounds)
    composition.map_view(LISTED_BOUNDS, listed_bounds)
    composition.map_view(READABLE, readable_writes)
    for me in composition.actors_of(CONSUMER):
        takes = transition("consumer_takes_window", me, at="idle", to="listing", guards=(WINDOW_LEFT, HAS_COMPLETED),
                           effect=take_window)  # fmt: skip
        lists = transition("consumer_lists_window", me, at="listing", to="reading", effect=list_window,
                           tags=(LISTS_WINDOW,))  # fmt: skip
        if once:  # the listing that gives the end of the window gives its writes, too
            takes = replace(takes.extend(list_window), to="reading", tags=lists.tags)
        composition.add(takes, lists, transition("consumer_reads_window", me, at="reading", effect=deliver_window))
    if composition.actors_of(CLEANER):
        end_cleaned_windows(composition)


def time_of(entry: Any, protocol: Protocol) -> int:
    """Return the time of an instant that is compared with the bounds of incremental windows. The option
    `incremental_axis` selects the completion time or the requested time.
    """
    time: int = entry.completed if protocol[Windows].incremental_axis == "completion" else entry.requested
    return time


def newest_time(published: Published, protocol: Protocol) -> int:
    return max((time_of(entry, protocol) for entry in published), default=0)


def window_bounds(newest_time: int) -> tuple[int, int]:
    """Return the end of the incremental window and the new checkpoint: in both cases the greatest time in the listing.
    """
    return newest_time, newest_time


def bounds_before_pending(
    own: Consumer, newest_time: int, published: Published, protocol: Protocol, every_writer: Mapping[str, Any],
    every_bulk_inserter: Mapping[str, Any] = NO_ACTORS,
) -> tuple[int, int]:  # fmt: skip
    """Return the end of the incremental window and the new checkpoint under options 1 and 2 of RFC-22. The checkpoint
    stays before the oldest pending write. With option 2 of RFC-22, both the checkpoint and the end of the window are
    before the oldest pending write.
    """
    done = {entry.requested for entry in published}
    writers = (*every_writer.values(), *every_bulk_inserter.values())
    oldest = min((each.requested for each in writers if each.requested and each.requested not in done), default=inf)
    safe = max(own.checkpoint, int(min(newest_time, oldest - 1)))
    return (safe, safe) if protocol[Consumers].checkpoint == "fenced" else (newest_time, safe)


def listed_bounds(own: Consumer) -> tuple[int, int]:
    return own.until, own.store


def readable_writes(own: Consumer) -> tuple[int, ...]:
    return own.kept


def window_is_left(own: Consumer, world: World) -> bool:
    return own.windows < world[ConsumedWindows].windows


def has_completed(own: Consumer, window_bounds: tuple[int, int]) -> bool:
    return window_bounds[0] > own.checkpoint


WINDOW_LEFT = Guard("{me} must have a window left", window_is_left, limit=True)
HAS_COMPLETED = Guard("something must have completed since the checkpoint of {me}", has_completed)


def take_window(own: Consumer, window_bounds: tuple[int, int]) -> Changes:
    """List the timeline, and set the bounds of the incremental window from the listing."""
    until, store = window_bounds
    return {"own": own._replace(after=own.checkpoint, until=until, store=store, kept=())}


def list_window(own: Consumer, listed_bounds: tuple[int, int], published: Published, protocol: Protocol) -> Changes:
    """List the timeline a second time, and keep every write that completed in the incremental window."""
    until, store = listed_bounds
    writes = (entry for entry in published if isinstance(entry, Write))
    kept = sorted(write.requested for write in writes if own.after < time_of(write, protocol) <= until)
    return {"own": own._replace(until=until, store=store, kept=tuple(kept))}


def deliver_window(own: Consumer, readable_writes: tuple[int, ...]) -> Changes:
    """Read the incremental window, and store its rows together with the new checkpoint."""
    again = next((requested for requested in readable_writes if requested in own.delivered), own.again)
    every = tuple(sorted({*own.delivered, *readable_writes}))
    after = own._replace(step="idle", checkpoint=own.store, kept=readable_writes, delivered=every, again=again,
                         windows=own.windows + 1)  # fmt: skip
    return {"own": after}


Cleans = tuple[Clean, ...]


# What a consumer does if a clean has deleted files of its incremental window.


def end_cleaned_windows(composition: Composition) -> None:
    """Let a consumer abandon an incremental window that begins before the cleaning horizon or needs deleted files."""
    composition.map_view(READABLE, writes_with_files)
    composition.select(LISTS_WINDOW).extend(note_horizon)
    composition.select("consumer_reads_window").divert(cannot_be_read, end_unread)


def note_horizon(own: Consumer, cleans: Cleans, published: Published, rules: Rules) -> Changes:
    """Record whether the incremental window begins before the cleaning horizon."""
    return {"own": own._replace(behind=own.after < published_horizon(rules, cleans, published))}


def writes_with_files(
    own: Consumer, readable_writes: tuple[int, ...], published: Published, deleted: frozenset[DataFile]
) -> tuple[int, ...]:
    """Redefine the view `readable_writes` to omit each write of which a clean has deleted a file."""
    writes = (entry for entry in published if isinstance(entry, Write) and entry.requested in own.kept)
    gone = {write.requested for write in writes if not deleted.isdisjoint(files_of(write))}
    return tuple(requested for requested in readable_writes if requested not in gone)


def cannot_be_read(
    own: Consumer, readable_writes: tuple[int, ...], cleans: Cleans, published: Published, protocol: Protocol,
    rules: Rules,
) -> bool:  # fmt: skip
    if _is_behind(own, readable_writes, cleans, published, rules):
        return protocol[Consumers].behind_horizon != "skipped"
    return readable_writes != own.kept


def end_unread(
    own: Consumer, readable_writes: tuple[int, ...], cleans: Cleans, published: Published, rules: Rules
) -> Changes:
    """Stop processing an incremental window without reading it. If the window begins before the cleaning horizon, the
    consumer moves to the step "refused". If only deleted files prevent the read, the consumer moves to the step "lost".
    """
    behind = _is_behind(own, readable_writes, cleans, published, rules)
    return {"own": own._replace(step="refused" if behind else "lost")}


def _is_behind(own: Consumer, readable: tuple[int, ...], cleans: Cleans, published: Published, rules: Rules) -> bool:
    return own.behind or (readable != own.kept and own.after < published_horizon(rules, cleans, published))


def files_of(write: Write) -> Iterable[DataFile]:
    versions = ((group, 0 if group in loaded(write) else version) for group, version in write.files)
    return (DataFile(group, write.requested, version) for group, version in versions)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(CONSUMER,),
    options=Consumers,
    limits=ConsumedWindows,
    after=("cleaning",),
    actions=(
        Action("consumer_takes_window", "lists the timeline; its window ends at the newest that it sees",
               "{actor} takes a window"),
        Action("consumer_lists_window", "lists again, and finds every write that completed in the window",
               "{actor} lists its window"),
        Action("consumer_reads_window", "reads the window and stores, with what it read, its new checkpoint",
               "{actor} reads its window and stores the checkpoint"),
    ),
)  # fmt: skip
