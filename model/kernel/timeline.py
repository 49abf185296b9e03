"""Models the timeline, and the table described by the timeline's instants.

The component (state variable) `published` contains the completed instants in the order of their publication, and only
grows. Actors observe the timeline through views (named functions of the state), which mechanisms may change.

`active_instants` are the completed instants on the active timeline.
`pending_instants` are the instants that are not completed.
`visible_instants` are the completed instants whose files a reader may read.
`unpublished_writes` are the writes that are not published, each with the files that its writer has put.
`visible_writes` are the unpublished writes that readers nevertheless merge; the kernel has none.
`table` is the table as readers see it: visible instants, visible writes and plans.
`settled_time` is the time used by queries that specify no time.
`completed_table` is the table that a table service lists under the lock: the completed instants and the plans.
`latest_time` is the greatest completion time of an instant or requested time of a plan in `completed_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..machine.composition import Composition
from ..machine.transition import Component, preset
from .table import Instant, Plans, Table, Write, table_of

Published = tuple[Any, ...]

ACTIVE, PENDING, VISIBLE, VISIBLE_WRITES = "active_instants", "pending_instants", "visible_instants", "visible_writes"
UNPUBLISHED, TABLE, SETTLED = "unpublished_writes", "table", "settled_time"
COMPLETED_TABLE, LATEST = "completed_table", "latest_time"


def compose(composition: Composition) -> None:
    """Add the component (state variable) `published` and the views of the timeline to a model."""
    composition.add_component("published", ())
    composition.map_view(PENDING, nothing)
    composition.map_view(ACTIVE, published_instants)
    composition.map_view(VISIBLE, published_instants)
    composition.map_view(UNPUBLISHED, nothing)
    composition.map_view(VISIBLE_WRITES, nothing)
    composition.map_view(TABLE, visible_table)
    composition.map_view(SETTLED, greatest_completion)
    composition.map_view(COMPLETED_TABLE, completed_table)
    composition.map_view(LATEST, latest_time)


def add_pending_plans(composition: Composition, plans: str, action: str, completes: Callable[[Any], bool]) -> None:
    """Add the plans in the component `plans` that no published instant completes to the view `pending_instants`."""
    composition.map_view(PENDING, preset(pending_plans, plans=Component(plans), action=action, completes=completes))


def pending_plans(
    pending_instants: Iterable[Instant], published: Published, plans: Any, action: str, completes: Callable[[Any], bool]
) -> Iterator[Instant]:
    yield from pending_instants
    done = {entry.requested for entry in published if completes(entry)} if plans else ()
    left = (plan for plan in plans if plan.requested not in done)
    yield from (Instant(plan.requested, action, "inflight" if plan.inflight else "requested", None) for plan in left)


def nothing() -> tuple[()]:
    return ()


def published_instants(published: Published) -> Published:
    return published


def visible_table(visible_instants: Published, visible_writes: tuple[Write, ...], plans: Plans) -> Table:
    return table_of(visible_instants, plans, visible_writes)


def greatest_completion(published: Published) -> int:
    """Return the greatest published completion time. A read as of that time always has the same result."""
    return max((entry.completed for entry in published), default=0)


def completed_table(published: Published, plans: Plans) -> Table:
    return table_of(published, plans)


def latest_time(published: Published, plans: Plans) -> int:
    return max((*(entry.completed for entry in published), *(plan.requested for plan in plans)), default=0)
