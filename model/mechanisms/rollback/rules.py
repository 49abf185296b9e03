"""Planned and completed rollbacks of failed writes (RFC-22), and how a rollback changes what actors observe: first the
failed write's files disappear, then its instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, TypeVar

from ...kernel.table import Instant, Write
from ...kernel.timeline import PENDING, UNPUBLISHED, VISIBLE, Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.marks import in_shapes
from ...machine.options import Limits, Options, limit, option


class Rollbacks(Options):
    """The options of rollbacks: which pending writes are rolled back, and which checks happen under the lock."""

    failed_writes: Literal["lazy", "eager"] = option(
        "lazy",
        "which pending writes a rollbacker rolls back. lazy: those whose heartbeat has expired; eager: every one",
    )
    rollback_check: Literal["under_lock", "before_lock"] = option(
        "under_lock",
        "when a rollbacker chooses a failed write: under the lock that covers its plan, or before it takes that lock",
    )
    rollback_plans: Literal["one", "exclusive", "several"] = option(
        "one",
        "how many pending rollbacks a failed write has, and who runs one (hudi #18050). one: at most one, which any "
        "rollbackers may run at once; exclusive: at most one, which one rollbacker runs at a time; several: each "
        "rollbacker may plan another",
    )
    commit_check: Literal["under_lock", "before_lock", "none"] = option(
        "under_lock",
        "when a writer checks its heartbeat before it publishes: under the lock, before it takes the lock, or never",
    )


class Failures(Limits):
    """The maximum number of rollbacks, and of stalls during which a live writer's heartbeat expires."""

    stalls: int = limit(0, "how often a live writer stalls until its heartbeat expires",
                        in_random_worlds=(1, 2), needs="rollbacker")  # fmt: skip
    rollbacks: int = limit(0, "how many rollbacks may be planned", in_random_worlds=(1, 2), needs="rollbacker")


Entry = TypeVar("Entry")


@in_shapes("requested", "target", "planner", "inflight", "deleted", "forgotten", "removed")
class Rollback(NamedTuple):
    """A rollback, planned by the actor `planner`, of the write with the requested time `target`.

    `deleted` is the number of the write's files deleted so far; the oldest file is deleted first. `forgotten` is the
    number of files that a later rollback of the same write skips, because they are already deleted. `removed` is the
    state (requested or inflight) in which the write's instant was removed from the timeline; '' before the removal.
    """

    requested: int
    target: int
    planner: str
    inflight: bool = False
    deleted: int = 0
    forgotten: int = 0
    removed: str = ""


@in_shapes("requested", "completed", "actor")
class RolledBack(NamedTuple):
    """The completed instant of a rollback; `requested` is the requested time of its plan."""

    requested: int
    completed: int
    actor: str

    @property
    def action(self) -> str:
        return "rollback"


def without_deleted(entry: Entry, rollbacks: tuple[Rollback, ...]) -> Entry:
    """Return an instant without the files deleted by rollbacks."""
    if not isinstance(entry, Write):
        return entry
    deleted = max((rollback.deleted for rollback in rollbacks if rollback.target == entry.requested), default=0)
    return entry._replace(files=entry.files[deleted:]) if deleted else entry


Planned = tuple[Rollback, ...]


def show_rollbacks(composition: Composition) -> None:
    """Redefine the views of the timeline, so that actors observe the effects of rollbacks."""
    composition.map_view(PENDING, instants_left)
    composition.map_view(UNPUBLISHED, writes_left)
    composition.map_view(VISIBLE, files_left)


def is_removed(requested: int, state: str, rollbacks: Planned) -> bool:
    """True if a write's instant had the state `state` (requested or inflight) when the last rollback removed it.

    A stalled writer may put its inflight instant after a rollback has removed the requested instant.
    """
    removed = [each.removed for each in rollbacks if each.target == requested and each.removed]
    return bool(removed) and removed[-1] == state


def is_on_timeline(own: Writer, rollbacks: Planned) -> bool:
    """True if an instant of the writer's current write is on the timeline."""
    return own.requested > 0 and not is_removed(own.requested, own.state, rollbacks)


def instants_left(pending_instants: Iterable[Instant], rollbacks: Planned) -> Iterator[Instant]:
    """Define the view `pending_instants`: omit the instants removed by a rollback."""
    for each in pending_instants:
        if each.action not in ("commit", "deltacommit") or not is_removed(each.requested, each.state, rollbacks):
            yield each


def writes_left(
    unpublished_writes: Iterable[Write], every_writer: Mapping[str, Writer], rollbacks: Planned
) -> Iterator[Write]:
    """Redefine the view `unpublished_writes` to omit writes whose files and instant have all been removed."""
    for each in unpublished_writes:
        left = without_deleted(each, rollbacks)
        if left.files or is_on_timeline(every_writer[each.actor], rollbacks):
            yield left


def files_left(visible_instants: Published, rollbacks: Planned) -> Iterator[object]:
    """Define the view `visible_instants`: the completed instants, each without the files deleted by a rollback."""
    for each in visible_instants:
        yield without_deleted(each, rollbacks)
