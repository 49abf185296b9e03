"""USEFUL, SAVED and ARCH: each clause refuses a mutant, in its own words, with and without reductions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Result, Verdict
from nbcc.simulator.search.jobs import SearchJob

CANNOT_ACT = "{0} is due, {1} is idle and the lock is free, but {1} cannot act"
REFUSED = {
    "compactor-never-plans": ("demo", "USEFUL", CANNOT_ACT.format("compacting group 0", "c1")),
    "compactor-waits-for-writers": ("demo", "USEFUL", CANNOT_ACT.format("compacting group 0", "c1")),
    "compaction-leaves-out-a-group": (
        "groups_compacted", "USEFUL", "compacting group 1 is due, and the plan of c1 leaves it out",
    ),
    "compactor-goes-on-without-input": (
        "restores_compacted", "USEFUL", "c1 goes on with its plan of t6, and log 1 of t4 in group 0 is deleted",
    ),
    "log-compactor-never-plans": ("log_compaction", "USEFUL", CANNOT_ACT.format("compacting group 0", "logc1")),
    "cleaner-never-plans": (
        "cleaning", "USEFUL", CANNOT_ACT.format("deleting log 1 of t1 in group 0", "clean1"),
    ),
    "clean-deletes-nothing": (
        "cleaning", "USEFUL", "the clean of t7 is completed, and log 1 of t1 in group 0 is there",
    ),
    "archiver-archives-nothing": (
        "archiving", "USEFUL", CANNOT_ACT.format("archiving the instant of t1", "arch1"),
    ),
    "archive-takes-newest-clean": (
        "archiving_cleans", "ARCH",
        "the newest clean, of t5, has left the active timeline: readers do not find its horizon",
    ),
    "archive-takes-restores": (
        "archiving_restores", "ARCH",
        "the restore of t5 has left the active timeline: readers do not find what it undid",
    ),
    "archive-takes-last-decision": (
        "rollback_archived", "ARCH", "the last decided instant, of t2, has left the active timeline",
    ),
    "restore-to-the-oldest-savepoint": (
        "restores_two_savepoints", "SAVED",
        "rest1 restores the state of t2, and the newest savepoint pins that of t5",
    ),
    "savepoint-without-covered-logs": (
        "savepoints_log_compaction", "SAVED",
        "the savepoint of t5 does not name log 1 of t1 in group 0, which its state needs",
    ),
}  # fmt: skip


def searched(name: str, world: str, promise: str, *, reduced: bool) -> Result:
    under = Protocol.from_mapping({**mutants.load(name).protocol})
    job = SearchJob(world=world, protocol=under, promises=(promise,), reduce=reduced)
    assert job.run().promises[promise].verdict is Verdict.HOLDS
    return replace(job, mutant=name).run(until_all_broken=True)


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("name", REFUSED)
def test_each_clause_refuses_its_mutant(name: str, reduced: bool) -> None:
    world, promise, because = REFUSED[name]
    found = searched(name, world, promise, reduced=reduced).promises[promise]
    assert (found.verdict, found.because) == (Verdict.VIOLATED, because)


def test_the_change_log_is_judged_by_both_of_its_states() -> None:
    """The before-image too, which no other read shows."""
    world = World(actors={"writer": 1}, writes_per_writer=2)
    result = SearchJob(world=world, mutant="change-log-of-an-earlier-state").run()
    assert [name for name, each in result.promises.items() if each.verdict is Verdict.VIOLATED] == ["CDC"]


@pytest.mark.parametrize("world", ["core_small", "crash_resume", "savepoints_log_compaction"])
def test_a_promise_about_services_leaves_the_reduction_as_it_is(world: str) -> None:
    """USEFUL reads the state of its services only after the search, so that their private steps stay private."""
    others = tuple(name for name in PROMISES if name != "USEFUL")
    sizes = [SearchJob(world=world, promises=names, reduce=True).run().distinct for names in (others, ())]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("world", ["appended_logs", "sent_again", "endless"])
def test_a_world_without_services_is_not_judged(world: str) -> None:
    unfit = PROMISES["USEFUL"].unfit
    assert unfit is not None
    assert unfit(Model(specs.world(world))) is not None
