"""BOUND: what it refuses, and three services at once in one searched world."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nbcc.model import Model, World
from nbcc.model.promises import PROMISES
from nbcc.simulator.search import mutants
from nbcc.simulator.search.explore import Verdict, explore

from .bounds import BOUND

TWO_DAEMONS = World(actors={"writer": 1, "compactor": 2}, writes_per_writer=2, compactions=3)
FAILED = World(actors={"writer": 1, "rollbacker": 1}, crashes=1, rollbacks=1)
SERVED = World(
    actors={"writer": 1, "compactor": 1, "cleaner": 1, "archiver": 1}, buckets=1, writes_per_writer=2, compactions=2,
    cleans=1, commits_retained=1, archives=1, instants_retained=1,
)  # fmt: skip
PLANNING = "nbcc.model.kernel.planning:PlanningRules.may_plan"
ROLLBACK = "nbcc.model.mechanisms.rollback.rollbacker:failed_write"
REFUSED = {
    "a service plans what is pending": (
        TWO_DAEMONS, PLANNING, "lambda rules, table, group: True",
        "group 0 is in 2 pending plans: a service plans what is planned, without a bound",
    ),
    "a service plans once": (
        TWO_DAEMONS, PLANNING, "lambda rules, table, group: not table.plans",
        "no step is possible any more, and the newest slice of group 0 has completed logs that a compactor could merge",
    ),
    "a failed write is never found": (
        FAILED, ROLLBACK, "__import__('functools').wraps(original)(lambda *_, **__: None)",
        "no step is possible any more, and the failed write of t1 is left",
    ),
}  # fmt: skip


@pytest.mark.parametrize("reduced", [False, True])
@pytest.mark.parametrize("case", REFUSED)
def test_a_service_that_leaves_or_adds_without_a_bound_is_refused(case: str, reduced: bool) -> None:
    world, function, with_, because = REFUSED[case]
    assert explore(Model(world), [BOUND], reduce=reduced).promises["BOUND"].verdict is Verdict.HOLDS
    mutant = replace(mutants.load("write-waits-for-compaction"), replace=function, with_=with_)
    with mutants.applied(mutant):
        judged = explore(Model(world), [BOUND], reduce=reduced, until_all_broken=True).promises["BOUND"]
    assert (judged.verdict, judged.because) == (Verdict.VIOLATED, because)


def test_three_services_at_once_keep_their_promises() -> None:
    """A compactor, a cleaner and an archiver run while a writer writes: every interleaving."""
    names = ("SNAP", "TRAVEL", "INCR", "QUIET", "PART", "CLEAN", "RETAIN", "ARCH", "PROGRESS")
    result = explore(Model(SERVED), [BOUND, *(PROMISES[name] for name in names)])
    assert {name: promise.verdict for name, promise in result.promises.items()} == dict.fromkeys(
        ("BOUND", *names), Verdict.HOLDS
    )
