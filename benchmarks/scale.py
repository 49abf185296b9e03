"""What must not grow: a small commit and the services with the timeline, memory with the rows; and how long slicing
takes at all."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

import pyarrow as pa

from nbcc.engine.data.tasks import WrittenFile
from nbcc.engine.file_names import LogName
from nbcc.engine.files.group_files import LogFile
from nbcc.engine.files.slices import build_slices, to_read
from nbcc.engine.names import bucket_file_id
from nbcc.engine.rules import NBCC
from nbcc.engine.table import Table
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.timeline import FOLDER
from nbcc.engine.writes.commits import write_commit
from tools import markdown

from . import processes, progress
from .inputs import Inputs
from .side import Side

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("note", pa.string())])
INSTANTS: Final = (10, 1_000, 10_000)
BUCKETS: Final = 4
EPOCH: Final = 20_260_101_000_000_000


def run(folder: Path, rows: int, quick: bool) -> dict[str, Any]:
    """The five figures; `quick` leaves the large table out."""
    found: dict[str, Any] = {"commits": [small_commit(folder / f"with-{count}", count) for count in INSTANTS]}
    found["durability"] = [durability(folder / f"durable-{on}", on) for on in (True, False)]
    found["services"] = [services(folder / f"served-{count}", count) for count in INSTANTS]
    found["slicing"] = slicing(100_000, 10)
    if not quick:
        found["memory"] = memory(folder, rows)
    return found


# a small commit on a long timeline


def small_commit(folder: Path, instants: int) -> dict[str, Any]:
    """Seconds of a commit of 100 rows, without Spark, on a table of so many completed instants; medians of 9."""
    with progress.during(f"small commit at {instants} instants"):
        (folder / FOLDER).mkdir(parents=True)
        table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS)
        _history(table, folder, instants)
        rows = pa.table({"id": [f"k{n}" for n in range(100)], "ts": [1] * 100, "note": ["x"] * 100}, SCHEMA)
        table.upsert(rows)
        took = [_timed(lambda: table.upsert(rows)) for _ in range(9)]
    return {
        "instants": instants,
        "seconds": round(median(wall for wall, _ in took), 4),
        "processor_seconds": round(median(processor for _, processor in took), 4),
    }


def durability(folder: Path, on: bool) -> dict[str, Any]:
    """Seconds of a commit of 100 rows, without Spark, with and without syncing its files to the disk; medians of 50."""
    with progress.during(f"small commit, durable: {on}"):
        table = Table.create(
            None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS,
            storage_options={"durable": on},
        )  # fmt: skip
        rows = pa.table({"id": [f"k{n}" for n in range(100)], "ts": [1] * 100, "note": ["x"] * 100}, SCHEMA)
        table.upsert(rows)
        took = [_timed(lambda: table.upsert(rows)) for _ in range(50)]
    seconds, processor = (median(each) for each in zip(*took, strict=True))
    return {"durable": on, "seconds": round(seconds, 4), "processor_seconds": round(processor, 4)}


def _timed(step: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall-clock and of processor time. Only the latter is comparable on a shared machine."""
    began, worked = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - began, time.process_time() - worked


def services(folder: Path, instants: int) -> dict[str, Any]:
    """Seconds of each service on a table of so many completed instants, and of a small commit and a snapshot before
    and after the timeline is archived, by a process that has the table open and by one that opens it (`first`). The
    commits of the past are empty, so that all of them may go.
    """
    with progress.during(f"services at {instants} instants"):
        (folder / FOLDER).mkdir(parents=True)
        table = Table.create(None, folder, SCHEMA, record_key="id", ordering_fields="ts", buckets=BUCKETS)
        _history(table, folder, instants, files=0)
        rows = pa.table({"id": [f"k{n}" for n in range(100)], "ts": [1] * 100, "note": ["x"] * 100}, SCHEMA)
        table.upsert(rows)
        table.snapshot()
        steps: dict[str, Callable[[], object]] = {
            "commit": lambda: table.upsert(rows),
            "snapshot": table.snapshot,
            "first snapshot": lambda: Table.open(None, folder).snapshot(),
            "first commit": lambda: Table.open(None, folder).upsert(rows),
            "state checkpoint": lambda: Table.open(None, folder).run("checkpoint_state"),
            "first commit, state checkpoint": lambda: Table.open(None, folder).upsert(rows),
            "first snapshot, state checkpoint": lambda: Table.open(None, folder).snapshot(),
            "compact": table.compact,
            "commit and compact": lambda: (table.upsert(rows), table.compact()),
            "clean": lambda: table.clean(retained=1),
            "archive": lambda: table.archive(retained=1),
            "commit, archived": lambda: table.upsert(rows),
            "snapshot, archived": table.snapshot,
            "first snapshot, archived": lambda: Table.open(None, folder).snapshot(),
        }
        took = {name: _timed(step) for name, step in steps.items()}
    return {
        "instants": instants,
        "seconds": {name: round(wall, 4) for name, (wall, _) in took.items()},
        "processor_seconds": {name: round(processor, 4) for name, (_, processor) in took.items()},
    }


def _history(table: Table, folder: Path, instants: int, files: int = BUCKETS) -> None:
    """Write completed delta commits with past times as files. No operation reads their logs."""
    written = [_written(bucket, f"{EPOCH}") for bucket in range(files)]
    content = write_commit(table.config, f"{EPOCH}", "UPSERT", written)
    for number in range(instants):
        requested, completed = f"{EPOCH + 2 * number}", f"{EPOCH + 2 * number + 1}"
        for state in ("requested", "inflight"):
            (folder / FOLDER / Instant(requested, "deltacommit", state).file_name).write_bytes(b"")
        done = Instant(requested, "deltacommit", "completed", completed)
        (folder / FOLDER / done.file_name).write_bytes(content)


def _written(bucket: int, instant: str) -> WrittenFile:
    file_id = bucket_file_id(bucket)
    return WrittenFile(str(LogName(file_id, instant, 1, "0-0-0")), "", file_id, 1000, 10, 0, 1)


# slicing on the driver


def slicing(instants: int, files: int) -> dict[str, Any]:
    """Seconds to slice `instants` x `files` log files, spread over ten file groups a write, without any storage."""
    with progress.during(f"slicing {instants * files:,} log files"):
        logs = [
            LogFile(
                "", bucket_file_id(bucket), requested, completed, 1, "0-0-0", requested, f"{bucket}-{requested}", 1000
            )
            for requested, completed in ((f"{EPOCH + 2 * n}", f"{EPOCH + 2 * n + 1}") for n in range(instants))
            for bucket in range(files)
        ]
        plans = {("", bucket_file_id(bucket)): [f"{EPOCH + instants}"] for bucket in range(files)}
        began, worked = time.perf_counter(), time.process_time()
        slices = build_slices(logs, plans, NBCC)
        read = to_read(slices, NBCC)
        seconds, processor = time.perf_counter() - began, time.process_time() - worked
    assert sum(len(piece.logs) for piece in read) == len(logs)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return {
        "instants": instants,
        "log_files": len(logs),
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "process_peak_mib": peak,
    }


# memory


def memory(folder: Path, rows: int) -> list[dict[str, Any]]:
    """The most memory of a process of each kind while so many rows are upserted, compacted and read.

    At equal rows a file group that of a Python worker must not grow with the table; the JVM has its heap.
    """
    found = []
    for times in (1, 10):
        side = Side("ours", folder / f"memory-{times}.log")
        try:
            data = Inputs(side, folder / "inputs").path(times * rows)
            side.do("fresh", path=str(folder / "large"), buckets=BUCKETS * times)
            seconds = {name: round(side.do(name, **given).seconds, 1) for name, given in
                       {"upsert": {"data": data}, "compact": {}, "snapshot": {}}.items()}  # fmt: skip
            peak = processes.peaks(side.pid)
        finally:
            side.close()
        found.append({"rows": times * rows, "buckets": BUCKETS * times, "peak_mib": peak, "seconds": seconds})
    return found


LENGTHS: Final = (INSTANTS[0], INSTANTS[-1])
"""The numbers of instants that docs/speed.md shows."""


def page_table(result: Mapping[str, Any]) -> str:
    """Return the milliseconds of processor time on a short and a long timeline, and what slicing takes, in Markdown."""
    small = {row["instants"]: row["processor_seconds"] for row in result["commits"]}
    services = {row["instants"]: row["processor_seconds"] for row in result["services"]}
    rows = [["small commit, 100 rows", *(f"{1000 * small[count]:,.0f}" for count in LENGTHS)]]
    rows += [
        [name, *(f"{1000 * services[count][name]:,.0f}" for count in LENGTHS)]
        for name in services[LENGTHS[0]]
        if name != "commit"  # measured once: `small` is the median of nine
    ]
    slices = result["slicing"]
    sentence = (
        f"Slicing {slices['log_files']:,} log files of {slices['instants']:,} instants takes "
        f"{slices['processor_seconds']:.1f} s of processor time and {slices['process_peak_mib']} MiB."
    )
    head = ("operation", *(f"{count:,} instants" for count in LENGTHS))
    return "\n".join([*markdown.table(head, rows), "", sentence])


def text(result: dict[str, Any]) -> str:
    """The figures, a line each."""
    lines = ["milliseconds by the clock, and of processor time"]
    lines += [
        _line("small commit, 100 rows, no Spark", row["instants"], row["seconds"], row["processor_seconds"])
        for row in result["commits"]
    ]
    lines += [
        f"small commit, 100 rows, durable {'on' if row['durable'] else 'off':26} {1000 * row['seconds']:16.1f} "
        f"{1000 * row['processor_seconds']:9.1f}"
        for row in result.get("durability", ())
    ]
    lines += [
        _line(name, row["instants"], seconds, row["processor_seconds"][name])
        for row in result.get("services", ())
        for name, seconds in row["seconds"].items()
    ]
    slices = result["slicing"]
    lines.append(
        f"slicing {slices['log_files']:,} log files of {slices['instants']:,} instants: {slices['seconds']:.1f} s "
        f"({slices['processor_seconds']:.1f} s of processor time), the process at most {slices['process_peak_mib']} MiB"
    )
    for row in result.get("memory", ()):
        lines.append(
            f"{row['rows']:,} rows in {row['buckets']} file groups: MiB at most "
            + ", ".join(f"{name} {peak}" for name, peak in sorted(row["peak_mib"].items()))
            + "; seconds "
            + ", ".join(f"{name} {seconds}" for name, seconds in row["seconds"].items())
        )
    return "\n".join(lines)


def _line(name: str, instants: int, seconds: float, processor: float) -> str:
    return f"{name:40}{instants:>7,} instants: {1000 * seconds:9.1f} {1000 * processor:9.1f}"
