"""Models readers of other engines: they list the timeline only once, or read as of the time on their clock."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from ..kernel.reader import (
    KEEPS,
    READER,
    READER_ENDS_LISTING,
    READER_ENDS_LISTING_AGAIN,
    READER_STARTS_LISTING,
    READER_STARTS_LISTING_AGAIN,
    SURE,
    Reader,
    keep_instants,
    take_time,
)
from ..kernel.timeline import SETTLED
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Changes, Transition


class ReaderListing(Options):
    """The options that decide how often a reader lists the timeline and how it chooses its time."""

    read_time: Literal["settled", "clock"] = option(
        "settled",
        "the time of a read for which the user states no time. settled: the greatest completion time that is "
        "published; clock: the time on the clock",
    )
    listing: Literal["twice", "once"] = option(
        "twice",
        "how often a reader lists the timeline. twice: once for its time, and again for the instants up to that time; "
        "once: one listing for both",
    )


def compose(composition: Composition) -> None:
    """Change how often readers list the timeline, and how they choose the time of a read."""
    options = composition.protocol[ReaderListing]
    if composition.actors_of(READER) and options.listing == "once":
        composition.find(READER_STARTS_LISTING_AGAIN, READER_ENDS_LISTING_AGAIN).remove()
        composition.find(READER_ENDS_LISTING).replace(_ends_only_listing)
    if options.read_time == "clock":
        composition.find(READER_STARTS_LISTING).extend(take_clock_time)
        composition.find(READER_ENDS_LISTING).replace(_without_taking_time)
        # So that promises judge reads as of the time that these readers really choose.
        composition.map_view(SETTLED, time_on_clock)


def _ends_only_listing(ends: Transition) -> Transition:
    return replace(ends, to=SURE, effects=(take_time, keep_instants), tags=ends.tags | {KEEPS})


def _without_taking_time(ends: Transition) -> Transition:
    return replace(ends, effects=tuple(effect for effect in ends.effects if effect is not take_time))


def take_clock_time(own: Reader, clock: int) -> Changes:
    """When the listing begins, use the clock's current time as the time of the read."""
    return {"own": own._replace(time=clock)}


def time_on_clock(clock: int) -> int:
    """Define the view `settled_time` as the current clock reading."""
    return clock


MECHANISM = Mechanism(compose=compose, options=ReaderListing)
