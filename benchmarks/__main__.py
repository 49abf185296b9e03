"""`python -m benchmarks [KIND ...]`: progress on standard error, the tables on standard output.

compare  nbcc, Apache Hudi 1.2.0 and plain Parquet: the same operations on the same rows
writers  two writers in two processes, concurrently and in sequence, nbcc and Hudi
requests requests of a commit in an object store, after 10 and after 10,000 commits
reads    bytes and seconds of reads with a condition, of partitions and of a clustered column; the cost of checksums
snapshot the first snapshot of a process at 100,000 commits, through a state checkpoint
stores   1 to 16 writers on one table in an object store that answers after 20 ms, in each mode of nbcc, and Hudi
scale    a small commit on a long timeline, slicing a million log files, memory of a large table
memory   a file group of 20 million rows, merged by Python workers that may hold 512 MiB
rows     a table of 100 million rows in 64 file groups: an upsert of one percent, a compaction, snapshots
resize   a table of 8 GB from 4 to 16 buckets while two writers and a reader run: pauses, rows, memory
search   speed of the exhaustive search, its largest worlds with their memory, jobs on one and two cores
streams  rows a second of a copy by streams and of a rate source, nbcc and Hudi
workload the workload simulation compared with real writers, after a calibration on this machine
tlc      the search and TLC on the same models, whole processes (`make interop` installs TLC)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from . import (
    checksums,
    compare,
    first_snapshot,
    many_rows,
    memory,
    reads,
    requests,
    resizes,
    scale,
    search,
    stores,
    streams,
    tlc,
    workload,
    writers,
)

KINDS = (
    "compare", "writers", "requests", "stores", "reads", "memory", "rows", "resize", "scale", "search", "snapshot",
    "streams", "tlc", "workload",
)  # fmt: skip
BY_ROWS = {"memory": memory, "rows": many_rows, "resize": resizes}
"""Kinds that have a number of rows of their own."""

ROWS = 1_000_000


def main() -> int:
    """Run the benchmarks and print their tables; returns 1 if a goal is missed. Goals assume the default rows."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", nargs="*", metavar="KIND", help=f"one or more of {', '.join(KINDS)} (default: compare)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three rounds, nothing large")
    parser.add_argument("--rows", type=int, help=f"rows of the table (default: {ROWS:,})")
    parser.add_argument("--rounds", type=int, help="rounds whose median counts (default: 5)")
    parser.add_argument("--peer-rounds", type=int, help="rounds of Hudi with each log format (default: as --rounds)")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="the JSON (default: %(default)s)")
    options = parser.parse_args()
    kinds = options.kind or ["compare"]
    if unknown := sorted(set(kinds) - set(KINDS)):
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(KINDS)}")
    options.rows = options.rows or (ROWS // 10 if options.quick else ROWS)
    options.rounds = options.rounds or (3 if options.quick else 5)
    with tempfile.TemporaryDirectory(prefix="nbcc-bench-") as name:
        results = {kind: _run(kind, Path(name), options) for kind in kinds}
    load = round(os.getloadavg()[0], 1)
    machine = {"cores": os.cpu_count(), "load": load, "python": platform.python_version()}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({"format": 1, "machine": machine, **results}, indent=1) + "\n", encoding="utf-8")
    print(f"\n{os.cpu_count()} cores, load {load} at the end")
    judged = {"compare": compare.missed, "requests": requests.missed, "reads": reads.missed, "streams": streams.missed}
    return int(any(missed(results[kind]) for kind, missed in judged.items() if kind in results))


def _run(kind: str, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Run one kind of benchmark and print its table."""
    if kind == "compare":
        result = compare.run(folder, options.rows, options.rounds, options.peer_rounds or options.rounds)
        table = compare.text(result)
    elif kind == "requests":
        result = requests.run(folder, (10, 1_000) if options.quick else requests.HISTORIES)
        table = requests.text(result)
    elif kind == "workload":
        result = workload.run(folder, options.quick)
        table = workload.text(result)
    elif kind == "stores":
        result = stores.run(folder, 1 if options.quick else options.rounds)
        table = stores.text(result)
    elif kind == "writers":
        result = writers.run(folder)
        table = writers.text(result)
    elif kind == "reads":
        result = {**reads.run(folder, options.rows), "checksums": checksums.run(folder, options.rows // 5)}
        table = f"{reads.text(result)}\n\n{checksums.text(result['checksums'])}"
    elif kind in BY_ROWS:
        module = BY_ROWS[kind]
        result = module.run(folder, module.ROWS // 20 if options.quick else module.ROWS)
        table = module.text(result)
    elif kind == "snapshot":
        result = first_snapshot.run(folder, (1_000,) if options.quick else first_snapshot.HISTORIES)
        table = first_snapshot.text(result)
    elif kind == "scale":
        result = scale.run(folder, options.rows, options.quick)
        table = scale.text(result)
    elif kind == "streams":
        result = streams.run(folder, options.rows, options.rounds)
        table = streams.text(result)
    elif kind == "tlc":
        result = {"models": tlc.run(options.rounds, options.quick)}
        table = tlc.text(result["models"])
    else:
        worlds, largest = search.figures(options.rounds), search.largest()
        result = {"worlds": worlds, "largest": largest, "cores": search.cores(options.rounds)}
        table = search.text(result)
    print(f"\n{table}", flush=True)
    return result


if __name__ == "__main__":
    raise SystemExit(main())
