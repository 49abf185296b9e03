"""`python -m benchmarks [KIND ...]`: progress on standard error, the tables on standard output.

beside   nbcc beside Apache Hudi 1.2.0 and plain Parquet, the same operations on the same rows
writers  two writers in two processes, at once and one after the other, nbcc and Hudi
scale    a small commit on a long timeline, slicing a million log files, memory of a large table
search   speed of the exhaustive search, its largest worlds with their memory, cells on one and two cores
tlc      the search beside TLC on the same models, whole processes (TLC is there after `make interop`)
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

from . import beside, scale, search, tlc, writers

KINDS = ("beside", "writers", "scale", "search", "tlc")
ROWS = 1_000_000


def main() -> int:
    """Print what was asked for; 1 if a goal is missed (only said of the number of rows that the goals are for)."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", nargs="*", metavar="KIND", help=f"one or more of {', '.join(KINDS)} (default: beside)")
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows, three rounds, no large table")
    parser.add_argument("--rows", type=int, help=f"rows of the table (default: {ROWS:,})")
    parser.add_argument("--rounds", type=int, help="rounds whose median counts (default: 5)")
    parser.add_argument("--peer-rounds", type=int, help="rounds of Hudi with each log format (default: as --rounds)")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="the JSON (default: %(default)s)")
    asked = parser.parse_args()
    kinds = asked.kind or ["beside"]
    if unknown := sorted(set(kinds) - set(KINDS)):
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(KINDS)}")
    asked.rows = asked.rows or (ROWS // 10 if asked.quick else ROWS)
    asked.rounds = asked.rounds or (3 if asked.quick else 5)
    with tempfile.TemporaryDirectory(prefix="nbcc-bench-") as name:
        found = {kind: _run(kind, Path(name), asked) for kind in kinds}
    load = round(os.getloadavg()[0], 1)
    machine = {"cores": os.cpu_count(), "load": load, "python": platform.python_version()}
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps({"format": 1, "machine": machine, **found}, indent=1) + "\n", encoding="utf-8")
    print(f"\n{os.cpu_count()} cores, load {load} at the end")
    return int("beside" in found and beside.missed(found["beside"]))


def _run(kind: str, folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """One kind, its table printed as soon as it stands."""
    if kind == "beside":
        result = beside.run(folder, asked.rows, asked.rounds, asked.peer_rounds or asked.rounds)
        said = beside.text(result)
    elif kind == "writers":
        result = writers.run(folder)
        said = writers.text(result)
    elif kind == "scale":
        result = scale.run(folder, asked.rows, asked.quick)
        said = scale.text(result)
    elif kind == "tlc":
        result = {"models": tlc.run(asked.rounds)}
        said = tlc.text(result["models"])
    else:
        worlds, largest = search.figures(asked.rounds), search.largest()
        result = {"worlds": worlds, "largest": largest, "cores": search.cores(asked.rounds)}
        said = search.text(result)
    print(f"\n{said}", flush=True)
    return result


if __name__ == "__main__":
    raise SystemExit(main())
