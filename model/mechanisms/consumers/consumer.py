"""Consumers list the timeline twice, read an incremental window of completion times, and store a checkpoint.

An incremental window begins at the checkpoint and ends at the greatest completion time in the first listing. The second
listing shows every instant whose completion time is at or before the window's end. A consumer stores the rows of a
window atomically with the checkpoint, so a crash never causes a write to be delivered twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from ...kernel.table import Write
from ...kernel.timeline import Published
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.transition import Changes, Guard, transition
from ...protocol import Protocol
from ...variants.listing import Listing
from ...variants.windows import Windows
from ...world import World
from .options import ConsumedWindows, Consumers

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
    by_pending = composition.protocol[Consumers].checkpoint != "end_of_window"
    once = composition.protocol[Listing].listing == "once"
    composition.map_view(NEWEST_TIME, newest_time)
    composition.map_view(BOUNDS, bounds_before_pending if by_pending else window_bounds)
    composition.map_view(LISTED_BOUNDS, listed_bounds)
    composition.map_view(READABLE, readable_writes)
    for me in composition.actors_of("consumer"):
        takes = transition("consumer_takes_window", me, at="idle", to="listing", guards=(WINDOW_LEFT, HAS_COMPLETED),
                           effect=take_window)  # fmt: skip
        lists = transition("consumer_lists_window", me, at="listing", to="reading", effect=list_window,
                           tags=(LISTS_WINDOW,))  # fmt: skip
        if once:  # the listing that gives the end of the window gives its writes, too
            takes = replace(takes.extend(list_window), to="reading", tags=lists.tags)
        composition.add(takes, lists, transition("consumer_reads_window", me, at="reading", effect=deliver_window))


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
