"""One search by several processes, cells and seeds on Spark: the same results as by one process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from nbcc.simulator import specs
from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit
from nbcc.simulator.crosscheck.seeds import Seed, across_processes, check_seed, check_seeds
from nbcc.simulator.explore import Result, Verdict, parts
from nbcc.simulator.explore.cells import Cell, search_cell
from nbcc.simulator.explore.parts import explore_in_parts, on_spark, search_on_spark
from nbcc.simulator.verdicts import judge, matrix

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = [Seed(seed=seed, examples=4, world="demo") for seed in (3, 4)]


def timeless(result: Result) -> Result:
    return replace(result, seconds=0)


@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("protocol", ["default", "tombstones-dropped"])
def test_parts_find_what_one_process_finds(protocol: str, reduce: bool) -> None:
    cell = Cell(world="demo", protocol=protocol, reduce=reduce)
    covered = protocol == "default"  # whoever tells a counterexample walks it once more, and counts that, too
    alone = search_cell(cell, coverage=covered)
    assert timeless(explore_in_parts(cell, 3, coverage=covered)) == timeless(alone)


def test_parts_watch_every_promise_once_and_mind_all_of_them() -> None:
    cells: list[Cell] = []

    def search(given: list[Cell], **bounds: object) -> list[tuple[Cell, Result]]:
        cells.extend(given)
        return [(cell, search_cell(cell)) for cell in given]

    found = explore_in_parts(Cell(world="demo", promises=("SNAP", "MONO", "PART")), 2, search)  # type: ignore[arg-type]
    assert list(found.promises) == ["SNAP", "MONO", "PART"]
    assert [cell.promises for cell in cells] == [("SNAP", "PART"), ("MONO",)]
    assert {cell.beside for cell in cells} == {("SNAP", "MONO", "PART")}


def test_a_part_that_is_cut_off_leaves_its_promises_undetermined() -> None:
    found = explore_in_parts(Cell(world="demo"), 2, max_states=100)
    assert found.stopped == "more than 100 distinct states"
    assert {str(each.verdict) for each in found.promises.values()} == {"UNDETERMINED", "NOT_APPLICABLE"}


def test_processes_say_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, ...]] = []
    explore_in_parts(Cell(world="failed_writer"), 2, progress=lambda *figures: told.append(figures))
    assert told
    assert all(len(figures) == 4 and figures[0] > 0 for figures in told)


def test_the_commands_take_workers(capsys: pytest.CaptureFixture[str]) -> None:
    found = []
    for more in ([], ["--workers", "2"]):
        assert run(["explore", "demo", "--json", *more]) is Exit.AGREES
        told = json.loads(capsys.readouterr().out)
        found.append({name: value for name, value in told.items() if "second" not in name})
    assert found[0] == found[1]
    assert run(["explore", "demo", "--workers", "2", "--checkpoint", "here"]) is Exit.BAD_INPUT


def test_seeds_say_on_two_processes_what_they_say_alone() -> None:
    alone = {seed: check_seed(seed) for seed in SEEDS}
    for seed, report in check_seeds(SEEDS, across_processes(2)):
        assert replace(report, seconds=0.0) == replace(alone[seed], seconds=0.0)


def test_cells_and_seeds_on_spark_say_what_they_say_here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = [Cell(world="demo", protocol=protocol) for protocol in ("default", "tombstones-dropped")]
    there = [(cell, timeless(result)) for cell, result in search_on_spark(spark, cells, workers=2)]
    assert there == [(cell, timeless(search_cell(cell))) for cell in cells]
    (_, failed), (_, alive) = search_on_spark(spark, [Cell(world="dmo"), cells[0]], raises=False)
    assert (failed.stopped or "").startswith("the search failed: ValueError: no world is called 'dmo'")
    assert timeless(alive) == there[0][1]

    monkeypatch.setattr(judge, "worlds_of", lambda name, depth: {specs.world("demo"): False})
    some = [specs.protocol_file(name) for name in ("default", "tombstones-dropped")]

    def across(given: list[Cell], **bounds: object) -> object:
        return search_on_spark(spark, given, **bounds)  # type: ignore[arg-type]

    rows = matrix("quick", some, search=across)  # type: ignore[arg-type]
    assert judge.to_json(rows) == judge.to_json(matrix("quick", some))

    for seed, report in check_seeds(SEEDS[:1], lambda work, values: on_spark(spark, work, values)):
        assert replace(report, seconds=0.0) == replace(check_seed(seed), seconds=0.0)


class Cluster:
    """In place of Spark: it runs jobs here, except that a machine is gone for one value."""

    def __init__(self, gone: Cell | None = None) -> None:
        self.gone, self.sparkContext, self.cancelled = gone, self, threading.Event()
        self.cancelAllJobs = self.cancelled.set

    def parallelize(self, values: list[Cell], parts: int) -> Cluster:
        self.value = values[0]
        return self

    def map(self, work: Callable[[Cell], Result]) -> Cluster:
        self.work = work
        return self

    def collect(self) -> list[Result]:
        if self.value == self.gone:
            raise RuntimeError("the machine is gone")
        return [self.work(self.value)]


def test_a_machine_that_is_gone_takes_its_cell_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_JOBS", 1)
    cells = [Cell(world="demo", promises=("MONO",)), Cell(world="demo", promises=("SNAP",))]
    spark = Cluster(gone=cells[0])
    (_, lost), (_, alive) = search_on_spark(spark, cells, raises=False)
    assert (lost.stopped or "").startswith("the search failed: RuntimeError: the machine is gone")
    assert (alive.verdict, spark.cancelled.is_set()) == (Verdict.HOLDS, False)

    with pytest.raises(RuntimeError, match="the machine is gone"):
        list(search_on_spark(spark, cells))
    assert spark.cancelled.is_set()


def test_who_stops_waiting_for_a_cluster_leaves_nothing_running_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_JOBS", 1)
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
