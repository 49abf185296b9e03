"""Promise SAME: reads through derived objects, such as state checkpoints, return the same answers as reads of all
commits.
"""

from __future__ import annotations

from math import inf

from ..machine.state import State
from ..machine.transition import Step
from ..mechanisms.state_checkpoints import CHECKPOINTER, StateCheckpoint, holds_after, table_through
from ..model import Model
from .compare import one_against_other
from .promise import Promise
from .view import answered_times, distinct_times, on_table, view_of


def same_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """Check promise SAME: snapshots, and reads as of retained times, have the same answers with and without a state
    checkpoint.
    """
    view, restores = view_of(model, after), model.restores(after)
    for checkpoint in _checkpoints(model, after):
        # A newer restore has undone writes of the checkpoint, and readers drop it.
        if not holds_after(model.rules, checkpoint, restores):
            continue
        # Reads as of an earlier time do not use the checkpoint.
        times = [inf, *(t for t in distinct_times(view, answered_times(model, after)) if t >= checkpoint.time)]
        for time in times:
            seen = table_through(model.rules, checkpoint, view.table, time)
            for group in view.groups:
                through = model.rules.as_of(seen, group, inf)
                if change := one_against_other(view, group, view.as_of(group, time), through):
                    what = "the snapshot" if time == inf else f"the read as of t{time}"
                    return f"through the state checkpoint of t{checkpoint.time} {what} changed {change}"
    return None


def _checkpoints(model: Model, state: State) -> tuple[StateCheckpoint, ...]:
    found: tuple[StateCheckpoint, ...] = model.component(state, "state_checkpoints")
    return found


def _has_later_write(model: Model, state: State) -> bool:
    writes, restores = view_of(model, state).completions, model.restores(state)
    return any(
        holds_after(model.rules, checkpoint, restores) and (write.completed or 0) > checkpoint.time
        for checkpoint in _checkpoints(model, state)
        for write in writes
    )


SAME = Promise(
    name="SAME",
    about="A read through a state checkpoint equals the read of all commits, for the snapshot and every retained time.",
    source="docs/contract.md, SAME; RFC-22, Updating Metadata Table",
    kind="state",
    holds=same_holds,
    sometimes=_has_later_write,
    reads=lambda model: (*on_table(model), "state_checkpoints") if model.actors_of(CHECKPOINTER) else ("published",),
    unfit=lambda model: None if model.actors_of(CHECKPOINTER) else "the world has no checkpointer",
)
