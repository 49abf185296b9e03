"""Cells in processes of their own give what a search here gives, and a process that dies loses one job only."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.seeds import Seed, across_cluster, across_processes, check_seed, check_seeds
from nbcc.simulator.search.explore import Result, Verdict
from nbcc.simulator.search.explore.memory import MemoryBound
from nbcc.simulator.search.jobs import (
    SearchJob,
    failed_search,
    in_order,
    on_spark,
    processes,
    run_jobs,
    runners,
    transient,
)
from nbcc.simulator.search.verdicts import judge, matrix

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JOBS = [
    SearchJob(world="demo", protocol="tombstones-dropped"),
    SearchJob(world="demo", promises=("SNAP", "MONO")),
    SearchJob(world="examples.two_phase_commit:TwoPhaseCommit"),
    SearchJob(world="demo", mutant="search-drops-a-successor"),
]
SEEDS = [Seed(seed=seed, examples=4, world="demo") for seed in (3, 4)]


def timeless(result: Result) -> Result:
    return replace(result, seconds=0)


def test_two_workers_find_what_one_finds_in_the_order_given() -> None:
    alone = [(job, timeless(found)) for job, found in run_jobs(JOBS)]
    heard: list[SearchJob] = []
    together = run_jobs(JOBS, workers=2, done=lambda job, found: heard.append(job))

    assert [(job, timeless(found)) for job, found in together] == alone
    assert [job for job, _ in alone] == JOBS
    assert sorted(map(repr, heard)) == sorted(map(repr, JOBS))
    assert [str(found.verdict) for _, found in alone] == ["VIOLATED", "HOLDS", "HOLDS", "UNDETERMINED"]
    assert alone[3][1].distinct < alone[1][1].distinct


def test_an_error_in_a_cell_reaches_the_caller() -> None:
    with pytest.raises(ValueError, match="no world is called 'dmo'") as raised:
        list(run_jobs([SearchJob(world="dmo")], workers=2))
    assert raised.value.__notes__ == [f"in the search of {SearchJob(world='dmo')}"]


class Deadly:
    """A world that ends the process which takes it out of its envelope."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os._exit, (9,)


def test_a_process_that_dies_loses_its_own_cell_only() -> None:
    failed_search = SearchJob(world=Deadly())  # type: ignore[arg-type]  # the very point
    (_, dead), (_, alive) = run_jobs([failed_search, JOBS[1]], workers=2)

    assert (dead.verdict, dead.stopped) == (Verdict.UNDETERMINED, "the process that searched it died (exit 9)")
    assert alive.verdict is Verdict.HOLDS


HELD: list[bytearray] = []


def where(size: int) -> Result:
    """Say which process this is, and keep so many bytes in it."""
    HELD.append(bytearray(os.urandom(1) * size))
    return failed_search(str(os.getpid()))


def test_a_process_searches_one_job_after_another_until_it_has_grown() -> None:
    sizes = [1, 1, processes.GROWTH, 1, 1]
    answers = dict(processes.in_processes(where, sizes, 1))
    first, second = answers[0].stopped, answers[3].stopped
    assert first != second
    assert [answers[number].stopped for number in range(5)] == [first] * 3 + [second] * 2


def test_a_process_that_dies_is_replaced() -> None:
    answers = dict(processes.in_processes(where, [1, Deadly(), 1], 1))
    assert answers[1].stopped == "the process that searched it died (exit 9)"
    assert len({answers[0].stopped, answers[2].stopped}) == 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_in_a_cell_stays_there_if_the_caller_does_not_ask(workers: int) -> None:
    some = run_jobs([SearchJob(world="dmo"), JOBS[1]], workers=workers, raises=False)
    (_, failed), (_, alive) = some

    assert failed.verdict is Verdict.UNDETERMINED
    assert re.match(
        r"the search failed: ValueError: no world is called 'dmo'.* \(\w+.py, line \d+\)$", failed.stopped or ""
    )
    assert alive.verdict is Verdict.HOLDS


def test_what_fails_or_is_short_of_memory_says_nothing_that_lasts() -> None:
    (_, whole), (_, cut) = (*run_jobs([JOBS[1]]), *run_jobs([JOBS[1]], max_states=9))
    assert (transient(whole), transient(cut)) == (None, None)
    assert transient(failed_search("it died")) == "it died"
    no_room = MemoryBound(1e-9).reached(0)
    assert no_room is not None
    assert transient(replace(cut, stopped=no_room)) == no_room
    short = replace(whole.promises["SNAP"], because="one row (not proven shortest: more than 2 GiB of memory)")
    assert transient(replace(whole, promises={"SNAP": short})) == short.because


def test_seeds_say_on_two_processes_what_they_say_alone() -> None:
    alone = {seed: check_seed(seed) for seed in SEEDS}
    for seed, report in check_seeds(SEEDS, across_processes(2)):
        assert replace(report, seconds=0.0) == replace(alone[seed], seconds=0.0)


def test_cells_and_seeds_on_spark_say_what_they_say_here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [SearchJob(world="demo", protocol=protocol) for protocol in ("default", "tombstones-dropped")]
    there = [(job, timeless(result)) for job, result in run_jobs(jobs, spark=spark, workers=2)]
    assert there == [(job, timeless(job.run())) for job in jobs]
    (_, failed), (_, alive) = run_jobs([SearchJob(world="dmo"), jobs[0]], spark=spark, raises=False)
    assert (failed.stopped or "").startswith("the search failed: ValueError: no world is called 'dmo'")
    assert timeless(alive) == there[0][1]

    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: {specs.world("demo"): False})
    some = [specs.protocol_file(name) for name in ("default", "tombstones-dropped")]
    rows = matrix("quick", some, spark=spark)
    assert judge.to_json(rows) == judge.to_json(matrix("quick", some))

    for seed, report in check_seeds(SEEDS[:1], across_cluster(spark)):
        assert replace(report, seconds=0.0) == replace(check_seed(seed), seconds=0.0)


class Cluster:
    """In place of Spark: it runs jobs here, except that a machine is gone for one value."""

    def __init__(self, gone: SearchJob | None = None) -> None:
        self.gone, self.sparkContext, self.cancelled = gone, self, threading.Event()
        self.cancelAllJobs = self.cancelled.set

    def parallelize(self, values: list[SearchJob], parts: int) -> Cluster:
        self.value = values[0]
        return self

    def map(self, work: Callable[[SearchJob], Result]) -> Cluster:
        self.work = work
        return self

    def collect(self) -> list[Result]:
        if self.value == self.gone:
            raise RuntimeError("the machine is gone")
        return [self.work(self.value)]


def test_a_machine_that_is_gone_takes_its_cell_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "MOST_JOBS", 1)
    jobs = [SearchJob(world="demo", promises=("MONO",)), SearchJob(world="demo", promises=("SNAP",))]
    spark = Cluster(gone=jobs[0])
    (_, failed), (_, alive) = run_jobs(jobs, spark=spark, raises=False)
    assert (failed.stopped or "").startswith("the search failed: RuntimeError: the machine is gone")
    assert (alive.verdict, spark.cancelled.is_set()) == (Verdict.HOLDS, False)

    with pytest.raises(RuntimeError, match="the machine is gone"):
        list(run_jobs(jobs, spark=spark))
    assert spark.cancelled.is_set()


def test_who_stops_waiting_for_a_cluster_leaves_nothing_running_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runners, "MOST_JOBS", 1)
    spark, begun = Cluster(), list[int]()

    def work(value: int) -> None:
        begun.append(value)
        if value:  # a long search, which ends if the cluster ends it
            spark.cancelled.wait()

    results = in_order(on_spark(spark, work, range(9)), range(9))
    next(results)
    results.close()  # type: ignore[attr-defined]  # it is a generator
    assert begun in ([0], [0, 1])
