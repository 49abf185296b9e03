"""One large file group under a bound on the memory of a task: seconds, and the peak of a Python worker.

The workers run under a limit of the operating system (`RLIMIT_DATA`): an allocation beyond `WORKER_MIB` fails, and so
does the benchmark.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from nbcc.engine.limits import Limits, limits, set_limits

from . import processes, progress

ROWS: Final = 20_000_000
WRITES: Final = 20
WORKER_MIB: Final = 512
TASK_BYTES: Final = 192 << 20
"""The rest of a worker's memory is that of its libraries, and what Arrow has not yet returned."""


def run(folder: Path, rows: int) -> dict[str, Any]:
    """Measure writes, a compaction, a write of new versions, a read and a compaction, each in workers of its own."""
    from nbcc.engine.spark.session import session
    from nbcc.engine.table import Table

    before = limits()
    set_limits(Limits(task_bytes=TASK_BYTES))
    settings = {
        "spark.pyspark.python": str(_limited_python(folder)),
        "spark.python.worker.reuse": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    }
    spark = session("memory", master="local[1]", conf=settings)
    columns = "id bigint, ts bigint, value string"
    table = Table.create(spark, folder / "large", columns, record_key="id", ordering_fields="ts", buckets=1)
    each = rows // WRITES

    def batch(first: int, ts: int) -> Any:
        numbers = spark.range(first, first + each, 1, 1)
        return numbers.selectExpr("id", f"cast({ts} as bigint) as ts", "concat('value ', id) as value")

    def writes() -> None:
        for number in range(WRITES):
            table.upsert(batch(number * each, 1))

    def count() -> None:
        counted = table.snapshot().count()
        assert counted == each * WRITES, counted

    steps: dict[str, Callable[[], object]] = {
        f"{WRITES} upserts": writes,
        "snapshot of the logs": count,
        "compaction of the logs": table.compact,
        "upsert of a twentieth": lambda: table.upsert(batch(0, 2)),
        "snapshot of base and log": count,
        "compaction of base and log": table.compact,
        "snapshot of the base": count,
    }
    try:
        measured = {name: _measured(name, step) for name, step in steps.items()}
    finally:
        spark.stop()
        set_limits(before)
    base = max(path.stat().st_size for path in (folder / "large").glob("*.parquet"))
    return {"rows": each * WRITES, "base_bytes": base, "task_bytes": TASK_BYTES, "steps": measured}


def text(result: dict[str, Any]) -> str:
    """Return the table of the figures."""
    lines = [
        f"| {result['rows']:,} rows in one file group (base file {result['base_bytes'] >> 20} MiB), "
        f"task_bytes {result['task_bytes'] >> 20} MiB | seconds | peak of a Python worker, MiB of {WORKER_MIB} |",
        "|---|---|---|",
        *(f"| {name} | {step['seconds']:.0f} | {step['peak']} |" for name, step in result["steps"].items()),
    ]
    return "\n".join(lines)


def _limited_python(folder: Path) -> Path:
    """Write a program that runs Python under the limit of a worker."""
    program = folder / "limited-python"
    program.write_text(f'#!/bin/sh\nulimit -d {WORKER_MIB << 10}\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


def _measured(name: str, step: Callable[[], object]) -> dict[str, Any]:
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            sizes = processes.peaks(os.getpid())
            peak = max([peak, *(size for program, size in sizes.items() if program.startswith("python"))])

    watcher = threading.Thread(target=watch)
    with progress.during(name):
        watcher.start()
        began = time.monotonic()
        try:
            step()
        finally:
            seconds = time.monotonic() - began
            done.set()
            watcher.join()
    return {"seconds": seconds, "peak": peak}
