"""Writers on one table in an object store: commits and requests a second, and the latency of a commit.

Each writer is a process that upserts small batches into the same file groups of a table on the S3 server of
`nbcc.simulator.s3`, which answers each request after 20 ms. A writer whose commit conflicts writes the batch again.
Apache Hudi's writers, each with its JVM, are measured on the same server if Hudi's environment exists.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.config.options import SKEW
from nbcc.engine.errors import Conflict
from nbcc.engine.table import Table
from nbcc.simulator.s3.server import Bucket, s3_server

from . import progress
from .side import Side, SideError, hudi_is_there

WRITERS: Final = (1, 2, 4, 8)
MODES: Final = {"NBCC": "NON_BLOCKING_CONCURRENCY_CONTROL", "OCC": "OPTIMISTIC_CONCURRENCY_CONTROL"}
HUDI: Final = "Hudi 1.2.0, NBCC"
HUDI_WRITERS: Final = (1, 2, 4)
HUDI_HEAP: Final = "1g"  # of each JVM
HUDI_WARM_SECONDS: Final = 10.0
HUDI_SECONDS: Final = 60.0  # at least: a commit of Hudi takes several seconds
LATENCY_SECONDS: Final = 0.02
SKEW_MS: Final = 5
URL: Final = "s3://lake/t"
SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])
ROWS: Final = 8
BUCKETS: Final = 2

_SPAWNED: Final = multiprocessing.get_context("spawn")


def run(folder: Path, seconds: float) -> dict[str, Any]:
    """The figures by mode and number of writers; each pair is measured for `seconds`, Hudi's for a minute or more."""
    rows = []
    for mode in MODES:
        for writers in WRITERS:
            with progress.during(f"{mode}, {writers} writers"):
                rows.append({"mode": mode, "writers": writers, **_measured(MODES[mode], writers, seconds)})
    if hudi_is_there():
        rows += _hudi(folder, max(seconds, HUDI_SECONDS))
    return {"seconds": seconds, "latency": LATENCY_SECONDS, "skew_ms": SKEW_MS, "rows": rows}


def text(result: dict[str, Any]) -> str:
    """The table of a result."""
    head = "| mode | writers | commits/s | median s | slowest tenth from s | conflicts a commit | requests/s |"
    lines = [
        f"| {row['mode']} | {row['writers']} | {row['commits_a_second']:.2f} | {row['median']:.2f} "
        f"| {row['ninetieth']:.2f} | {row['conflicts_a_commit']:.2f} | {row['requests_a_second']:.0f} |"
        for row in result["rows"]
    ]
    return "\n".join([head, "|---|---|---|---|---|---|---|", *lines])


def _measured(mode: str, writers: int, seconds: float) -> dict[str, Any]:
    with s3_server() as bucket:
        Table.create(
            None, URL, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS, options={SKEW: str(SKEW_MS)},
            concurrency_mode=mode, storage_options=bucket.options,
        )  # fmt: skip
        answers, ready = _SPAWNED.Queue(), _SPAWNED.Barrier(writers + 1)
        processes = [
            _SPAWNED.Process(target=_write, args=(number, bucket.options, seconds, ready, answers))
            for number in range(writers)
        ]
        for process in processes:
            process.start()
        ready.wait(120)
        bucket.latency_seconds = LATENCY_SECONDS
        bucket.requests.clear()
        time.sleep(seconds)
        requests = len(bucket.requests)
        found = [answers.get(timeout=120) for _ in processes]
        for process in processes:
            process.join()
    return figures(found, requests, seconds)


def figures(found: list[dict[str, Any]], requests: int, seconds: float) -> dict[str, Any]:
    """The figures of one row from the answers of the writers."""
    latencies = sorted(latency for each in found for latency in each["latencies"])
    commits, conflicts = len(latencies), sum(each["conflicts"] for each in found)
    return {
        "commits_a_second": round(sum(each["in_time"] for each in found) / seconds, 3),
        "median": round(statistics.median(latencies), 3),
        "ninetieth": round(latencies[int(0.9 * (commits - 1))], 3),
        "conflicts_a_commit": round(conflicts / commits, 3),
        "requests_a_second": round(requests / seconds, 1),
    }


def _write(number: int, options: dict[str, Any], seconds: float, ready: Any, answers: Any) -> None:
    """Commit until the time is over. The answer: the seconds of each commit with its repetitions, the number of
    conflicts, and the number of commits that returned in time.
    """
    table = Table.open(None, URL, options)
    ready.wait(120)
    latencies: list[float] = []
    conflicts, in_time, until = 0, 0, time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        ids = [f"{number}.{len(latencies)}.{row}" for row in range(ROWS)]
        batch = pa.table({"id": ids, "ts": [time.time_ns()] * ROWS}, schema=SCHEMA)
        while True:
            try:
                table.upsert(batch)
                break
            except Conflict:
                conflicts += 1
        latencies.append(time.monotonic() - began)
        in_time += time.monotonic() <= until
    answers.put({"latencies": latencies, "conflicts": conflicts, "in_time": in_time})


def _hudi(folder: Path, seconds: float) -> list[dict[str, Any]]:
    """Hudi's rows: its writers are added one after the other, each number of them has a table of its own."""
    rows, sides = [], list[Side]()
    with ExitStack() as stack:
        bucket, locks = stack.enter_context(s3_server()), 0
        for writers in HUDI_WRITERS:
            while len(sides) < writers:
                log = folder / f"hudi-{len(sides)}.log"
                sides.append(Side("hudi", log, cores=1, heap=HUDI_HEAP, store=bucket.texts))
                stack.callback(sides[-1].close)
            locks = locks or sides[0].do("serve_locks", folder=str(folder / "zookeeper")).answer
            with progress.during(f"{HUDI}, {writers} writers"):
                row = _hudi_measured(sides, bucket, locks, seconds)
            rows.append({"mode": HUDI, "writers": writers, **row})
    return rows


def _hudi_measured(sides: list[Side], bucket: Bucket, locks: int, seconds: float) -> dict[str, Any]:
    path, commits = f"s3a://lake/hudi-{len(sides)}", 0
    for number, side in enumerate(sides):  # the first one creates the table; the loop also warms the JVM
        side.do("join_in_store", path=path, buckets=BUCKETS, locks=locks, skew=SKEW_MS)
        warm = side.do("repeat", writer=len(sides) + number, rows=ROWS, seconds=HUDI_WARM_SECONDS).answer
        commits += len(warm["latencies"])
    bucket.latency_seconds = LATENCY_SECONDS
    bucket.requests.clear()
    for number, side in enumerate(sides):
        side.send("repeat", writer=number, rows=ROWS, seconds=seconds)
    time.sleep(seconds)
    requests = len(bucket.requests)
    found = [side.receive().answer for side in sides]
    bucket.latency_seconds = 0
    commits += sum(len(each["latencies"]) for each in found)
    if (rows := sides[0].do("count").answer) != commits * ROWS:
        raise SideError(f"Hudi's table has {rows} rows after {commits} commits of {ROWS}")
    return figures(found, requests, seconds)
