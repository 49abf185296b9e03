"""Writers that announce, and decide without a lock: model and engine agree at every request; broken authors are seen.

`tests/quality/test_mutants.py` plays the same histories against the named mutants of the engine.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from nbcc.model import Protocol, World
from nbcc.model.mechanisms import parallel_publication
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.crosscheck.tour import tour
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.users_factory import CannotPlay
from tests.builders import by_day

FREE, SHARED = specs.protocol("free-commits"), specs.protocol("shared-commits")
PARALLEL = specs.protocol("parallel-commits")
OPTIMISTIC = Protocol(decision="free", concurrency="occ")
THREE, COMPACTED = specs.world("free_three_writers"), specs.world("free_compaction")
UNDONE = specs.world("free_rollback")
TWICE = World(actors={"writer": 2}, buckets=2, writes_per_writer=2)
READ = World(actors={"writer": 2, "reader": 1}, buckets=1, writes_per_writer=2, crashes=1)
PLANNED = World(actors={"writer": 2, "compactor": 1}, buckets=2, writes_per_writer=2, compactions=2, crashes=1)
ROLLED_BACK = World(actors={"writer": 2, "rollbacker": 1, "reader": 1}, buckets=1, writes_per_writer=2, crashes=1,
                    stalls=1, rollbacks=2)  # fmt: skip
RESTORED = World(actors={"writer": 2, "savepointer": 1, "restorer": 1, "reader": 1}, buckets=1, writes_per_writer=2,
                 crashes=1, savepoints=1, restores=1)  # fmt: skip
SERVICES = World(actors={"writer": 2, "compactor": 1, "rollbacker": 1}, buckets=1, writes_per_writer=2,
                 compactions=2, crashes=1, stalls=1, rollbacks=2)  # fmt: skip
CLEANED = World(actors={"writer": 2, "compactor": 1, "cleaner": 1, "reader": 1}, buckets=1, writes_per_writer=3,
                compactions=2, cleans=2, commits_retained=1, crashes=1)  # fmt: skip
QUERIED = World(actors={"writer": 2, "compactor": 1, "cleaner": 1, "querier": 1}, buckets=1, writes_per_writer=2,
                compactions=2, cleans=1, commits_retained=1, queries=3)  # fmt: skip
LOSING = "nbcc.simulator.lockstep.systems.s3:losing_answers"


def agrees(world: World, protocol: Protocol, histories: int, system: str = "engine") -> None:
    histories = by_day.amount(histories, 100)
    report = run(
        CheckOptions(factory(system), protocol=protocol, world=world, readers=()),
        examples=histories, seed=0, shrinks=False,
    )  # fmt: skip
    assert report.disagreement is None, report.text
    assert report.histories >= histories


@pytest.mark.parametrize(
    ("world", "histories"),
    [(THREE, 10), (TWICE, 5), (READ, 5), (PLANNED, 10), (ROLLED_BACK, 10), (SERVICES, 15), (RESTORED, 10),
     (CLEANED, 15), (QUERIED, 10)],
    ids=["with a crash", "two writes", "with a reader", "with a compactor", "with a rollbacker", "with both services",
         "with a restorer", "with a cleaner", "with a querier"],
)
def test_engine_and_model_agree_on_commits_without_a_lock(world: World, histories: int) -> None:
    agrees(world, FREE, histories)


def test_the_rarest_runs_of_a_tour_with_a_cleaner_agree() -> None:
    """Random histories seldom clean, because a compaction must end before the last write."""
    world = specs.world("free_cleaning").replace(compactions=1)
    options = CheckOptions(factory("engine"), protocol=FREE, world=world, readers=())
    report = tour(options, share=1.0 if by_day.NIGHTLY else 0.05)
    assert report.disagreement is None, report.text
    assert report.edges > 200


@pytest.mark.parametrize(
    ("world", "histories"), [(THREE, 8), (ROLLED_BACK, 8), (PLANNED, 5)],
    ids=["with a crash", "with a rollbacker", "with a compactor"],
)
def test_engine_and_model_agree_on_parallel_publication(world: World, histories: int) -> None:
    agrees(world, PARALLEL, histories)


def test_readers_agree_while_instants_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some history leaves an instant missing before a later one, so that readers have something to ignore."""
    missing, settled = list[int](), parallel_publication.settled_items

    def counted(entry: Any, left: Iterable[Any]) -> Any:
        found = [*left]
        missing.extend([len(found)] if 0 < len(found) < len(entry.items) and entry.items[0] in found else [])
        return settled(entry, found)

    monkeypatch.setattr(parallel_publication, "settled_items", counted)
    agrees(READ, PARALLEL, 15)
    assert missing


@pytest.mark.parametrize("world", [THREE, TWICE, READ], ids=["with a crash", "two writes", "with a reader"])
def test_engine_and_model_agree_on_optimistic_commits_without_a_lock(world: World) -> None:
    agrees(world, OPTIMISTIC, 10)


@pytest.mark.parametrize(
    ("world", "histories"), [(THREE, 8), (READ, 8), (PLANNED, 8), (ROLLED_BACK, 8), (SERVICES, 15)],
    ids=["with a crash", "with a reader", "with a compactor", "with a rollbacker", "with both services"],
)  # fmt: skip
def test_engine_and_model_agree_on_commits_that_the_holder_of_the_lock_decides(world: World, histories: int) -> None:
    agrees(world, SHARED, histories)


@pytest.mark.parametrize(
    ("world", "protocol"), [(COMPACTED, FREE), (UNDONE, FREE), (RESTORED, FREE), (TWICE, OPTIMISTIC), (THREE, SHARED),
     (SERVICES, SHARED), (THREE, PARALLEL)],
    ids=["compaction", "rollback", "restore", "optimistic", "shared", "services under shared", "parallel"],
)  # fmt: skip
@pytest.mark.parametrize("system", ["s3", LOSING], ids=["some requests fail", "every answer to a put is lost"])
def test_announced_commits_agree_on_an_object_store(world: World, protocol: Protocol, system: str) -> None:
    agrees(world, protocol, 3, system)


def test_what_no_history_plays_is_refused() -> None:
    with pytest.raises(CannotPlay, match="of a cutter that announces"):
        factory("engine")(specs.world("free_cut"), FREE, {})
    with pytest.raises(CannotPlay, match="use --on engine or --on s3"):
        factory("spark")(THREE, FREE, {})
    with pytest.raises(CannotPlay, match="play one compactor"):
        factory("engine")(specs.world("free_two_compactors"), FREE, {})
    with pytest.raises(CannotPlay, match="begins again in one call"):
        factory("engine")(specs.world("free_savepoints"), FREE, {})
    with pytest.raises(CannotPlay, match="play one restorer"):
        factory("engine")(World(actors={"writer": 1, "savepointer": 1, "restorer": 2}, savepoints=1), FREE, {})
