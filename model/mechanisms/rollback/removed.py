"""A rollback changes views: it removes the failed write's files from storage, and then its instant from the timeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...kernel.table import Instant, Write
from ...kernel.timeline import PENDING, UNPUBLISHED, VISIBLE, Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from .rules import Rollback, without_deleted

Rollbacks = tuple[Rollback, ...]


def compose(composition: Composition) -> None:
    """Change the views of the timeline, so that actors observe the effects of rollbacks."""
    composition.map_view(PENDING, instants_left)
    composition.map_view(UNPUBLISHED, writes_left)
    composition.map_view(VISIBLE, files_left)


def is_removed(requested: int, state: str, rollbacks: Rollbacks) -> bool:
    """True if a rollback has removed the instant of a write, which is in the state `state`, from the timeline.

    A rollback removes the instant in its present state. A stalled writer may put its inflight instant after a rollback
    has removed its requested instant.
    """
    removed = [each.removed for each in rollbacks if each.target == requested and each.removed]
    return bool(removed) and removed[-1] == state


def is_on_timeline(own: Writer, rollbacks: Rollbacks) -> bool:
    """True if an instant of the writer's present write is on the timeline."""
    return own.requested > 0 and not is_removed(own.requested, own.state, rollbacks)


def instants_left(pending_instants: Iterable[Instant], rollbacks: Rollbacks) -> Iterator[Instant]:
    """The view `pending_instants`: omit the instants of writes that a rollback has removed."""
    for each in pending_instants:
        if each.action not in ("commit", "deltacommit") or not is_removed(each.requested, each.state, rollbacks):
            yield each


def writes_left(
    unpublished_writes: Iterable[Write], every_writer: Mapping[str, Writer], rollbacks: Rollbacks
) -> Iterator[Write]:
    """The view `unpublished_writes`: the writes that still have files, or an instant on the timeline."""
    for each in unpublished_writes:
        left = without_deleted(each, rollbacks)
        if left.files or is_on_timeline(every_writer[each.actor], rollbacks):
            yield left


def files_left(visible_instants: Published, rollbacks: Rollbacks) -> Iterator[object]:
    """The view `visible_instants`: the completed instants, each with the files that no rollback has deleted."""
    for each in visible_instants:
        yield without_deleted(each, rollbacks)
