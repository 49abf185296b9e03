"""Promise PROGRESS: in every fair run, every operation ends (docs/contract.md).

PROGRESS is a liveness property. The search checks PROGRESS at states without a successor, and at cycles that a run may
repeat forever. PROGRESS is violated if an operation is unfinished in a state without a successor, or in every state of
such a cycle. In a fair run, every action that stays possible eventually happens, except crashes and lost locks. An
action that needs the lock eventually happens if it becomes possible infinitely often. If the lock is free infinitely
often, each actor that requests the lock eventually takes it.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..kernel.compactor import COMPACTOR
from ..kernel.writer import WRITER
from ..machine.mechanism import Kind
from ..machine.state import State
from ..machine.transition import DEAD, Step
from ..mechanisms.cleaning.mechanism import CLEANER
from ..mechanisms.clustering import CLUSTERER
from ..mechanisms.crashes import ACTOR_CRASHES
from ..mechanisms.insert_overwrite import OVERWRITER
from ..mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from ..mechanisms.lost_locks import LOCK_IS_LOST
from ..mechanisms.resizes.mechanism import RESIZER
from ..mechanisms.resizes.rules import resize_of
from ..mechanisms.restores.mechanism import RESTORER
from ..mechanisms.rollback.rollbacker import ROLLBACKER
from ..model import Model
from .promise import Promise

UNFAIR = frozenset((ACTOR_CRASHES, LOCK_IS_LOST))
"""Actions that may stay possible without ever happening in a fair run."""

RESUMED_BY = {
    "compaction": (COMPACTOR, "compaction"),
    "logcompaction": (LOG_COMPACTOR, "log compaction"),
    "clean": (CLEANER, "clean"),
    "rollback": (ROLLBACKER, "rollback"),
    "restore": (RESTORER, "restore"),
}
RESIZE = (RESIZER, "resize")
"""Action of a plan -> the kind of actors that resume it, and its name in sentences."""


def outstanding(model: Model, state: State) -> Mapping[str, str]:
    """Return a sentence about each unfinished operation that must end, keyed by the operation's name.

    A pending plan need not complete unless a live actor can resume it. A failed write need not be removed unless a
    rollback actor is alive.
    """
    left = {name: f"{name} never finishes its operation" for name in model.busy(state)}
    # A cheap check first: in most states nothing is pending.
    owed = [instant for instant in model.pending(state) if instant.state != "completed"]
    if not owed:
        return left
    working = {model.component(state, name).requested for name in model.actors_of(WRITER) if name in left}
    alone = (*model.actors_of(OVERWRITER), *model.actors_of(CLUSTERER))
    plans = model.component(state, "plans")
    theirs = {plan.requested for plan in plans if plan.runner in alone}
    resizes = {plan.requested for plan in plans if resize_of(plan)}
    for action, requested in ((instant.action, instant.requested) for instant in owed):
        kind, what = RESIZE if requested in resizes else RESUMED_BY.get(action, (None, ""))
        if action == "compaction" and requested in theirs:
            continue  # No other actor resumes it, and its own actor is busy (listed above) or dead.
        # An actor that is alive and never gets its turn is excluded by fairness, not here.
        if kind and _has_live(model, state, kind):
            left[f"{action} {requested}"] = f"the {what} planned at t{requested} is never completed"
        elif action == "deltacommit" and _has_live(model, state, ROLLBACKER) and requested not in working:
            left[f"write {requested}"] = f"the failed write of t{requested} is never removed"
    return left


def _has_live(model: Model, state: State, kind: Kind) -> bool:
    return any(model.component(state, name).step != DEAD for name in model.actors_of(kind))


def limited(model: Model, state: State) -> str:
    """Return a phrase that names the actors, except writers, that could act if the world's limits were higher, or ''.
    """
    writers = model.actors_of(WRITER)
    return " and ".join(name for name in model.stopped_by_limits(state) if name not in writers)


def needs_lock(model: Model, step: Step) -> bool:
    """True if the step's transition has a guard that depends on the lock."""
    row = model.transition_of(step)
    return any("lock" in guard.reads for guard in row.guards)


def progress_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise PROGRESS at a state without a successor. For infinite runs, PROGRESS is checked by the search."""
    # A run that ends because the world allows no further operation shows nothing about protocols.
    if next(model.successors(after), None) is not None or limited(model, after):
        return None
    left = outstanding(model, after)
    return f"no step is possible any more, and {'; '.join(left.values())}" if left else None


PROGRESS = Promise(
    name="PROGRESS",
    about="Every plan completes, every failed write is removed, and no writer starves, in every fair run.",
    source="RFC-66, non-blocking; RFC-22, liveness of writers; docs/contract.md, PROGRESS",
    kind="run",
    holds=progress_holds,
    sometimes=lambda model, state: bool(model.component(state, "published")),
    reads=lambda model: ("published",),
    outstanding=outstanding,
    limited=limited,
    fair=lambda model, step: step.action not in UNFAIR,
    often=needs_lock,
)
