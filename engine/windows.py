"""Windows (after, until] of settled completion times, and what was written in them."""

from __future__ import annotations

from typing import NamedTuple

from .context import Context
from .errors import BadInput
from .timeline import Timeline, load_settled
from .times import BEGINNING, Time, instant_of
from .travel import settled_at


class Window(NamedTuple):
    """A settled window, and a timeline that holds every instant completed in it."""

    timeline: Timeline
    after: str
    until: str


def settled_window(context: Context, after: Time, until: Time | None, asked: str) -> Window:
    """The window as given; an open one ends at the newest completion, or is empty if it starts later than that.

    `BadInput` for times that are none, for the future, and if the start is after the end.
    """
    start = instant_of(after, f"{asked} after")
    if until is not None:
        end = instant_of(until, f"{asked} until")
        if start > end:
            raise BadInput(f"{asked} after {start} until {end}", "the start is after the end", "exchange the two")
        return Window(settled_at(context, end, f"{asked} until"), start, end)
    timeline = load_settled(context.storage, context.rules)
    end = timeline.greatest_completion or BEGINNING
    if start > end:
        return Window(settled_at(context, start, f"{asked} after"), start, start)
    return Window(timeline, start, end)
