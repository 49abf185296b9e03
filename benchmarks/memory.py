"""One large file group under a bound on the memory of a task: seconds and memory of each step.

Each step runs in a process of its own, as in a Python worker of Spark, under a limit of the operating system
(`RLIMIT_DATA`). An allocation beyond `WORKER_MIB` fails, and so does the benchmark.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nbcc.engine.data.jobs import InProcessJobs, run_parts
from nbcc.engine.data.tasks import AnyRead
from nbcc.engine.limits import Limits, set_limits
from nbcc.engine.names import RandomNames
from nbcc.engine.storage import open_storage
from nbcc.engine.table import Table, open_table
from nbcc.engine.wiring import context_of

from . import progress

ROWS: Final = 20_000_000
WRITES: Final = 40
WORKER_MIB: Final = 512
RETURN_MEMORY: Final = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_MMAP_THRESHOLD_": "262144"}
"""Arrow's own allocator retains freed memory, and glibc's heap gets fragmented by arrays of some megabytes."""

TASK_BYTES: Final = 192 << 20
"""The rest of a worker's memory is that of its libraries, and what Arrow has not yet returned."""

SCHEMA: Final = pa.schema([("id", pa.int64()), ("ts", pa.int64()), ("value", pa.string())])


class CountingJobs(InProcessJobs):
    """Jobs whose reads return the number of rows. Each part of the rows is dropped, as after Spark has received it."""

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> Any:
        return sum(len(part) for task in tasks for part in run_parts(self._storage, task))


def run(folder: Path, rows: int) -> dict[str, Any]:
    """Measure writes, compactions and reads of one file group."""
    steps = {name: _in_process(name, folder / "large", rows) for name in STEPS}
    base = max(path.stat().st_size for path in (folder / "large").glob("*.parquet"))
    return {"rows": rows, "base_bytes": base, "task_bytes": TASK_BYTES, "steps": steps}


def text(result: dict[str, Any]) -> str:
    """Return the table of the figures."""
    lines = [
        f"| {result['rows']:,} rows in one file group, base file of {result['base_bytes'] >> 20} MiB, "
        f"`task_bytes` {result['task_bytes'] >> 20} MiB | seconds | processor seconds | peak, MiB of {WORKER_MIB} |",
        "|---|---|---|---|",
        *(f"| {name} | {step['seconds']:.0f} | {step['cpu']:.0f} | {step['peak']} |"
          for name, step in result["steps"].items()),
    ]  # fmt: skip
    return "\n".join(lines)


def _in_process(step: str, folder: Path, rows: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.memory", step, str(folder), str(rows)]
    with progress.during(step):
        # The limit precedes the imports, because Arrow's allocator reserves a gigabyte if it may.
        limit = partial(resource.setrlimit, resource.RLIMIT_DATA, (WORKER_MIB << 20, WORKER_MIB << 20))
        environment = {**os.environ, **RETURN_MEMORY}
        done = subprocess.run(
            command, check=True, stdout=subprocess.PIPE, text=True, preexec_fn=limit, env=environment
        )
    measured: dict[str, Any] = json.loads(done.stdout)
    return measured


def _writes(folder: Path, rows: int) -> None:
    table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=1)
    for number in range(WRITES):
        table.upsert(_batch(number * rows // WRITES, rows // WRITES, 1))


def _upsert(folder: Path, rows: int) -> None:
    Table.open(None, folder).upsert(_batch(rows // 2, rows // WRITES, 2))


def _compaction(folder: Path, rows: int) -> None:
    assert Table.open(None, folder).compact() is not None


def _snapshot(folder: Path, rows: int) -> None:
    storage = open_storage(folder)
    context = context_of(None, storage)
    counted = open_table(replace(context, jobs=CountingJobs(storage, RandomNames()))).snapshot()
    assert counted == rows, counted


STEPS: Final[dict[str, Callable[[Path, int], None]]] = {
    f"{WRITES} upserts": _writes,
    "compaction of the logs": _compaction,
    "upsert of a fortieth": _upsert,
    "snapshot of base and log": _snapshot,
    "compaction of base and log": _compaction,
}


def _batch(first: int, count: int, ts: int) -> pa.Table:
    numbers = np.arange(first, first + count)
    values = pc.binary_join_element_wise("value ", pa.array(numbers).cast(pa.string()), "")
    return pa.table([numbers, np.full(count, ts), values], schema=SCHEMA)


def main(step: str, folder: str, rows: str) -> None:
    """Run a step and print its figures as JSON."""
    set_limits(Limits(task_bytes=TASK_BYTES))
    began, cpu = time.monotonic(), time.process_time()
    STEPS[step](Path(folder), int(rows))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps({"seconds": time.monotonic() - began, "cpu": time.process_time() - cpu, "peak": peak}))


if __name__ == "__main__":
    main(*sys.argv[1:])
