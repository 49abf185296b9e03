"""Assigns random records of one key to the logs of a world, and computes which record each base file keeps."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from nbcc.model import Model, State
from nbcc.model.kernel.merge import Ranked, evaluate
from nbcc.model.promises.view import view_of
from nbcc.simulator.search.prove.lemmas import state as core

from .finite import Instance, Table


def with_records(elements: Instance, seed: int) -> Instance:
    """Return a copy of the instance in which about 80% of the logs contain a random record (row or delete) of the same
    key.
    """
    draw = random.Random(seed)
    records: Table = {}
    for log in elements.elements[core.LOG]:
        records |= {("record", log): draw.random() < 0.8, ("ordering", log): draw.randint(1, 3),
                    ("deleted", log): draw.random() < 0.4}  # fmt: skip
    return replace(elements, fixed={**elements.fixed, **records})


def interpret(
    model: Model, state: State, elements: Instance, facts: Table, place: dict[int, int], by_time: dict[int, Any]
) -> None:
    """For each base file, add to `facts` the record that wins in the model's merge, and the record that the base file
    keeps.

    `place` maps the requested time of each plan to the integer that identifies the plan in `facts`. `by_time` maps
    requested times to writes.
    """
    records = elements.fixed
    if not any(key[0] == "record" for key in records):
        return
    view = view_of(model, state)
    for group in elements.elements[core.GROUP]:

        def record_of(log: tuple[int, int], group: int = group) -> Ranked | None:
            element = (*by_time[log[0]], group, log[1])
            if not records["record", element]:
                return None
            return Ranked(records["ordering", element], 0.0, records["deleted", element], element)

        for barrier, shape in view.bases(group):
            winner = evaluate(shape, record_of, model.merger._replace(keeps_tombstones=True))
            if winner is not None:
                facts["won", place[barrier], winner.content] = True
            left = evaluate(shape, record_of, model.merger)
            # A merge drops the delete of a base file when it reads the file, so that the file counts as without it.
            if left is not None and (model.merger.keeps_tombstones or not left.deleted):
                facts["kept", place[barrier], left.content] = True
