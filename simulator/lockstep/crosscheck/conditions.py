"""Computes the rows that a delete or an update by a condition writes, from the state that its writer reads in the
model. In histories, the condition is true of every row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Query, Record, Step
from nbcc.model.kernel.timeline import SETTLED
from nbcc.model.mechanisms.conditions import DELETE, FINDS, verb_of

from ...observables import Batch


def computed_batch(model: Any, state: Any, step: Step, data: Mapping[int, Batch]) -> Batch | None:
    """Return the rows that the writer of `step` writes after it has read the table; None if the step does not read it.
    """
    if step.action not in FINDS.values():
        return None
    actor, time = step.actor, model.view(state, SETTLED, step.actor)
    number = model.component(state, actor).number + 1
    # Time 0: nothing has completed, and a read as of it would be refused.
    rows: Mapping[Any, Any] = model.rows(state, Query("as_of", until=time), data) if time else {}
    deletes, groups = verb_of(model.world, actor) == DELETE, _groups(data)
    batch: dict[tuple[int, int], dict[str, Record]] = {file: {} for file in model.world.files(actor, number)}
    for key, row in rows.items():
        # A file that the world does not have may be added here: `is_possible` then leaves the step out.
        batch.setdefault((groups[key], 1), {})[key] = Record(row.ordering, f"{actor}.{number}", deleted=deletes)
    return batch


def _groups(data: Mapping[int, Batch]) -> dict[str, int]:
    return {key: group for batch in data.values() for (group, _), records in batch.items() for key in records}


def is_possible(model: Any, state: Any, step: Step, data: Mapping[int, Batch]) -> bool:
    """False for a read after which an engine would write other files than the model: it puts no file without a row."""
    batch = computed_batch(model, state, step, data)
    if batch is None:
        return True
    files = model.world.files(step.actor, model.component(state, step.actor).number + 1)
    return batch.keys() == {*files} and all(batch.values())
