"""RFC-22's test plan as worlds: table type x concurrency mode x clean-up of failed writes x with and without metadata
table, with an incremental pull.

Asynchronous cleaning is a cleaner concurrent with the writers. Rows with a metadata table are the model's alone: the
engine writes no such table. What the RFC says it does not promise is shown broken, with the interleaving.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.promises.isolation import ANOMALIES
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, run
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search.explore import Verdict, explore

from .pins import search, violated

MODES: dict[str, dict[str, Any]] = {
    "single writer": {"actors": {"writer": 1}, "writes_per_writer": 2},
    "overlapping": {"actors": {"writer": 2}, "retries": 1},
    "non-overlapping": {"actors": {"writer": 2}, "buckets": 2, "writes": {("w1", 1): (1, 0), ("w2", 1): (0, 1)}},
}
CONCURRENCY = {"single writer": "single_writer", "overlapping": "occ", "non-overlapping": "occ"}
OPTIMISTIC = [mode for mode, concurrency in CONCURRENCY.items() if concurrency == "occ"]
ROWS = [
    (table, mode, policy)
    for table, mode, policy in product(("COPY_ON_WRITE", "MERGE_ON_READ"), MODES, ("lazy", "eager"))
]  # fmt: skip


def of(table: str, mode: str, policy: str, metadata: int = 0) -> tuple[World, Protocol]:
    merged = "COMMIT_TIME_ORDERING" if table == "COPY_ON_WRITE" else "EVENT_TIME_ORDERING"
    world = World(table_type=table, merge_mode=merged, metadata_table=metadata, **MODES[mode])
    return world, Protocol.from_mapping({"concurrency": CONCURRENCY[mode], "failed_writes": policy})


@pytest.mark.parametrize("metadata", [0, 1], ids=["without metadata table", "with metadata table"])
@pytest.mark.parametrize(("table", "mode", "policy"), ROWS)
def test_a_row_of_the_plan(table: str, mode: str, policy: str, metadata: int) -> None:
    """An incremental pull out of order included (INCR); a copy-on-write window is silent about deletes of nothing."""
    result = search(Model(*of(table, mode, policy, metadata)))
    assert violated(result).keys() == ({"INCR"} if table == "COPY_ON_WRITE" else set())
    assert result.deadlock is None


@pytest.mark.parametrize(("table", "mode"), [row[:2] for row in ROWS if row[2] == "lazy"])
def test_the_engine_does_the_same_row_by_row(table: str, mode: str) -> None:
    world, protocol = of(table, mode, "lazy")
    report = run(CheckOptions(factory("engine"), protocol=protocol, world=world, readers=()), examples=8, seed=22)
    assert report.disagreement is None, report.text


@pytest.mark.parametrize("metadata", [0, 1], ids=["without metadata table", "with metadata table"])
@pytest.mark.parametrize("policy", ["lazy", "eager"])
@pytest.mark.parametrize("mode", MODES)
def test_a_row_of_the_plan_with_asynchronous_cleaning(mode: str, policy: str, metadata: int) -> None:
    """Concurrently with every clean, no read at or after the horizon misses a file."""
    world, protocol = of("MERGE_ON_READ", mode, policy, metadata)
    actors = {**world.actors, "compactor": 1, "cleaner": 1}
    with_services = world.replace(actors=actors, compactions=1, cleans=1, commits_retained=1, retries=0)
    result = search(Model(with_services, protocol))
    assert violated(result) == {}
    assert result.deadlock is None
    if mode == "single writer":
        assert result.promises["CLEAN"].verdict is Verdict.HOLDS


# A writer that rolls back every pending write also undoes those of live writers; with several writers Hudi forces LAZY.
FAILING = [
    pytest.param(mode, policy, metadata, marks=pytest.mark.nightly if policy == "eager" and mode in OPTIMISTIC else ())
    for mode, policy, metadata in product(MODES, ("lazy", "eager"), (0, 1))
]


@pytest.mark.parametrize(("mode", "policy", "metadata"), FAILING)
def test_a_row_of_the_plan_with_a_writer_that_fails(mode: str, policy: str, metadata: int) -> None:
    """Eagerly a living writer is rolled back (REC); what is read is right under both, with either table."""
    world, protocol = of("MERGE_ON_READ", mode, policy, metadata)
    with_rollbacks = world.replace(actors={**world.actors, "rollbacker": 1}, stalls=1, rollbacks=1, retries=0)
    result = search(Model(with_rollbacks, protocol))
    assert violated(result) == ({"REC": 2} if policy == "eager" else {})
    assert result.promises["SNAP"].verdict is Verdict.HOLDS
    assert result.deadlock is None


def test_what_is_not_promised_unique_keys_of_two_writers_that_insert() -> None:
    """Guarantee 1: each writer that finds a bucket empty begins a file group there."""
    model = Model(World(actors={"writer": 2}), Protocol(concurrency="occ", file_ids="generated", conflict_by="file_id"))
    found = explore(model, [PROMISES["KEY"]]).promises["KEY"]
    assert (found.verdict, found.steps) == (Verdict.VIOLATED, 14)


def test_what_is_not_promised_a_serial_order_across_partitions() -> None:
    """Guarantee 2: each reads both partitions and writes one; the writes share no file, and no order explains them."""
    shapes = {("w1", 1): (1, 0), ("w2", 1): (0, 1)}
    reads = {("w1", 1): (0, 1), ("w2", 1): (0, 1)}
    world = World(actors={"writer": 2}, partitions=2, writes=shapes, reads=reads)
    found = explore(Model(world, Protocol(concurrency="occ", conflict_reads="ignored")), [ANOMALIES["write skew"]])
    assert (found.verdict, found.promises["write skew"].steps) == (Verdict.VIOLATED, 14)
