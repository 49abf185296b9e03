"""The workload simulation compared with real writers: the runs of specs/workload/held_out.toml.

Each writer is a process on one local table and writes continuously. The calibration is measured between their runs.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import statistics
import time
import tomllib
from collections.abc import Sequence
from itertools import product
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from nbcc.engine.config.options import SKEW
from nbcc.engine.errors import Conflict
from nbcc.engine.table import Table
from nbcc.simulator.workload import costs
from nbcc.simulator.workload.calibrate import ROWS, Samples
from nbcc.simulator.workload.measures import Measures
from nbcc.simulator.workload.run import simulate
from nbcc.simulator.workload.scenario import LockOptions, Mode, Reads, Scenario, TableLoad, WriterLoad
from nbcc.simulator.workload.timed import SCHEMA, batch

from . import progress

HELD_OUT: Final = Path(__file__).resolve().parents[1] / "specs" / "workload" / "held_out.toml"
MODES: Final = {"nbcc": "NON_BLOCKING_CONCURRENCY_CONTROL", "occ": "OPTIMISTIC_CONCURRENCY_CONTROL"}
SEEDS: Final = 25
LONGEST: Final = 60.0
"""Seconds in which each simulated attempt that has begun is completed."""


class Outcome(NamedTuple):
    """The figures of one run: commits a second, the share of aborted attempts, and the 95th percentile of latency."""

    throughput: float
    aborted: float
    p95: float


TOLERANCES: Final = Outcome(0.2, 0.2, 0.3)


def run(folder: Path, quick: bool = False) -> dict[str, Any]:
    """Measure the calibration between the runs of real writers, then compare each held-out configuration.

    Other work on the machine changes in minutes, so times measured before all runs would be those of another load.
    """
    plan = tomllib.loads(HELD_OUT.read_text("utf-8"))
    runs = 2 if quick else plan["runs"]
    samples, real = Samples(), {}
    for mode, writers in product(plan["modes"], plan["writers"]):
        with progress.during(f"calibration before {writers} writers, {mode}"):
            samples.measure(lambda what, done, total: None, ROWS[:3], 1)
        with progress.during(f"{writers} writers, {mode}"):
            real[mode, writers] = [
                _real(folder / f"{mode}{writers}-{number}", plan, mode, writers) for number in range(runs)
            ]
    file = folder / "calibration.json"
    file.write_text(samples.text(), "utf-8")
    rows = []
    for (mode, writers), outcomes in real.items():
        predicted = [_predicted(plan, mode, writers, costs.calibration(file), seed) for seed in range(SEEDS)]
        rows.append({"mode": mode, "writers": writers, **_compared(outcomes, predicted)})
    return {"calibration": json.loads(file.read_text("utf-8")), "rows": rows}


def text(result: dict[str, Any]) -> str:
    """The table of a result: measured with its spread, predicted, error."""
    lines = [
        "| mode | writers | figure | measured (least to greatest) | predicted | error | within |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in result["rows"]:
        for name, digits in (("throughput", 2), ("aborted", 3), ("p95", 3)):
            each = row[name]
            error = f"{100 * each['error']:+.0f} %" if each["measured"] else "-"
            guess = f"{each['predicted']:.{digits}f} | {error} | {'yes' if each['within'] else 'no'} |"
            lines.append(
                f"| {row['mode']} | {row['writers']} | {name} | {each['measured']:.{digits}f} "
                f"({each['least']:.{digits}f} to {each['greatest']:.{digits}f}) | {guess}"
            )
    return "\n".join(lines)


def _compared(real: Sequence[Outcome], predicted: Sequence[Outcome]) -> dict[str, Any]:
    compared = {}
    for place, name in enumerate(Outcome._fields):
        measured = [outcome[place] for outcome in real]
        middle, guess = statistics.median(measured), statistics.median(outcome[place] for outcome in predicted)
        error = (guess - middle) / middle if middle else 0.0
        inside = min(measured) <= guess <= max(measured) or abs(error) <= TOLERANCES[place]
        # An abort rate near zero has no relative error: two percentage points are allowed.
        inside = inside or (name == "aborted" and abs(guess - middle) <= 0.02)
        compared[name] = {
            "measured": middle, "least": min(measured), "greatest": max(measured), "predicted": guess, "error": error,
            "within": inside,
        }  # fmt: skip
    return compared


def _predicted(plan: dict[str, Any], mode: Mode, writers: int, calibration: costs.Calibration, seed: int) -> Outcome:
    end = float(plan["seconds"])
    scenario = Scenario(
        # Real writers begin no attempt after the end, and complete the one that they have begun.
        name="held out", hours=(end + LONGEST) / 3600, store="local", cores=os.cpu_count() or 1,
        table=TableLoad(plan["partitions"], plan["buckets"]),
        lock=LockOptions(provider="file", skew=plan["skew_ms"] / 1000),
        writers=(WriterLoad("writer", writers, arrival="continuous", rows=plan["rows"], choice="uniform", ends=end),),
        reads=Reads(every=0.0),
    )  # fmt: skip
    measures: Measures = simulate(scenario, mode, calibration, seed)
    attempts = measures.commits + measures.conflicts
    return Outcome(
        measures.commits / plan["seconds"], measures.conflicts / max(1, attempts),
        float(np.percentile(measures.latency, 95)) if measures.latency else 0.0,
    )  # fmt: skip


def _real(path: Path, plan: dict[str, Any], mode: str, writers: int) -> Outcome:
    """One run of real writers."""
    Table.create(
        None, path, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=plan["buckets"],
        concurrency_mode=MODES[mode], options={SKEW: str(plan["skew_ms"])},
    )  # fmt: skip
    table = Table.open(None, path)
    for number in range(plan["partitions"]):  # the first write to a partition does more
        table.upsert(batch(plan["rows"], 0, f"p{number}"))
    spawn = multiprocessing.get_context("spawn")
    answers, barrier = spawn.Queue(), spawn.Barrier(writers)
    processes = [
        spawn.Process(target=_write, args=(path, plan, number, barrier, answers), daemon=True)
        for number in range(writers)
    ]
    for process in processes:
        process.start()
    results = [answers.get(timeout=600) for _ in processes]
    for process in processes:
        process.join()
    latencies = [latency for result in results for latency in result[0]]
    commits, aborts = len(latencies), sum(result[1] for result in results)
    p95 = float(np.percentile(latencies, 95)) if latencies else 0.0
    return Outcome(commits / plan["seconds"], aborts / max(1, commits + aborts), p95)


def _write(path: Path, plan: dict[str, Any], number: int, barrier: Barrier, answers: Any) -> None:
    """One writer: batches to random partitions until the time is over. A batch is repeated until it commits."""
    table, chance = Table.open(None, path), random.Random(number)
    batches = {part: batch(plan["rows"], 0, f"p{part}") for part in range(plan["partitions"])}
    latencies: list[float] = []
    aborts = 0
    barrier.wait()
    end = time.monotonic() + plan["seconds"]
    while time.monotonic() < end:
        data, began = batches[chance.randrange(plan["partitions"])], time.monotonic()
        while time.monotonic() < end:
            try:
                table.upsert(data)
            except Conflict:
                aborts += 1
            else:
                latencies.append(time.monotonic() - began)
                break
    answers.put((latencies, aborts))
