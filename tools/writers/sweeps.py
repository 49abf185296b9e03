"""The sweeps of the workload simulation that produce the figures of docs/how-many-writers.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from nbcc.simulator.workload import costs
from nbcc.simulator.workload.costs import Calibration, Program, StageCost, calibration
from nbcc.simulator.workload.measures import Measures
from nbcc.simulator.workload.run import simulate
from nbcc.simulator.workload.scenario import (
    MODES,
    Decision,
    LockOptions,
    Publication,
    Reads,
    Requests,
    Scenario,
    Service,
    TableLoad,
    WriterLoad,
    load,
)
from nbcc.simulator.workload.simulation import Simulation
from nbcc.simulator.workload.summary import CORE_HOUR, figures, percentile, writer_figures
from nbcc.simulator.workload.writers import start_writers

from .modes import mode_name

SEEDS: Final = 1
WRITERS: Final = (1, 2, 4, 8, 16, 32, 64, 128)
STORES: Final = ("s3-express", "s3-fast", "s3", "s3-cross-region")
SKEWS: Final = (0.0, 0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
INTERVALS: Final = (1, 2, 5, 10, 15, 30, 60, 120)
BATCH_ROWS: Final = 5000


def minute_jobs(count: int, table: TableLoad, choice: str, store: str = "s3") -> Scenario:
    """Return a workload of this many jobs, each with a batch every minute, for two hours."""
    jobs = WriterLoad("job", count, every=60.0, rows=BATCH_ROWS, choice=choice)  # type: ignore[arg-type]
    return Scenario(
        name="minute jobs", hours=2.0, store=store, table=table, writers=(jobs,),
        compaction=Service(every=600.0, cores=16),
    )  # fmt: skip


def by_writers(store: str, shared: bool) -> dict[str, list[list[float]]]:
    """Return, for each mode, rows of the number of writers, the share of committed batches, and the 95th percentile of
    latency.

    If `shared` is True, batches go to 16 random partitions; otherwise each job has its own partition.
    """
    points: dict[str, list[list[float]]] = {}
    for mode in MODES:
        points[mode] = []
        for count in WRITERS:
            table = TableLoad(16 if shared else count, 4)
            case = minute_jobs(count, table, "uniform" if shared else "own", store)
            runs = [simulate(case, mode, TIMES, seed) for seed in range(1, SEEDS + 1)]
            due = count * (case.seconds / 60 - 1)  # the last batches may still be written at the end
            done = _median(len(run.latency) / due for run in runs)
            points[mode].append([count, round(100 * min(1.0, done), 1), round(_p95(runs), 2)])
    return points


def by_skew() -> dict[str, list[list[float]]]:
    """Return, for each store, rows of the skew in ms, the commits a minute of 64 writers, and the share of lock time
    due to skew.

    A compaction runs each minute. Without one, each commit lists a longer timeline.
    """
    points: dict[str, list[list[float]]] = {}
    for store in STORES:
        points[store] = []
        for skew in SKEWS:
            jobs = WriterLoad("job", 64, arrival="continuous", rows=BATCH_ROWS, choice="own")
            case = Scenario(
                name="skew", hours=0.5, store=store, table=TableLoad(64, 4), writers=(jobs,),
                lock=LockOptions(skew=skew, wait=3600.0), compaction=Service(every=60.0, cores=16),
            )  # fmt: skip
            runs = [simulate(case, "nbcc", TIMES, seed) for seed in range(1, SEEDS + 1)]
            rate = _median(60 * run.commits / run.seconds for run in runs)
            share = _median(100 * run.lock_skew / run.lock_busy for run in runs)
            points[store].append([1000 * skew, round(rate, 1), round(share)])
    return points


def by_interval() -> dict[str, list[list[float]]]:
    """Return, for each interval between reads, rows of the compaction interval and the daily cost of writes with
    services, and of reads.
    """
    base = replace(load("wide-table-join"), hours=8.0)
    points: dict[str, list[list[float]]] = {}
    for reads in (60.0, 600.0, 3600.0):
        points[f"{reads:g}"] = []
        for minutes in INTERVALS:
            case = replace(
                base, compaction=Service(every=60.0 * minutes, cores=16), reads=replace(base.reads, every=reads)
            )
            runs = [simulate(case, "nbcc", TIMES, seed) for seed in range(1, SEEDS + 1)]
            read = _median(_reads(run) for run in runs)
            whole = _median(figures([run])["dollars"].median for run in runs)
            points[f"{reads:g}"].append([minutes, round(whole - read, 4), round(read, 4)])
    return points


def _reads(run: Measures) -> float:
    """Return the dollars for each day of the requests and cores of reads on S3."""
    requests = sum(read[2] for read in run.reads) * 0.0004 / 1000
    return (requests + run.read_cores / 3600 * CORE_HOUR) * 86400 / run.seconds


def claims() -> dict[str, Any]:
    """Return the figures with which claims of the sources are compared."""
    found: dict[str, Any] = {}
    three = load("three-writers")
    for mode in MODES[:2]:
        runs = [simulate(three, mode, TIMES, seed) for seed in range(1, SEEDS + 1)]
        found[f"three writers, {mode}"] = {
            kind: [round(value, 1) for value in writer_figures(runs, kind) or ()]
            for kind in ("ingestion", "encryption", "backfill")
        }
        found[f"three writers, {mode}, wasted"] = round(figures(runs)["wasted_share"].median, 1)
    jobs = replace(load("thousand-jobs-a-minute"), hours=2.0)
    for mode in MODES:
        runs = [simulate(jobs, mode, TIMES, 1)]
        table = figures(runs)
        found[f"thousand jobs, {mode}"] = {
            "committed": round(100 * sum(len(run.latency) for run in runs) / (1000 * 120), 1),
            "lock requests": round(table["lock_requests"].median),
            "lock busy": round(table["lock_busy"].median),
        }
    pipelines = load("two-pipelines")
    for mode in MODES:
        table = figures([simulate(pipelines, mode, TIMES, seed) for seed in range(1, SEEDS + 1)])
        found[f"two pipelines, {mode}"] = {
            name: round(table[name].median, 1)
            for name in ("rows_per_second", "conflict_share", "logs_per_slice", "read_requests", "read_seconds")
        }
    return found


def commits() -> list[dict[str, Any]]:
    """Return the predictions for the cases of `benchmarks.stores`, and for more writers than it has, in each mode.

    In the phase `commit` the data files are ready: a write puts its markers alone. The writers of the bench share two
    cores with the store, each of the others has a machine of its own.
    """
    rows = []
    for phase, cost, times in (("commit", READY, READY_TIMES), ("write", WRITTEN, TIMES)):
        for decision, publication, requests in COMMIT_MODES:
            for count in COMMIT_WRITERS[: None if phase == "write" else -2]:
                seconds, cores = (60.0, 2) if count <= BENCH_WRITERS else (120.0, 0)
                case = Scenario(
                    name="commits", hours=seconds / 3600, store="server-20ms", cores=cores, table=TableLoad(1, 2),
                    lock=LockOptions(skew=0.005, wait=3600.0, decision=decision, publication=publication,
                                     requests=requests),
                    writers=(WriterLoad("job", count, arrival="continuous", rows=8),), reads=Reads(every=0.0),
                )  # fmt: skip
                run = Simulation(case, "nbcc", times, 1)
                run.program["nbcc write"] = replaced(run.program["nbcc write"], cost)
                start_writers(run)
                measures = run.finish()
                sent = measures.requests.total() + measures.lock_requests.total()
                rows.append({
                    "phase": phase, "mode": mode_name(decision, publication, requests), "writers": count,
                    "commits_a_second": round(measures.commits / seconds, 2),
                    "median": round(percentile(measures.latency, 50), 3),
                    "p95": round(percentile(measures.latency, 95), 3),
                    "requests": round(sent / measures.commits, 1),
                    "dollars": round(1e6 * _s3_dollars(measures) / measures.commits, 1),
                })  # fmt: skip
    return rows


def _s3_dollars(measures: Measures) -> float:
    """Return what the requests of a run would cost on S3."""
    price = costs.store("s3", TIMES).price
    return sum(count * price[verb] for verb, count in (measures.requests + measures.lock_requests).items())


def replaced(program: Program, data: StageCost) -> Program:
    """Return the program of a write with another stage for its data."""
    request, _, publish, clean_up = program
    return request, data, publish, clean_up


def sweeps() -> dict[str, Any]:
    """Return all figures of the page."""
    return {
        "format": 1,
        "shared partitions": by_writers("s3", shared=True),
        "own partitions": by_writers("s3", shared=False),
        "own partitions, s3-fast": by_writers("s3-fast", shared=False),
        "own partitions, s3-express": by_writers("s3-express", shared=False),
        "skew": by_skew(),
        "compaction": by_interval(),
        "claims": claims(),
        "commits": commits(),
    }


TIMES: Final[Calibration] = calibration()
BENCH_WRITERS: Final = 16  # the most that `benchmarks.stores` measures
READY_TIMES: Final = replace(TIMES, write=0.0, per_row=0.0, per_file=0.0)
COMMIT_WRITERS: Final = (1, 2, 4, 8, 16, 64, 1000)
COMMIT_MODES: Final[Sequence[tuple[Decision, Publication, Requests]]] = (
    ("lock", "ascending", "under_lock"), ("lock", "ascending", "put_if_absent"),
    ("log", "ascending", "under_lock"), ("log", "ascending", "put_if_absent"),
    ("shared", "ascending", "put_if_absent"), ("free", "ascending", "put_if_absent"),
    ("free", "parallel", "put_if_absent"),
)  # fmt: skip
READY: Final = StageCost(False, 0, 0, 0, (1, 0, 0, 0), {"put": (1, 1, 0, 0)})
WRITTEN: Final = StageCost(False, 0, 0, 0, (2, 0, 0, 0), {"put": (1, 2, 0, 0)})
"""Data stages of a table without partitions, which has no metadata files of partitions: the inflight state and the
markers, and then the logs."""


def _p95(runs: Sequence[Measures]) -> float:
    return _median(percentile(run.latency, 95) for run in runs)


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
