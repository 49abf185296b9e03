"""`python -m benchmarks.validate`: `nbcc validate` on a big table, its seconds and its memory."""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from . import processes
from .big_table import BigTable

LOOK_EVERY = 0.2
"""Seconds between two looks at the memory."""


def main() -> int:
    """Make a table, judge it in a process of its own, print the figures; 1 if it is not judged fine."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.validate", description=__doc__)
    parser.add_argument("--instants", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=9, help="file groups that a write touches (default: %(default)s)")
    parser.add_argument("--every", type=int, default=1000, help="one in so many compacts (default: %(default)s)")
    parser.add_argument("--table", type=Path, help="keep the table here, and use the one that is there")
    parser.add_argument("--judge", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.judge:
        print(json.dumps(judge(asked.judge)))
        return 0
    with tempfile.TemporaryDirectory(prefix="nbcc-bench-") as folder:
        table = asked.table or Path(folder) / "big"
        if not (table / ".hoodie").exists():
            began = time.monotonic()
            made = BigTable(table, asked.instants, asked.groups, asked.every)
            made.make()
            print(f"made {made.instants:,} instants, {made.files:,} data files in {time.monotonic() - began:.0f} s")
        command = [sys.executable, "-m", "benchmarks.validate", "--judge", str(table)]
        figures = _judged(command)
    print(json.dumps({"format": 1, "load": [round(x, 1) for x in os.getloadavg()], **figures}, indent=1))
    return int(figures["verdict"] != "OK")


def _judged(command: list[str]) -> dict[str, object]:
    """The output of the process, with the peak memory of it and its children."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as judging:
        most = 0
        while judging.poll() is None:
            most = max(most, processes.held(judging.pid))
            time.sleep(LOOK_EVERY)
        assert judging.stdout is not None
        output: dict[str, object] = json.loads(judging.stdout.read())
    return {**output, "peak_mebibytes": most}


def judge(table: Path) -> dict[str, object]:
    """Seconds of wall clock and of processor time, as `nbcc validate` does it."""
    from nbcc.engine.storage import open_storage
    from nbcc.simulator.audit import validate
    from nbcc.simulator.cli.validate import MOST_WORKERS

    began = time.monotonic()
    stages: dict[str, float] = {}

    def progress(what: str, done: int, of: int) -> None:
        """When each stage begins, in seconds of processor time: a machine that others use has no other clock."""
        stages.setdefault(what, round(time.process_time(), 1))

    found = validate(open_storage(table), progress=progress, workers=MOST_WORKERS)
    seconds = time.monotonic() - began
    both = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    history = found.history
    assert history is not None, found.undetermined
    return {
        "verdict": found.verdict,
        "diagnostics": len(found.diagnostics),
        "seconds": round(seconds, 1),
        "processor_seconds": round(sum(used.ru_utime + used.ru_stime for used in both), 1),
        "began": stages,
        "instants": history.instants,
        "data_files": found.files,
        "segments": history.played,
        "shapes": history.shapes,
    }


if __name__ == "__main__":
    sys.exit(main())
