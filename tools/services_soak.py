"""A soak test of the services: two streams of commits, two services and a killer work on one table of a local folder.

``python -m tools.services_soak --commits 20000`` prints one JSON object with figures of files, latencies and memory.
The writers are processes without Spark. The killer ends a writer by SIGKILL; the writer is started again and sends its
last batch again.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc import Table

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("a", pa.int64()), ("b", pa.int64())])
KEYS: Final = 50
DAEMON: Final = (
    "--every", "0.5s", "--json", "--compact-commits", "20", "--compact-logs", "40", "--retain", "20", "--keep", "30",
    "--active", "60", "--batch-ids", "1",
)  # fmt: skip
"""The policy of the two daemons."""


def write(path: str, column: str, commits: int) -> None:
    """Write batches of one column, from the first batch that the progress file does not list, and record each one."""
    progress = Path(f"{path}.{column}")
    table = Table.open(None, path)
    with progress.open("a", encoding="utf-8") as written:
        for number in range(len(progress.read_text("utf-8").splitlines()), commits):
            keys = [f"k{(number + step) % KEYS}" for step in range(5)]
            rows = pa.table({"id": keys, "ts": [number] * 5, column: [number] * 5})
            begun = time.monotonic()
            table.upsert(rows, batch_id=f"{column}/{number}", columns=[column])
            written.write(f"{time.monotonic() - begun:.4f}\n")
            written.flush()


def writer(path: str, column: str, commits: int) -> subprocess.Popen[str]:
    """Start the process of one stream."""
    command = [sys.executable, "-m", "tools.services_soak", "--write", path, column, str(commits)]
    return subprocess.Popen(command, text=True)


def daemon(path: str, log: Path) -> subprocess.Popen[str]:
    """Start a process of `nbcc serve`."""
    start = "from nbcc.simulator.cli.start import main; main()"
    with log.open("w", encoding="utf-8") as out:
        return subprocess.Popen([sys.executable, "-c", start, "serve", path, *DAEMON], stdout=out, text=True)


def memory(process: subprocess.Popen[str]) -> int:
    """Return the resident memory of a process in kB."""
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def soak(commits: int, kill_every: float, seed: int) -> dict[str, Any]:
    """Run the soak in a new folder, and return its figures. `commits` is the number of commits of both streams
    together.
    """
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "t"))
        options = {"nbcc.partial.update.mode": "set_columns"}
        Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2, options=options)
        logs = [Path(folder, f"daemon{number}") for number in range(2)]
        daemons = [daemon(path, log) for log in logs]
        writers = {column: writer(path, column, commits // 2) for column in ("a", "b")}
        kills, small, resident, due = 0, [], [], time.monotonic() + kill_every
        try:
            while any(process.poll() != 0 for process in writers.values()):  # a killed one is started again
                time.sleep(1.0)
                small.append(sum(len(files) for _, _, files in os.walk(Path(path, ".hoodie"))))
                resident.append(sum(map(memory, daemons)))  # Linux only
                for column, process in writers.items():
                    if process.poll() not in (None, 0):
                        writers[column] = writer(path, column, commits // 2)
                alive = [process for process in writers.values() if process.poll() is None]
                if alive and time.monotonic() > due:
                    chance.choice(alive).send_signal(signal.SIGKILL)
                    kills, due = kills + 1, time.monotonic() + kill_every
        finally:
            for process in daemons:
                process.send_signal(signal.SIGTERM)
            ends = [process.wait(120) for process in daemons]
        return _figures(path, commits, logs, small, resident) | {"kills": kills, "daemons_ended_with": ends}


def _figures(path: str, commits: int, logs: list[Path], small: list[int], resident: list[int]) -> dict[str, Any]:
    table = Table.open(None, path)
    seconds = {column: [float(line) for line in Path(f"{path}.{column}").read_text().split()] for column in ("a", "b")}
    steps = [json.loads(line) for log in logs for line in log.read_text("utf-8").splitlines()]
    states = [step["counts"] for step in steps if step["service"] == "state"]
    tenth = max(1, min(1000, commits // 20))
    rows = {row["id"]: (row["a"], row["b"]) for row in table.snapshot().to_pylist()}
    last = {key: max(n for n in range(commits // 2) if _writes(n, key)) for key in range(KEYS)}
    return {
        "commits": commits,
        "rows_right": rows == {f"k{key}": (last[key], last[key]) for key in range(KEYS)},
        "most_logs_per_slice": max(state["logs_per_slice"] for state in states),
        "most_active_instants": max(state["active_instants"] for state in states),
        "small_files": _tenths(small),
        "daemons_kB": _tenths(resident),
        "p95_seconds": {"first": _p95(seconds, slice(0, tenth)), "last": _p95(seconds, slice(-tenth, None))},
        "actions": {name: sum(s["service"] == name for s in steps) for name in sorted({s["service"] for s in steps})},
    }


def _tenths(samples: list[int]) -> dict[str, int]:
    """Return the largest sample of each tenth of the run that the report compares: the second and the last tenth."""
    tenth = max(1, len(samples) // 10)
    return {"second_tenth": max(samples[tenth : 2 * tenth] or samples), "last_tenth": max(samples[-tenth:])}


def _writes(number: int, key: int) -> bool:
    return (key - number) % KEYS < 5


def _p95(seconds: dict[str, list[float]], part: slice) -> float:
    values = sorted(value for each in seconds.values() for value in each[part])
    return values[int(len(values) * 0.95)]


def main() -> None:
    """Run the soak, or one of its writers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--kill-every", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        path, column, commits = given.write
        write(path, column, int(commits))
    else:
        print(json.dumps(soak(given.commits, given.kill_every, given.seed), indent=2))


if __name__ == "__main__":
    main()
