"""One search by several processes, jobs and seeds on Spark: the same results as by one process."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nbcc.model import Model, Step
from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.crosscheck.seeds import Seed, across_processes, check_seed, check_seeds
from nbcc.simulator.explore import Result, Verdict, cluster, explore
from nbcc.simulator.explore.cluster import on_spark, search_on_spark
from nbcc.simulator.explore.jobs import SearchJob, applied, run_job
from nbcc.simulator.explore.parallel import explore_in_shards, merge_results
from nbcc.simulator.explore.shards import PREFIX, Shard
from nbcc.simulator.explore.transition_system import Guard, Transition, TransitionSystem
from nbcc.simulator.verdicts import judge, matrix
from tools.mutation.cases import cases

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NIGHTLY = os.environ.get("NBCC_BUDGET") == "nightly"
SEEDS = [Seed(seed=seed, examples=4, world="demo") for seed in (3, 4)]


def timeless(result: Result) -> Result:
    return replace(result, seconds=0)


@pytest.mark.parametrize("reduced", [False, True], ids=["as it is", "reduced"])
@pytest.mark.parametrize(
    "job",
    [
        SearchJob(world="demo"),
        SearchJob(world="demo", protocol="completion-outside-lock"),
        SearchJob(world="demo", mutant="plan-leaves-a-gap"),
        SearchJob(world="crash_resume", protocol="lock-never-expires"),
        SearchJob(world="examples.hudi_v5:HudiV5"),  # it has no shard key
        SearchJob(world="lost_lock_restores"),  # what parted them is taken back
    ],
    ids=str,
)
def test_branches_find_what_one_process_finds(job: SearchJob, reduced: bool) -> None:
    job = replace(job, reduce=reduced)
    alone, found = run_job(job, coverage=True), explore_in_shards(job, 2, coverage=True)

    assert told(found) == told(alone)
    with applied(job.mutant):
        for promise in found.promises.values():
            assert promise.trace is None or ends_there(job.system(), promise.trace)


def told(result: Result) -> dict[str, Any]:
    """What does not hang on which of several shortest counterexamples is found, nor on how often a row was run."""
    covered = result.coverage
    assert covered
    return {
        **result.to_json("", ""), "seconds": 0, "states_per_second": 0,
        "deadlock": result.deadlock and len(result.deadlock),
        "promises": {n: (p.verdict, p.steps, p.trace is None and p.because) for n, p in result.promises.items()},
        "coverage": (set(covered.never_taken), covered.never_false, covered.untested),
    }  # fmt: skip


def ends_there(system: Model, trace: tuple[Step, ...]) -> bool:
    """Whether it is a run of the system (Refused if it is none)."""
    return reduce(system.apply, trace, system.initial) is not None


def test_each_branch_is_searched_once_by_whoever_searches_cells() -> None:
    jobs: list[SearchJob] = []

    def search(given: list[SearchJob], **bounds: object) -> list[tuple[SearchJob, Result]]:
        jobs.extend(given)
        return [(job, run_job(job)) for job in given]

    job = SearchJob(world="demo", promises=("SNAP", "MONO", "PART"))
    found = explore_in_shards(job, 2, search)  # type: ignore[arg-type]
    assert timeless(found) == timeless(run_job(job))
    keys = [key for each in jobs if each.shard for key in each.shard.keys]
    assert len(jobs) == 2
    assert sorted(keys) == sorted(set(keys))
    assert len(keys) > 2


@pytest.mark.parametrize(
    ("count", "hands"), [(1, [(1, 2, 3, 4, 5)]), (2, [(1, 4, 5), (2, 3)]), (3, [(1,), (2, 5), (3, 4)]), (9, [])]
)
def test_branches_are_dealt_there_and_back(count: int, hands: list[tuple[int, ...]]) -> None:
    part = Shard((1, 2, 3, 4, 5), (("w1", "w2"),))
    assert part.split(count) == [part._replace(keys=keys) for keys in hands or [(each,) for each in part.keys]]
    assert Shard(()).split(count) == []


def test_a_search_that_is_cut_off_leaves_its_promises_undetermined() -> None:
    found = explore_in_shards(SearchJob(world="demo"), 2, max_states=100)
    assert found.stopped == "more than 100 distinct states"
    assert {str(each.verdict) for each in found.promises.values()} == {"UNDETERMINED", "NOT_APPLICABLE"}


def test_a_counterexample_of_a_search_that_is_cut_off_is_a_shortest_one_all_the_same() -> None:
    """Another branch may hold a shorter one."""
    job = SearchJob(world="demo", protocol="requested-incremental", promises=("INCR",))
    lengths = []

    def search(given: list[SearchJob], **bounds: object) -> Iterator[tuple[SearchJob, Result]]:
        for each in given:
            result = run_job(each)
            lengths.append(result.promises["INCR"].steps)
            yield each, replace(result, stopped="enough")

    found = explore_in_shards(job, 2, search)
    assert lengths == [18]
    assert (found.stopped, found.promises["INCR"].steps) == ("enough", 12)


@pytest.mark.parametrize("reduced", [False, True])
def test_what_is_violated_where_steps_were_fused_is_searched_again(
    monkeypatch: pytest.MonkeyPatch, reduced: bool
) -> None:
    again: list[str] = []

    def shortest(system: object, promises: object, found: dict[str, Any], memory: object) -> dict[str, Any]:
        again.extend(found)
        return found

    monkeypatch.setattr("nbcc.simulator.explore.parallel.shortest", shortest)
    explore_in_shards(SearchJob(world="demo", protocol="requested-incremental", promises=("INCR",), reduce=reduced), 2)
    assert again == ["INCR"] * reduced


class Reaches(NamedTuple):
    """Each of these places is reached one day (`run`), or none ever is (`state`)."""

    kind: str
    places: frozenset[int]

    @property
    def name(self) -> str:
        return self.kind.upper()

    def holds(self, system: TransitionSystem, before: int, step: Step, after: int) -> str | None:
        at = system.component(after, "at")
        return f"it is at {at}" if at in self.places else None

    def sometimes(self, system: TransitionSystem, state: int) -> bool:
        return bool(system.component(state, "at") == 1)

    def outstanding(self, system: TransitionSystem, state: int) -> dict[str, str]:
        return {} if system.component(state, "at") in self.places else {"there": "it never arrives"}

    def limited(self, system: TransitionSystem, state: int) -> str:
        return ""

    def fair(self, system: TransitionSystem, step: Step) -> bool:
        return True


class Parting(TransitionSystem):
    """Somebody goes from place to place; some edges settle once and for all which way, and only those may be taken
    afterwards that settle nothing else."""

    shard_key: tuple[str, Callable[[Any], Hashable]] = ("way", lambda value: value)

    def __init__(self, edges: Iterable[tuple[int, int, int | None]]) -> None:
        rows = (self._row(number, *edge) for number, edge in enumerate(edges))
        super().__init__({"at": 0, "way": None}, rows, {})

    def _row(self, number: int, here: int, there: int, settles: int | None) -> Transition:
        def may(at: int, way: int | None) -> bool:
            return settles is None or way in (None, settles)

        def goes(at: int, way: int | None) -> tuple[int, int | None]:
            return there, way if settles is None else settles

        own, both = (Guard("it must be there", lambda at: at == here),), ("at", "way")
        return Transition("goes", f"edge {number}", both, both, own, goes, (Guard("its way must be open", may),))


PLACES = st.integers(0, 6)
EDGES = st.lists(st.tuples(PLACES, PLACES, st.sampled_from([None, None, 1, 2, 3])), max_size=20)


@given(EDGES, st.frozensets(PLACES))
@example([(0, 1, None), (1, 2, None), (2, 3, None), (0, 4, 1), (3, 5, 1), (5, 6, None)], frozenset({6}))
@example([(0, 1, 1), (1, 2, None), (2, 1, None)], frozenset({3}))
def test_any_graph_is_divided_without_loss(edges: list[tuple[int, int, int | None]], places: frozenset[int]) -> None:
    """Levels, ends, cycles and shortest counterexamples, where states of the prefix lead to a branch on any level."""
    promises = [Reaches("run", places), Reaches("state", places)]
    whole = explore(Parting(edges), promises)
    prefix = explore(Parting(edges), promises, shard=PREFIX)
    others = [explore(Parting(edges), promises, shard=shard) for shard in prefix.shards.split(2)]
    found = merge_results(promises, None, [prefix, *others], None)

    assert (found.distinct, found.generated, found.depth) == (whole.distinct, whole.generated, whole.depth)
    assert found.ends == whole.ends
    for name, promise in whole.promises.items():
        assert found.promises[name].verdict is promise.verdict
        if name == "STATE":
            assert found.promises[name].steps == promise.steps


@pytest.mark.parametrize("reduced", [False, True], ids=["as it is", "reduced"])
def test_small_worlds_of_all_kinds_are_divided_without_loss(reduced: bool) -> None:
    """What is published first stays first, whatever services there are."""
    some = [case for case in cases()[:: 1 if NIGHTLY else 12] if case.model().shard_key]
    assert len(some) > 20
    for case in some:
        whole = explore(case.model(), reduce=reduced)
        prefix = explore(case.model(), reduce=reduced, shard=PREFIX)
        others = [explore(case.model(), reduce=reduced, shard=shard) for shard in prefix.shards.split(2)]
        found = merge_results([], None, [prefix, *others], None)
        sizes = [(r.distinct, r.stands_for, r.generated, r.depth, r.ends, r.ends_at_limit) for r in (found, whole)]
        assert sizes[0] == sizes[1], case
        assert (found.deadlock is None) == (whole.deadlock is None), case


def test_branches_that_meet_are_an_error() -> None:
    class Meeting(Parting):
        shard_key = ("at", lambda value: value or None)

    edges = [(0, 1, None), (0, 2, None), (2, 1, None)]
    with pytest.raises(AssertionError, match=r"states of the shards \(2,\) lead to the shards \{1\}"):
        explore(Meeting(edges), shard=Shard((2,)))


def test_processes_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, ...]] = []
    explore_in_shards(SearchJob(world="failed_writer"), 2, progress=lambda *figures: told.append(figures))
    assert told
    assert all(len(figures) == 4 and figures[0] > 0 for figures in told)


def test_the_commands_take_workers(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for more in ([], ["--workers", "2"]):
        assert run(["explore", "demo", "--json", *more]) is Exit.AGREES
        told = json.loads(capsys.readouterr().out)
        del told["coverage"]["actions"]  # how often a row was run is of each process
        found.append({name: value for name, value in told.items() if "second" not in name})
    assert found[0] == found[1]
    assert run(["explore", "demo", "--workers", "2", "--checkpoint", "here"]) is Exit.BAD_INPUT


def test_seeds_say_on_two_processes_what_they_say_alone() -> None:
    alone = {seed: check_seed(seed) for seed in SEEDS}
    for seed, report in check_seeds(SEEDS, across_processes(2)):
        assert replace(report, seconds=0.0) == replace(alone[seed], seconds=0.0)


def test_cells_and_seeds_on_spark_say_what_they_say_here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [SearchJob(world="demo", protocol=protocol) for protocol in ("default", "tombstones-dropped")]
    there = [(job, timeless(result)) for job, result in search_on_spark(spark, jobs, workers=2)]
    assert there == [(job, timeless(run_job(job))) for job in jobs]
    (_, failed), (_, alive) = search_on_spark(spark, [SearchJob(world="dmo"), jobs[0]], raises=False)
    assert (failed.stopped or "").startswith("the search failed: ValueError: no world is called 'dmo'")
    assert timeless(alive) == there[0][1]

    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: {specs.world("demo"): False})
    some = [specs.protocol_file(name) for name in ("default", "tombstones-dropped")]

    def across(given: list[SearchJob], **bounds: object) -> object:
        return search_on_spark(spark, given, **bounds)  # type: ignore[arg-type]

    rows = matrix("quick", some, search=across)  # type: ignore[arg-type]
    assert judge.to_json(rows) == judge.to_json(matrix("quick", some))

    for seed, report in check_seeds(SEEDS[:1], lambda work, values: on_spark(spark, work, values)):
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
    monkeypatch.setattr(cluster, "MOST_JOBS", 1)
    jobs = [SearchJob(world="demo", promises=("MONO",)), SearchJob(world="demo", promises=("SNAP",))]
    spark = Cluster(gone=jobs[0])
    (_, failed_search), (_, alive) = search_on_spark(spark, jobs, raises=False)
    assert (failed_search.stopped or "").startswith("the search failed: RuntimeError: the machine is gone")
    assert (alive.verdict, spark.cancelled.is_set()) == (Verdict.HOLDS, False)

    with pytest.raises(RuntimeError, match="the machine is gone"):
        list(search_on_spark(spark, jobs))
    assert spark.cancelled.is_set()


def test_who_stops_waiting_for_a_cluster_leaves_nothing_running_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "MOST_JOBS", 1)
    spark, begun = Cluster(), list[int]()

    def work(value: int) -> None:
        begun.append(value)
        if value:  # a long search, which ends if the cluster ends it
            spark.cancelled.wait()

    def interrupt(value: int, made: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(on_spark(spark, work, range(9), done=interrupt))
    assert begun in ([0], [0, 1])
