"""Models readers that show pending instants or hide completed instants, as described in comments on RFC-22 or found in
other engines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import inf
from typing import Literal

from ..kernel.table import Write
from ..kernel.timeline import UNPUBLISHED, VISIBLE, VISIBLE_WRITES, Published, nothing
from ..kernel.writer import Writer, write_of
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..mechanisms.rollback.rules import Rollback, is_on_timeline
from ..protocol import Protocol
from ..rules import Rules
from ..world import World
from .slicing import all_unpublished


class Visibility(Options):
    """The option that decides which instants are visible to readers."""

    visibility: Literal["completed", "any", "all_earlier", "unless_pending"] = option(
        "completed",
        "which logs a reader shows. completed: those of completed instants; any: all that are on storage; "
        "all_earlier: those of completed instants before the earliest pending request; unless_pending: those whose "
        "instant is not pending (an instant that is off the timeline counts as archived)",
    )


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for reading a table under the option `visibility`."""
    return () if protocol[Visibility].visibility == "completed" else (PendingVisible,)


class PendingVisible(Rules):
    """A read as of T sees pending instants that were requested at or before T."""

    def is_visible(self, requested: int, completed: int | None, time: float) -> bool:
        return requested <= time if completed is None else super().is_visible(requested, completed, time)


def compose(composition: Composition) -> None:
    """Redefine the views of the completed and pending writes that a reader sees."""
    composition.map_view(UNPUBLISHED, unpublished_writes)
    match composition.protocol[Visibility].visibility:
        case "any":
            composition.map_view(VISIBLE_WRITES, all_unpublished)
        case "all_earlier":
            composition.map_view(VISIBLE, before_pending)
            # Even a write that was requested before all pending ones is hidden while it is pending itself.
            composition.map_view(VISIBLE_WRITES, nothing)
        case "unless_pending":
            composition.map_view(VISIBLE_WRITES, not_pending)


def unpublished_writes(every_writer: Mapping[str, Writer], world: World) -> Iterator[Write]:
    """Yield the unpublished writes, each with the files put so far."""
    for me, own in every_writer.items():
        if own.requested:
            write = write_of(world, me, own)
            yield write._replace(completed=None, files=write.files[: own.files])


def before_pending(visible_instants: Published, every_writer: Mapping[str, Writer]) -> Published:
    """Define the view `visible_instants`: the completed instants that were requested before every pending write."""
    oldest = min((writer.requested for writer in every_writer.values() if writer.requested), default=inf)
    return tuple(entry for entry in visible_instants if entry.requested < oldest)


def not_pending(
    unpublished_writes: Iterable[Write], every_writer: Mapping[str, Writer], rollbacks: tuple[Rollback, ...] = ()
) -> Iterator[Write]:
    """Yield the unpublished writes whose instant a rollback has removed from the timeline."""
    for each in unpublished_writes:
        if not is_on_timeline(every_writer[each.actor], rollbacks):
            yield each


MECHANISM = Mechanism(rules=refine, compose=compose, after=("as_of", "slicing"), options=Visibility)
