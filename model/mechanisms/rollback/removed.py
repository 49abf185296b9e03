"""Defines how a rollback changes what actors observe: first the failed write's files disappear, then its instant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...kernel.table import Instant, Write
from ...kernel.timeline import PENDING, UNPUBLISHED, VISIBLE, Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from .rules import Rollback, without_deleted

Rollbacks = tuple[Rollback, ...]


def compose(composition: Composition) -> None:
    """Redefine the views of the timeline, so that actors observe the effects of rollbacks."""
    composition.map_view(PENDING, instants_left)
    composition.map_view(UNPUBLISHED, writes_left)
    composition.map_view(VISIBLE, files_left)


def is_removed(requested: int, state: str, rollbacks: Rollbacks) -> bool:
    """True if a write's instant had the state `state` (requested or inflight) when the last rollback removed it.

    A stalled writer may put its inflight instant after a rollback has removed the requested instant.
    """
    removed = [each.removed for each in rollbacks if each.target == requested and each.removed]
    return bool(removed) and removed[-1] == state


def is_on_timeline(own: Writer, rollbacks: Rollbacks) -> bool:
    """True if an instant of the writer's current write is on the timeline."""
    return own.requested > 0 and not is_removed(own.requested, own.state, rollbacks)


def instants_left(pending_instants: Iterable[Instant], rollbacks: Rollbacks) -> Iterator[Instant]:
    """Define the view `pending_instants`: omit the instants removed by a rollback."""
    for each in pending_instants:
        if each.action not in ("commit", "deltacommit") or not is_removed(each.requested, each.state, rollbacks):
            yield each


def writes_left(
    unpublished_writes: Iterable[Write], every_writer: Mapping[str, Writer], rollbacks: Rollbacks
) -> Iterator[Write]:
    """Redefine the view `unpublished_writes` to omit writes whose files and instant have all been removed."""
    for each in unpublished_writes:
        left = without_deleted(each, rollbacks)
        if left.files or is_on_timeline(every_writer[each.actor], rollbacks):
            yield left


def files_left(visible_instants: Published, rollbacks: Rollbacks) -> Iterator[object]:
    """Define the view `visible_instants`: the completed instants, each without the files deleted by a rollback."""
    for each in visible_instants:
        yield without_deleted(each, rollbacks)
