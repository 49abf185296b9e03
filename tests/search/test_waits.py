"""WAIT: which states it refuses, with and without reductions, and that it is judged after the search."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES, waits
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore

WAIT = PROMISES["WAIT"]
COMPACTED = World(actors={"writer": 2, "compactor": 1}, compactions=1)
CLEANED = World(
    actors={"writer": 1, "compactor": 1, "cleaner": 1}, writes_per_writer=2, cleans=1, commits_retained=1
)  # fmt: skip
REFUSED = {
    "compaction-holds-the-lock": (
        COMPACTED, 7, "c1 writes the base of group 0 while it holds the lock: every writer waits for that",
    ),
    "write-holds-the-lock": (
        COMPACTED, 2, "w1 writes log version 1 of group 0 while it holds the lock: every writer waits for that",
    ),
    "write-waits-for-compaction": (
        COMPACTED, 7, "w2 cannot go on: no compaction must be pending; before that, c1 writes the base of group 0",
    ),
    "clean-holds-the-lock": (
        CLEANED, 19,
        "clean1 deletes the superseded files of group 0 while it holds the lock: every writer waits for that",
    ),
    "lock-kept-after-publishing": (
        COMPACTED, 4, "w1 holds the lock, and does not release it by any step of its own",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_a_mutant_is_refused_with_and_without_reductions(name: str, reduced: bool) -> None:
    world, steps, because = REFUSED[name]
    with mutants.applied(mutants.load(name)):
        model = Model(world)
        found = explore(model, [WAIT], reduce=reduced, until_all_broken=True).promises["WAIT"]
        assert (found.verdict, found.steps) == (Verdict.VIOLATED, steps)
        assert found.because in (because, because.replace("w1", "w2"))
        state = model.initial
        for step in found.trace or ():
            assert WAIT.holds(model, None, None, state) is None
            state = model.apply(state, step)
        assert WAIT.holds(model, None, None, state) == found.because


def test_a_writer_that_must_wait_before_it_begins_is_found() -> None:
    """It is idle, has a write left, and the lock is free."""
    idle = mutants.load("write-waits-for-compaction")
    idle = replace(idle, with_=idle.with_.replace("writer_takes_lock", "writer_requests_instant"))
    with mutants.applied(idle):
        model = Model(World(actors={"writer": 1, "compactor": 1}, writes_per_writer=2))
        found = explore(model, [WAIT]).promises["WAIT"]

    assert found.steps == 7
    assert found.because == "w1 cannot go on: no compaction must be pending; before that, c1 writes the base of group 0"


def test_a_lock_that_is_held_for_too_many_steps_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "UNDER_LOCK", 1)
    found = explore(Model(COMPACTED), [WAIT]).promises["WAIT"]

    assert found.because == "w1 holds the lock for more than 1 of its steps"


@pytest.mark.parametrize("protocol", [Protocol(), Protocol(concurrency="occ"), Protocol(decision="log")])
def test_it_holds_where_a_lock_is_lost_and_a_holder_dies(protocol: Protocol) -> None:
    losses = 0 if protocol.to_mapping()["concurrency"] == "occ" else 1
    world = World(actors={"writer": 2, "compactor": 1}, crashes=1, lock_losses=losses)

    assert explore(Model(world, protocol), [WAIT], reduce=True).promises["WAIT"].verdict is Verdict.HOLDS


def test_a_wait_for_a_few_steps_without_files_is_no_violation() -> None:
    """A guard reads another writer, which needs one step without data files to satisfy it."""
    short = mutants.load("write-waits-for-compaction")
    starts = 'lambda every_writer: all(each.step != "requested" for each in every_writer.values())'
    short = replace(short, with_=short.with_[: short.with_.index("lambda plans")] + starts + ")))")
    with mutants.applied(short):
        assert explore(Model(World(actors={"writer": 2})), [WAIT]).promises["WAIT"].verdict is Verdict.HOLDS
