"""Announced commits in runs that are longer than those which a search of all interleavings reaches by day."""

from __future__ import annotations

import pytest

from nbcc.model import Model, World
from nbcc.model.kernel.table import Plan
from nbcc.model.machine.transition import record_of
from nbcc.model.mechanisms.announcements.author import Deciding
from nbcc.model.mechanisms.cleaning.rules import Clean
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import Verdict, explore

ALONE = "w1"
RIVALS = ("w2", "w3", "w4")


class Run:
    """A run that a test leads, actor by actor. Each step is checked against the promise BOUNDED."""

    def __init__(self, model: Model) -> None:
        self.model, self.state, self.taken = model, model.initial, 0

    def lead(self, actor: str, before: str = "", steps: int = 100) -> bool:
        """Let an actor take at most so many steps, and stop before a given action. Return whether it can go on."""
        for _ in range(steps):
            step = next((each for each in self.model.enabled(self.state) if each.actor == actor), None)
            if step is None or step.action == before:
                return step is not None
            earlier, self.state, self.taken = self.state, self.model.apply(self.state, step), self.taken + 1
            broken = PROMISES["BOUNDED"].holds(self.model, earlier, step, self.state)
            assert broken is None, f"{broken}, in step {self.taken}"
        return True

    @property
    def entries(self) -> int:
        return len(self.model.component(self.state, "entries"))


def test_a_writer_with_three_rivals_fails_at_most_twice() -> None:
    """The rivals list as early as they can, before the writer announces. Then each creates an entry just before it."""
    run, most = Run(Model(World(actors={"writer": 4}, buckets=1), specs.protocol("free-commits"))), 0
    for actor in (ALONE, *RIVALS):
        run.lead(actor, before="writer_announces")
    for rival in RIVALS:
        run.lead(rival, steps=3)
    for rival in RIVALS:
        if not run.lead(ALONE, before="writer_creates_entry"):
            break
        there = run.entries
        while run.entries == there:
            run.lead(rival, steps=1)
        run.lead(ALONE, steps=1)
        most = max(most, record_of(run.model.component(run.state, ALONE), Deciding).failed)
    assert most == 2


def test_an_entry_decides_one_of_two_plans_and_the_other_compactor_begins_again() -> None:
    """The two compactors plan from different entries, so that both take the log of the first write."""
    run = Run(Model(specs.world("free_two_compactors"), specs.protocol("free-commits")))
    for _ in range(2):
        run.lead("w1", before="writer_finds_decided")
        run.lead("w1", steps=1)
        run.lead("c1", before="compactor_schedules_plan")
    run.lead("c1", steps=1)
    run.lead("c2", before="compactor_finds_refused")
    [plan] = run.model.component(run.state, "plans")
    assert plan.runner == "c1"
    run.lead("c2", steps=1)
    assert run.model.component(run.state, "c2").step == "idle"
    assert run.lead("c1", before="compactor_starts_plan")


def test_an_entry_decides_a_compaction_and_the_cleaner_begins_again() -> None:
    """The clean and the second compaction are planned from the same entry, at two times that it reserves."""
    run = Run(Model(specs.world("free_cleaning"), specs.protocol("free-commits")))
    run.lead("w1", before="writer_finds_decided")
    run.lead("c1")
    run.lead("w1")
    run.lead("clean1", before="cleaner_schedules_clean")
    run.lead("c1", before="compactor_learns_tail")
    run.lead("clean1", before="cleaner_learns_tail")
    *_, plan, clean = sorted(run.model.component(run.state, "announced"), key=lambda each: each.requested)
    assert isinstance(plan, Plan)
    assert isinstance(clean, Clean)
    run.lead("c1", before="compactor_finds_decided")
    run.lead("clean1", before="cleaner_finds_refused")
    assert not run.model.component(run.state, "cleans")
    run.lead("clean1", steps=1)
    assert run.model.component(run.state, "clean1").step == "idle"
    assert run.lead("clean1", before="cleaner_starts_clean")
    assert run.model.component(run.state, "cleans")


def test_an_entry_decides_a_clean_and_the_savepointer_begins_again() -> None:
    """The savepointer has found the files of the first write, and stands still before it announces them."""
    run = Run(Model(specs.world("free_savepoints"), specs.protocol("free-commits")))
    run.lead("w1", before="writer_finds_decided")
    run.lead("c1", before="compactor_announces")
    run.lead("save1", before="savepointer_announces")
    for actor in ("c1", "w1", "clean1"):
        run.lead(actor)
    assert run.model.component(run.state, "deleted")
    run.lead("save1", before="savepointer_finds_refused")
    [inflight] = run.model.component(run.state, "savepoints")
    assert inflight.completed is None
    run.lead("save1", steps=1)
    assert run.model.component(run.state, "savepoints") == ()
    run.lead("save1")
    [saved] = run.model.component(run.state, "savepoints")
    assert saved.requested > inflight.requested


@pytest.mark.nightly
def test_two_compactors_keep_every_promise() -> None:
    found = explore(Model(specs.world("free_two_compactors"), specs.protocol("free-commits")), list(PROMISES.values()))
    assert Verdict.VIOLATED not in {each.verdict for each in found.promises.values()}
    assert found.promises["PART"].verdict is found.promises["BOUNDED"].verdict is Verdict.HOLDS


def test_a_world_of_several_compactors_that_crash_is_refused() -> None:
    with pytest.raises(ValueError, match="not modelled with crashes of one of several compactors"):
        Model(specs.world("free_two_compactors").replace(crashes=1), specs.protocol("free-commits"))


def test_a_write_that_requests_an_earlier_time_after_a_restore_stays() -> None:
    """No lock orders the request and the restore: the write completes later, even if its requested time is earlier."""
    alone = specs.world("free_restores").replace(actors={"writer": 1, "savepointer": 1, "restorer": 1})
    world = alone.replace(writes_per_writer=3)
    found = explore(Model(world, specs.protocol("free-commits")), [PROMISES["REC"]])
    assert found.promises["REC"].verdict is Verdict.HOLDS
    assert found.distinct > 30_000
