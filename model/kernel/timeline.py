"""The timeline, and the table that it makes up.

The component `published` holds the completed instants in the order in which they were published. No effect of the
kernel removes or reorders them: `published` only grows. Pending instants lie in the components of their actors.

What is observed are views, which mechanisms map:

    active_instants      the completed instants on the active timeline
    pending_instants     the instants that are not completed
    visible_instants     the completed instants as a reader finds them
    unpublished_writes   writes that are not published, each with the files that it has put
    visible_writes       those of them that readers see
    table                what a read goes by, made of the three above and of the plans
    settled_time         the time of a read that names none
    completed_table      what a table service lists under the lock: the completed instants and the plans
    latest_time          the latest time in that listing
"""

from __future__ import annotations

from typing import Any

from ..machine.composition import Composition
from .table import Plan, Table, Write, table_of

Published = tuple[Any, ...]

ACTIVE, PENDING, VISIBLE, VISIBLE_WRITES = "active_instants", "pending_instants", "visible_instants", "visible_writes"
UNPUBLISHED, TABLE, SETTLED = "unpublished_writes", "table", "settled_time"
COMPLETED_TABLE, LATEST = "completed_table", "latest_time"


def compose(composition: Composition) -> None:
    """Add the component and the views."""
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


def nothing() -> tuple[()]:
    """No pending instant, and no write: a reader takes nothing of a write that has not completed."""
    return ()


def published_instants(published: Published) -> Published:
    return published


def visible_table(visible_instants: Published, visible_writes: tuple[Write, ...], plans: tuple[Plan, ...]) -> Table:
    return table_of(visible_instants, plans, visible_writes)


def greatest_completion(published: Published) -> int:
    """Everything that completed by then is published: a read as of that time returns the same answer permanently."""
    return max((entry.completed for entry in published), default=0)


def completed_table(published: Published, plans: tuple[Plan, ...]) -> Table:
    return table_of(published, plans)


def latest_time(published: Published, plans: tuple[Plan, ...]) -> int:
    return max((*(entry.completed for entry in published), *(plan.requested for plan in plans)), default=0)
