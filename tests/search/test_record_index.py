"""Inserts under a record index: the key of two writers has one home, and each rule of the index is needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.machine.state import State
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore

from .pins import SIZES

STEPS: dict[str, tuple[str, int]] = {
    "record-index-own-logs-alone": ("SNAP", 14),
    "record-index-others-show": ("KEY", 14),
    "record-index-first-requested": ("SNAP", 21),
    "record-index-failed-write-found": ("SNAP", 10),
    "record-index-base-alone": ("SNAP", 19),
    "record-index-home-alone-kept": ("SNAP", 19),
    "record-index-pending-taken": ("SNAP", 22),
    "record-index-moved-unchecked": ("KEY", 14),
}
"""Each mutant of inserts, the promise that it breaks, and the length of a shortest run that shows it."""

PAGE = Path(__file__).parents[2] / "docs" / "record-index.md"

LARGE = ("record_index_compacted", "record_index_rollback", "record_index_three_writers", "record_index_updated")
"""Worlds that are searched at night."""


def cases() -> list[Any]:
    """World, design and promise of each mutant, once."""
    loaded = map(mutants.load, STEPS)
    places = {(m.world, m.protocol.get("inserts", "first_completed"), m.breaks) for m in loaded}
    return [pytest.param(*each, marks=pytest.mark.nightly if each[0] in LARGE else ()) for each in sorted(places)]


@pytest.mark.parametrize(("world", "design", "promise"), cases())
def test_inserts_keep_their_promises(world: str, design: str, promise: str) -> None:
    model = Model(specs.world(world), Protocol(inserts=design))
    found = explore(model, [PROMISES[promise]]).promises[promise]
    assert found.verdict is Verdict.HOLDS, found.because


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=pytest.mark.nightly if mutants.load(name).world in LARGE else ()) for name in STEPS
])  # fmt: skip
def test_a_mutant_breaks_its_promise_in_so_many_steps(name: str) -> None:
    mutant, (promise, steps) = mutants.load(name), STEPS[name]
    with mutants.applied(mutant):
        model = Model(specs.world(mutant.world), Protocol.from_mapping(mutant.protocol))
        assert explore(model, [PROMISES[promise]], until_all_broken=True).promises[promise].steps == steps


def test_a_clean_keeps_a_forwarded_record() -> None:
    """The file group of a forwarded record is compacted and cleaned while the compaction of its home is pending."""
    writes = {("w1", 1): (0, 0, 1), ("w1", 2): (0, 1, 1), ("w1", 3): (1, 0, 0)}
    limits = {"writes_per_writer": 3, "compactions": 2, "cleans": 1, "commits_retained": 1}
    actors = {"writer": 1, "compactor": 2, "cleaner": 1}
    model = Model(World(actors=actors, buckets=3, new_keys=1, writes=writes, **limits))
    state = model.initial
    for actor, last, file_group in (
        ("w1", "writer_publishes_instant", 0),
        ("c1", "compactor_schedules_plan", None),
        ("w1", "writer_publishes_instant", 1),
        ("c2", "compactor_publishes_instant", None),
        ("w1", "writer_publishes_instant", None),
        ("clean1", "cleaner_publishes_instant", None),
    ):
        state = act(model, state, actor, last, file_group)
        assert PROMISES["CLEAN"].holds(model, None, None, state) is None


def act(model: Model, state: State, actor: str, last: str, file_group: int | None) -> State:
    """Let one actor act until it has taken the action `last`; it inserts new keys into `file_group`."""
    while True:
        steps = [each for each in model.enabled(state) if each.actor == actor]
        inserts = [each for each in steps if each.args == (("file_group", file_group),)]
        step = (inserts or steps)[0]
        state = model.apply(state, step)
        if step.action == last:
            return state


def test_the_page_has_the_sizes_of_the_worlds_and_the_steps_of_the_mutants() -> None:
    """The sizes and the lengths of the stored runs are pinned; those of the mutants are searched by this module."""
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in lines if line.startswith("| `")]
    sizes = {name: f"{SIZES['worlds'][name]['distinct']:,}" for name, *_ in rows if name not in STEPS}
    assert {name: states for name, states, _ in rows if name not in STEPS} == sizes
    assert {name: (promise, int(steps)) for name, promise, steps in rows if name in STEPS} == STEPS
    text = " ".join(" ".join(lines).split())
    broken = SIZES["protocols"]
    assert f"KEY after {broken['inserts-unchecked']['violated']['KEY']} steps ([run 105]" in text
    assert f"SNAP after {broken['inserts-by-newest-location']['violated']['SNAP']} steps ([run 106]" in text
