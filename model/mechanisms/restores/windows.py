"""Defines the effect of a restore on consumers: an incremental window that begins or ends within the undone range is
refused.
"""

from __future__ import annotations

from typing import NamedTuple

from ...machine.composition import Composition
from ...machine.transition import Changes, go_to
from ..consumers import CONSUMER, LISTED_BOUNDS, LISTS_WINDOW, NEWEST_TIME, Consumer, Consumers
from .rules import Restore, hides, is_gone

Planned = tuple[Restore, ...]


class UndoneWindow(NamedTuple):
    """The extra state of each consumer in a model with restores. `undone` is True if the incremental window begins or
    ends between the time restored to and the restore's requested time.
    """

    undone: bool = False


def compose(composition: Composition) -> None:
    """Let consumers take restores into account when they choose and read an incremental window."""
    if not composition.actors_of(CONSUMER):
        return
    composition.add_field(CONSUMER, "undone", UndoneWindow())
    composition.map_view(NEWEST_TIME, newest_time)
    if composition.protocol[Consumers].checkpoint == "end_of_window":
        composition.map_view(LISTED_BOUNDS, listed_bounds)
    composition.select(LISTS_WINDOW).extend(note_undone, "own_undone")
    composition.select("consumer_reads_window").divert(is_undone, go_to("refused"))


def newest_time(newest_time: int, restores: Planned) -> int:
    """Redefine the view `newest_time` to be no earlier than the requested time of the newest restore."""
    return max(newest_time, *(each.requested for each in restores), 0)


def listed_bounds(listed_bounds: tuple[int, int], restores: Planned) -> tuple[int, int]:
    """Extend the incremental window (view `listed_bounds`) to the requested time of the newest restore, if the window
    ends earlier. Once a restore is planned, no instant can complete at or before the restore's requested time.
    """
    until, store = listed_bounds
    newest = restores[-1].requested if restores else 0
    return max(until, newest), max(store, newest)


def note_undone(own: Consumer, restores: Planned) -> Changes:
    return {"own_undone": UndoneWindow(any(hides(restores, time) for time in (own.after, own.until)))}


def is_undone(own: Consumer, own_undone: UndoneWindow, restores: Planned) -> bool:
    """True if the incremental window cannot be read, because a restore has undone part of it or deleted files in it."""
    # Two reasons: the window itself was undone, or files of an instant that it keeps are already deleted.
    return own_undone.undone or any(is_gone(restores, requested) for requested in own.kept)
