"""hudi-rs in a run in which a log compaction takes the last write by completion, which is not the last by request."""

from __future__ import annotations

import random

import pytest

from nbcc.model import Model, Protocol, Step, World
from nbcc.simulator.lockstep.crosscheck import readers
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.crosscheck.readers import hudi_rs
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.mapping import MAPPING
from nbcc.simulator.lockstep.systems.registry import factory

WORLD = World.from_mapping({
    "table": {"merge_mode": "COMMIT_TIME_ORDERING"},
    "actors": {"writer": 3, "log_compactor": 1},
    "limits": {"log_compactions": 1, "writes_per_writer": 1},
    "data": {"keys": 1, "orderings": 1},
})  # fmt: skip


def steps_of(model: Model, *program: tuple[str, str]) -> list[Step]:
    """The first possible steps of each actor, up to the action that the program names for it."""
    state, steps = model.initial, list[Step]()
    for actor, action in program:
        while not steps or (steps[-1].actor, steps[-1].action) != (actor, action):
            step, state = next(model.successors_of(state, actor))
            steps.append(step)
    return steps


def test_a_compacted_log_has_the_rank_of_its_last_input_in_the_readers_order() -> None:
    """w3 and w1 become one log; w2, requested between them, completes last. By request w3's row is newer than w2's."""
    model = Model(WORLD)
    [compactor] = model.actors_of("log_compactor")
    requests = [(writer, "writer_requests_instant") for writer in ("w1", "w2", "w3")]
    done = [(writer, "writer_publishes_instant") for writer in ("w3", "w1")]
    last = [(compactor, "log_compactor_publishes_instant"), ("w2", "writer_publishes_instant")]
    batches = draw_batches(lambda n: 0, WORLD)
    history = PlayedHistory(model, factory("engine")(WORLD, Protocol(), batches), batches, MAPPING)
    for step in steps_of(model, *requests, *done, *last):
        history.take(step)

    tally = Tally()
    hudi_rs(history, tally)

    assert any("merge_order = requested" in rule for rule in tally.differences), "hudi-rs returns another row"
    assert not tally.skipped


ROLLED_BACK = World.from_mapping({
    "actors": {"writer": 2, "rollbacker": 1},
    "limits": {"stalls": 1, "rollbacks": 1, "writes_per_writer": 1},
    "data": {"keys": 2, "orderings": 1},
})  # fmt: skip


def test_only_the_keys_of_a_late_file_are_left_out() -> None:
    """w1 writes its log after its rollback. hudi-rs takes the log for archived, since no commit is older."""
    model = Model(ROLLED_BACK)
    [rollbacker] = model.actors_of("rollbacker")
    state, steps = model.initial, list[Step]()
    program = [
        ("w1", "writer_starts_writing"), ("w1", "heartbeat_expires"), (rollbacker, "rollbacker_publishes_instant"),
        ("w2", "writer_publishes_instant"), ("w1", "writer_writes_log"),
    ]  # fmt: skip
    for actor, action in program:
        while not steps or (steps[-1].actor, steps[-1].action) != (actor, action):
            possible = [found for found in model.successors(state) if found[0].actor == actor]
            wanted = [found for found in possible if found[0].action == action]
            others = [found for found in possible if "expires" not in found[0].action]
            step, state = (wanted or others)[0]
            steps.append(step)
    batches = draw_batches(lambda n: 0, ROLLED_BACK)
    history = PlayedHistory(model, factory("engine")(ROLLED_BACK, Protocol(), batches), batches, MAPPING)
    for step in steps:
        history.take(step)

    tally = Tally()
    hudi_rs(history, tally)

    assert tally.skipped["hudi-rs: keys of a file older than the first commit (a finding, the boundary)"]


REPLACED = World.from_mapping({
    "actors": {"writer": 1, "overwriter": 1},
    "limits": {"writes_per_writer": 1, "compactions": 0},
    "data": {"keys": 2, "orderings": 1},
})  # fmt: skip


def test_the_keys_of_a_pending_replace_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The base file of the replace is older than the first commit, so hudi-rs takes it for archived."""
    model = Model(REPLACED)
    batches = draw_batches(random.Random(1).randrange, REPLACED)  # of two keys
    history = PlayedHistory(model, factory("engine")(REPLACED, Protocol(), batches), batches, MAPPING)
    for step in steps_of(model, ("over1", "overwriter_writes_base"), ("w1", "writer_publishes_instant")):
        history.take(step)

    tally = Tally()
    hudi_rs(history, tally)

    assert tally.skipped["hudi-rs: keys of a file older than the first commit (a finding, the boundary)"]
    assert tally.skipped["hudi-rs: a window with the base file of a pending replace (the boundary)"]
    monkeypatch.setattr(readers, "_replaces_taken_for_archived", lambda history, place: [])
    with pytest.raises(Disagreement, match="by hudi-rs"):
        hudi_rs(history, Tally())
