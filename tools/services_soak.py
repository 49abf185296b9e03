"""A soak test of the services: two streams of commits, two services and a killer work on one table of a local folder.

``python -m tools.services_soak --commits 20000`` prints one JSON object: the largest numbers of logs per slice, active
writes and small files, the p95 of the first and last commits, and the memory of the daemons. The p95 of commits to a
new table, measured right afterwards, shows how much the machine itself has slowed down. `TMPDIR` chooses the file
system. The writers are processes without Spark. The killer ends a writer or, with `--daemons-too`, a daemon by SIGKILL,
which is started again; a writer sends its last batch again. At the end the commits are counted: each batch must have
exactly one, or `lost_batches` or `doubled_batches` lists it. The exit code is 1 if one does, if a row is wrong, or if a
daemon has ended with an error.
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
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, Final

import pyarrow as pa

from nbcc import Table
from nbcc.engine.writes.idempotency import EXTRA

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("a", pa.int64()), ("b", pa.int64())])
KEYS: Final = 50
DAEMON: Final = (
    "--every", "1s", "--json", "--compact-commits", "20", "--compact-logs", "40", "--retain", "10", "--keep", "12",
    "--active", "45", "--batch-ids", "1",
)  # fmt: skip
"""The policy of the two daemons: an archive is due above 45 active writes, because more arrive while a pass runs. The
limit of the soak is 60.
"""


def write(path: str, column: str, commits: int, per_second: float) -> None:
    """Write batches of one column, from the first batch that the progress file does not list, and record each one.

    `per_second` is the rate of the stream: a batch begins when its time has come and the one before has ended.
    """
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
            time.sleep(max(0.0, begun + 1 / per_second - time.monotonic()))
            if Path(f"{path}.stop").exists():  # after a batch: the batch of a killed writer is sent again
                break


def _small_files(path: str) -> int:
    """The files and folders in `.hoodie` without the ids of batches, which the policy retains for an hour."""
    count = 0
    for _, folders, files in os.walk(Path(path, ".hoodie")):
        folders[:] = [folder for folder in folders if folder != "batches"]  # os.walk leaves out what is removed here
        count += len(folders) + len(files)
    return count


def writer(path: str, column: str, commits: int, per_second: float) -> subprocess.Popen[str]:
    """Start the process of one stream."""
    command = [sys.executable, "-m", "tools.services_soak", "--write", path, column, str(commits), str(per_second)]
    return subprocess.Popen(command, text=True)


def daemon(path: str, log: Path) -> subprocess.Popen[str]:
    """Start a process of `nbcc serve`, which leaves the processors to the writers, as background work does."""
    start = "from nbcc.simulator.cli.start import main; main()"
    command = ["nice", "-n", "10", sys.executable, "-c", start, "serve", path, *DAEMON]
    with log.open("a", encoding="utf-8") as out:
        return subprocess.Popen(command, stdout=out, text=True)


def memory(process: subprocess.Popen[str]) -> int:
    """Return the resident memory of a process in kB."""
    status = Path(f"/proc/{process.pid}/status").read_text("utf-8")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))


def soak(
    commits: int, minutes: float, kill_every: float, heartbeat_ms: int, seed: int, per_second: float,
    given: Mapping[str, str], daemons_too: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """Run the soak in a new folder until so many commits of both streams, or so many minutes; return its figures.
    `given` are options of the table. `daemons_too`: one kill in three hits a daemon.
    """
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "t"))
        options = {
            "nbcc.partial.update.mode": "set_columns",
            "hoodie.client.heartbeat.interval_in_ms": str(heartbeat_ms),  # archiving waits for it after a kill
            "hoodie.client.heartbeat.tolerable.misses": "4",
            **given,
        }
        Table.create(None, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=2, options=options)
        logs = [Path(folder, f"daemon{number}") for number in range(2)]
        daemons = [daemon(path, log) for log in logs]
        writers = {column: writer(path, column, commits // 2, per_second) for column in ("a", "b")}
        kills, small, resident, begun = Counter[str](), [], [], time.monotonic()
        due = begun + kill_every
        try:
            while any(process.poll() != 0 for process in writers.values()):  # a killed one is started again
                time.sleep(1.0)
                small.append(_small_files(path))
                resident.append(sum(map(memory, daemons)))  # Linux only
                if len(small) % 60 == 0:
                    print(_progress(path, logs, small[-1], resident[-1]), file=sys.stderr, flush=True)
                for column, process in writers.items():
                    if process.poll() not in (None, 0):
                        writers[column] = writer(path, column, commits // 2, per_second)
                if time.monotonic() - begun > minutes * 60:
                    Path(f"{path}.stop").touch()
                alive = [process for process in writers.values() if process.poll() is None]
                if alive and time.monotonic() > due:
                    if daemons_too and chance.random() < 1 / 3:
                        kills["daemons"] += 1
                        number = chance.randrange(len(daemons))
                        daemons[number].kill()
                        daemons[number].wait()
                        daemons[number] = daemon(path, logs[number])
                    else:
                        kills["writers"] += 1
                        chance.choice(alive).kill()
                    due = time.monotonic() + kill_every
        finally:
            for process in writers.values():  # they have ended, unless the soak is interrupted
                process.kill()
            for process in daemons:
                process.send_signal(signal.SIGTERM)
            ends = [process.wait(120) for process in daemons]
        seconds = round(time.monotonic() - begun)
        ran = {"seconds": seconds, "kills": dict(kills), "daemons_ended_with": ends}
        return _figures(path, logs, small, resident) | ran


def _seconds(path: str) -> dict[str, list[float]]:
    """The seconds of each commit of both streams."""
    lists = {column: Path(f"{path}.{column}") for column in ("a", "b")}
    texts = {column: file.read_text("utf-8") if file.exists() else "" for column, file in lists.items()}
    return {column: [float(line) for line in text.split()] for column, text in texts.items()}


def _progress(path: str, logs: list[Path], small: int, resident: int) -> str:
    """One line about a soak that runs."""
    seconds = _seconds(path)
    states = [line for log in logs for line in log.read_text("utf-8").splitlines()[-9:] if '"state"' in line]
    counts = json.loads(max(states))["counts"] if states else {}
    commits = sum(map(len, seconds.values()))
    p95 = _p95(seconds, slice(-200, None)) if commits else 0.0
    return f"{commits} commits, p95 {p95} s, {small} files, {resident} kB, {counts}"


def _figures(path: str, logs: list[Path], small: list[int], resident: list[int]) -> dict[str, Any]:
    table = Table.open(None, path)
    seconds = _seconds(path)
    steps = [step for log in logs for line in log.read_text("utf-8").splitlines() if (step := _step(line))]
    states = [step["counts"] for step in steps if step["service"] == "state"]
    done = {column: len(each) for column, each in seconds.items()}
    tenth = max(1, min(500, *(count // 10 for count in done.values())))
    expected = {f"k{key}": (_last(done["a"], key), _last(done["b"], key)) for key in range(KEYS)}
    rows = {row["id"]: (row["a"], row["b"]) for row in table.snapshot().to_pylist()}
    return {
        "commits": sum(done.values()),
        "rows_right": rows == {key: row for key, row in expected.items() if row != (None, None)},
        **_batches(table, done),
        "most": {name: max(state[name] for state in states) for name in states[0]},
        "most_active_writes_not_held": max(state["active_writes"] - state["held_writes"] for state in states),
        "small_files": _tenths(small),
        "daemons_kB": _tenths(resident),
        "p95_seconds": {
            "all": _p95(seconds, slice(None)),
            "first": _p95(seconds, slice(0, tenth)),
            "last": _p95(seconds, slice(-tenth, None)),
        },
        "actions": {name: sum(s["service"] == name for s in steps) for name in sorted({s["service"] for s in steps})},
    }


def _step(line: str) -> dict[str, Any]:
    """Return what a daemon has printed; empty if a kill cut the line short."""
    try:
        step: dict[str, Any] = json.loads(line)
    except ValueError:
        return {}
    return step


def _batches(table: Table, done: dict[str, int]) -> dict[str, list[str]]:
    """The batches without a commit, and those with several."""
    context = table.context
    whole = context.history().whole
    extras = (context.commits.commit(instant).extra for instant in whole.completed if instant.writes)
    counts = Counter(each[EXTRA] for each in extras if EXTRA in each)
    wanted = {f"{column}/{number}" for column, count in done.items() for number in range(count)}
    return {
        "lost_batches": sorted(wanted - {*counts}),
        "doubled_batches": sorted(batch for batch, count in counts.items() if count > 1),
    }


def _tenths(samples: list[int]) -> dict[str, dict[str, int]]:
    """Return the median and the largest sample of the second and the last tenth of the run."""
    tenth = max(1, len(samples) // 10)
    parts = {"second_tenth": samples[tenth : 2 * tenth] or samples, "last_tenth": samples[-tenth:]}
    return {name: {"median": round(median(part)), "most": max(part)} for name, part in parts.items()}


def _last(count: int, key: int) -> int | None:
    """The newest of the first `count` batches that writes this key."""
    return max((number for number in range(count) if (key - number) % KEYS < 5), default=None)


def _p95(seconds: dict[str, list[float]], part: slice) -> float:
    values = sorted(value for each in seconds.values() for value in each[part])
    return values[int(len(values) * 0.95)]


def is_broken(figures: Mapping[str, Any]) -> bool:
    """Return True if a commit is lost or doubled, a row is wrong, or a daemon has ended with an error."""
    is_right = figures["rows_right"] and not figures["lost_batches"] and not figures["doubled_batches"]
    # A daemon that was started again a moment ago ends by the signal itself, before it handles signals.
    return not is_right or not {*figures["daemons_ended_with"]} <= {0, -signal.SIGTERM}


def main() -> int:
    """Run the soak, or one of its writers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--commits", type=int, default=20_000)
    parser.add_argument("--minutes", type=float, default=1e6, help="end after this time")
    parser.add_argument("--kill-every", type=float, default=20.0, metavar="SECONDS")
    parser.add_argument("--heartbeat-ms", type=int, default=2000, help="it expires after four times this")
    parser.add_argument("--per-second", type=float, default=5.0, help="commits of each stream, at most")
    parser.add_argument("--control", type=int, default=1000, metavar="COMMITS", help="into a new table afterwards")
    parser.add_argument("--daemons-too", action="store_true", help="kill daemons, too")
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the figures to this file")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the table")
    parser.add_argument("--write", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.write:
        path, column, commits, per_second = given.write
        write(path, column, int(commits), float(per_second))
        return 0
    options = dict(option.split("=", 1) for option in given.option)
    settings = (given.minutes, given.kill_every, given.heartbeat_ms, given.seed, given.per_second, options)
    figures = soak(given.commits, *settings, given.daemons_too)
    if given.control:
        figures["p95_seconds"]["new_table"] = soak(given.control, *settings)["p95_seconds"]["all"]
    print(json.dumps(figures, indent=2))
    if given.record:
        with given.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"of": "daemons", "options": options, "seed": given.seed, **figures}) + "\n")
    return int(is_broken(figures))


if __name__ == "__main__":
    sys.exit(main())
