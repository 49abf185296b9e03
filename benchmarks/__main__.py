"""`python -m benchmarks`: the engine's figures beside those of a naive columnar experiment and of Apache Hudi."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
from pathlib import Path
from typing import Any, Final

import pyspark

from nbcc.engine.spark.session import session

from . import operations, search
from .measure import Clock

# Seconds on 2 cores with 1 M rows: what a naive columnar experiment on PySpark 4.3 needed, and Apache Hudi 1.2.0.
REFERENCE: Final = {
    operations.COMPACT_LOGS: (0.54, "14-18"),
    operations.COMPACT_BOTH: (0.61, "14-18"),
    operations.SNAPSHOT: (0.47, "2.4"),
    operations.UPSERT: (0.52, "1.6"),
    operations.SMALL: (0.34, "0.5-0.6"),
}
GOAL: Final = 2.0
REFERENCE_ROWS: Final = 1_000_000


def main() -> int:
    """Print the figures; 1 if one of them is more than twice the experiment's (only said of its number of rows)."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rows", type=int, default=REFERENCE_ROWS, help="rows of the table (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default: %(default)s)")
    parser.add_argument("--blocks", action="store_true", help="compare the two formats of log blocks as well")
    parser.add_argument("--out", type=Path, default=Path("build/bench.json"), help="the JSON (default: %(default)s)")
    asked = parser.parse_args()
    spark = session("nbcc-bench")
    with tempfile.TemporaryDirectory(prefix="nbcc-bench-") as folder:
        clock = operations.rounds(spark, Path(folder), asked.rows, asked.rounds)
        counts = (100, 100_000) if asked.blocks else ()
        blocks = operations.block_formats(spark, Path(folder), counts, asked.rounds)
    spark.stop()
    searches = search.figures(asked.rounds)
    comparable = asked.rows == REFERENCE_ROWS
    figures = [figure(name, clock, comparable) for name in clock.timings]
    load = [round(average, 1) for average in os.getloadavg()]
    result = {
        "format": 1,
        "rows": asked.rows,
        "rounds": asked.rounds,
        "machine": {"cores": os.cpu_count(), "load": load, "python": platform.python_version(),
                    "pyspark": pyspark.__version__},
        "figures": figures,
        "blocks": blocks,
        "searches": searches,
    }  # fmt: skip
    show_searches(searches)
    show(figures, blocks, f"{asked.rows} rows, median of {asked.rounds} rounds, load {load[0]}")
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return int(any(entry.get("times_experiment", 0) > GOAL for entry in figures))


def show_searches(searches: list[dict[str, Any]]) -> None:
    """Sizes and speed of exhaustive searches."""
    print(f"{'search':20}{'promises':>9}{'distinct':>10}{'generated':>11}{'seconds':>9}{'transitions/s':>15}")
    for entry in searches:
        print(f"{entry['world']:20}{entry['promises']:>9}{entry['distinct']:>10}{entry['generated']:>11}", end="")
        print(f"{entry['seconds']:>9.2f}{entry['transitions_per_second']:>15}")
    print()


def figure(name: str, clock: Clock, comparable: bool) -> dict[str, Any]:
    """One operation: seconds, those outside Spark jobs, and if `comparable` how often the experiment's time."""
    timings = clock.timings[name]
    found = {
        "name": name,
        "seconds": round(timings.median, 3),
        "least": round(min(timings.seconds), 3),
        "outside_jobs": round(timings.median_outside, 3),
    }
    if comparable and name in REFERENCE:
        experiment, hudi = REFERENCE[name]
        found |= {"experiment": experiment, "hudi": hudi, "times_experiment": round(timings.median / experiment, 2)}
    return found


def show(figures: list[dict[str, Any]], blocks: list[dict[str, Any]], title: str) -> None:
    """The figures as a table, seconds throughout."""
    print(f"{title}\n{'':26}{'nbcc':>8}{'least':>8}{'experiment':>12}{'ratio':>7}{'Hudi':>9}{'outside jobs':>14}")
    for entry in figures:
        columns = (entry.get("experiment", ""), entry.get("times_experiment", ""), entry.get("hudi", ""))
        share = f"{entry['outside_jobs']:.2f} {entry['outside_jobs'] / entry['seconds']:>4.0%}"
        print(f"{entry['name']:26}{entry['seconds']:>8.2f}{entry['least']:>8.2f}", end="")
        print(f"{columns[0]!s:>12}{columns[1]!s:>7}{columns[2]!s:>9}{share:>14}")
    for entry in blocks:
        print(f"{entry['rows']:>7} rows in {entry['format']:8} blocks: write {entry['write']:.2f} s, "
              f"read {entry['read']:.2f} s, {entry['bytes']} bytes")  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
