"""PROGRESS: what was begun comes to an end, in every run that is fair to those who live (docs/contract.md).

A promise about whole runs. It is judged where a run can go no further, or goes round for ever: what is outstanding
there will never happen. Crashes are never owed to anybody; everything else that stays possible happens one day.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..machine.state import State
from ..machine.transition import DEAD, Step
from ..model import Model
from .promise import Promise

UNFAIR = frozenset(("actor_crashes",))
"""Actions that may stay possible for ever and not happen."""

TAKEN_UP = {
    "compaction": ("compactor", "compaction"),
    "logcompaction": ("log_compactor", "log compaction"),
    "clean": ("cleaner", "clean"),
    "rollback": ("rollbacker", "rollback"),
    "restore": ("restorer", "restore"),
}
"""Who takes up a plan of this action, and what it is called."""


def outstanding(model: Model, state: State) -> Mapping[str, str]:
    """What must still happen, by name, each with the sentence that says so; empty where the goal is reached.

    A plan is owed where one lives who takes it up, a failed write's removal where somebody who rolls back does.
    """
    left = {name: f"{name} never gets to the end of what it does" for name in model.busy(state)}
    owed = [instant for instant in model.pending(state) if instant.state != "completed"]
    if not owed:
        return left
    working = {model.component(state, name).requested for name in model.actors_of("writer") if name in left}
    alone = (*model.actors_of("overwriter"), *model.actors_of("clusterer"))
    theirs = {plan.requested for plan in model.component(state, "plans") if plan.runner in alone}
    for action, requested in ((instant.action, instant.requested) for instant in owed):
        kind, what = TAKEN_UP.get(action, ("", ""))
        if action == "compaction" and requested in theirs:
            continue  # nobody else takes it up: who made it is busy, or dead
        if kind and _lives(model, state, kind):
            left[f"{action} {requested}"] = f"the {what} planned at t{requested} is never completed"
        elif action == "deltacommit" and _lives(model, state, "rollbacker") and requested not in working:
            left[f"write {requested}"] = f"the failed write of t{requested} is never removed"
    return left


def _lives(model: Model, state: State, kind: str) -> bool:
    return any(model.component(state, name).step != DEAD for name in model.actors_of(kind))


def limited(model: Model, state: State) -> str:
    """Who, of those that could help, only a limit of the world keeps from acting; empty if nobody."""
    writers = model.actors_of("writer")
    return " and ".join(name for name in model.stopped_by_limits(state) if name not in writers)


def progress_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """PROGRESS, where nothing can happen any more; runs that go round for ever are judged by the search."""
    if next(model.successors(after), None) is not None or limited(model, after):
        return None
    left = outstanding(model, after)
    return f"nothing can happen any more, and {'; '.join(left.values())}" if left else None


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
)
