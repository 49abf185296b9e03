"""A copy of a table by `readStream` -> `writeStream` while its driver and its Python workers are killed at random.

``python -m tools.stream_kills --kills 200`` prints one JSON object. A writer feeds the source, and services compact
both tables and roll back dead writers. A kill of the driver ends its Python process and its JVM; a new driver continues
with the same checkpoint. At the end the copy after each trigger is compared with the source as of the offset of that
trigger: `wrong_triggers` lists the ones that differ, `doubled_batches` the batches with two commits.
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
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc import MaintenancePolicy, Table
from nbcc.engine.timeline import completion_of, load
from nbcc.engine.writes.idempotency import EXTRA

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])
OPTIONS: Final = {
    "hoodie.client.heartbeat.interval_in_ms": "2000",
    "hoodie.client.heartbeat.tolerable.misses": "5",
}
POLICY: Final = MaintenancePolicy(compact_commits=20, clean=False, archive=False, collect=False)
"""Every trigger is compared at the end, so no state is cleaned."""

AFTER_PROGRESS: Final = 0.4
"""The share of the kills of workers before which the query completes a trigger. The others hit it as it recovers."""

WAIT_SECONDS: Final = 300.0
"""The longest time in which a query must complete a trigger after a kill."""


def drive(folder: Path, last: bool) -> None:
    """Run the query in this process, and start it again after each death of a worker. `last`: until all is copied."""
    from nbcc import session

    spark = session("stream_kills", conf={"spark.sql.streaming.minBatchesToRetain": "100000"})
    while True:
        try:
            reader = spark.readStream.format("nbcc").option("hoodie.datasource.query.type", "incremental")
            writer = reader.load(str(folder / "source")).writeStream.format("nbcc")
            writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
            writer = writer.trigger(availableNow=True) if last else writer.trigger(processingTime="0 seconds")
            writer.start(str(folder / "copy")).awaitTermination()
            return
        except Exception as died:  # a worker that plans the query dies in other ways than one that runs it
            if "Asked to" in str(died):  # an error of nbcc
                raise
            print(f"the query died: {str(died)[:200]}", file=sys.stderr, flush=True)


class Feeder:
    """Threads that write to the source and run the services of both tables, until `done`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.done, self.failures = threading.Event(), list[BaseException]()
        self._folder, self._chance = folder, random.Random(seed)
        self._threads = [threading.Thread(target=self._run, args=(step,)) for step in (self._write, self._serve)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self.done.set()
        for thread in self._threads:
            thread.join()

    def _run(self, step: Any) -> None:
        try:
            number = 0
            while not self.done.wait(1.0):
                step(number)
                number += 1
        except BaseException as failed:
            self.failures.append(failed)

    def _write(self, number: int) -> None:
        source = Table.open(None, self._folder / "source")
        keys = [f"k{key}" for key in self._chance.sample(range(12), 4)]
        source.upsert(pa.table({"id": keys, "ts": [number] * 4}, SCHEMA))
        if self._chance.random() < 0.3:
            source.delete(pa.table({"id": keys[:1], "ts": [number]}, SCHEMA))

    def _serve(self, _: int) -> None:
        for name in ("source", "copy"):
            Table.open(None, self._folder / name).maintain(POLICY)


def start(folder: Path, last: bool = False) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tools.stream_kills", "--drive", str(folder), *(["--last"] if last else [])]
    with (folder / "driver.log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def descendants(root: int) -> dict[int, str]:
    """The processes below a process, with their command lines. Linux and macOS."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    parents = {int(row[0]): int(row[1]) for row in rows}
    arguments = {int(row[0]): row[-1] for row in rows}

    def is_below(pid: int) -> bool:
        while pid in parents and pid != root:
            pid = parents[pid]
        return pid == root

    return {pid: arguments[pid] for pid in parents if pid != root and is_below(pid)}


def kill(driver: subprocess.Popen[bytes], chance: random.Random) -> str:
    """Kill the driver with its JVM, all its Python workers, or one of them. Returns what was killed; '' for nothing."""
    below = descendants(driver.pid)
    workers = [pid for pid, arguments in below.items() if "pyspark" in arguments and "java" not in arguments]
    moment = chance.choice(("driver", "workers", "worker", "worker"))
    if moment == "driver":
        targets = [driver.pid, *(pid for pid, arguments in below.items() if "java" in arguments)]
    else:
        targets = workers if moment == "workers" else [chance.choice(workers)] if workers else []
    killed = [pid for pid in targets if _killed(pid)]
    return moment if killed else ""


def _killed(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def triggers(folder: Path) -> list[int]:
    """The numbers of the triggers that Spark's commit log lists."""
    return sorted(int(path.name) for path in (folder / "checkpoint" / "commits").glob("[0-9]*"))


def run(kills: int, minutes: float, seed: int, folder: Path, options: Mapping[str, str]) -> dict[str, Any]:
    """Copy under so many kills, or for so many minutes, then once without kills, and compare. `options` are further
    options of both tables. Returns the figures.
    """
    options = {**OPTIONS, **options}
    chance, done, begun = random.Random(seed), Counter[str](), time.monotonic()
    for name in ("source", "copy"):
        Table.create(None, folder / name, SCHEMA, record_key="id", ordering_fields="ts", buckets=2, options=options)
    feeder, driver, what = Feeder(folder, seed), start(folder), "driver"
    try:
        while done.total() < kills and time.monotonic() - begun < minutes * 60:
            if what == "driver" or chance.random() < AFTER_PROGRESS:
                _progress(folder, driver)
            time.sleep(chance.uniform(0.0, 2.0))
            if what := kill(driver, chance):
                done[what] += 1
                print(f"{done.total()} kills, {len(triggers(folder))} triggers", file=sys.stderr, flush=True)
            if what == "driver":
                driver.wait()
                driver = start(folder)
    finally:
        feeder.end()
        for pid in (*descendants(driver.pid), driver.pid):
            _killed(pid)
        driver.wait()
    if feeder.failures:
        raise feeder.failures[0]
    if (ended := start(folder, last=True).wait()) != 0:
        raise SystemExit(f"the last driver ended with {ended}; see {folder / 'driver.log'}")
    seconds = round(time.monotonic() - begun)
    return {"seconds": seconds, "kills": done.total(), "killed": dict(done), **compare(folder)}


def _progress(folder: Path, driver: subprocess.Popen[bytes]) -> None:
    """Wait until the query has completed another trigger."""
    before, begun = len(triggers(folder)), time.monotonic()
    while len(triggers(folder)) == before:
        if driver.poll() is not None or time.monotonic() - begun > WAIT_SECONDS:
            log = (folder / "driver.log").read_text("utf-8", "replace")[-3000:]
            raise SystemExit(f"the query does not continue; the driver returned {driver.poll()}\n{log}")
        time.sleep(0.1)


def compare(folder: Path) -> dict[str, Any]:
    """Compare the copy after each trigger with the source as of the trigger's offset."""
    source, copy = (Table.open(None, folder / name) for name in ("source", "copy"))
    query = json.loads((folder / "checkpoint" / "metadata").read_text("utf-8"))["id"]
    commits = copy.context.commits
    batches = [
        (commits.commit(instant).extra[EXTRA], completion_of(instant))
        for instant in load(copy.context.storage).completed
        if instant.writes and EXTRA in commits.commit(instant).extra
    ]
    at, wrong, state = dict(batches), list[int](), set[tuple[str, int]]()
    numbers = triggers(folder)
    for number in numbers:
        offset = json.loads((folder / "checkpoint" / "offsets" / str(number)).read_text("utf-8").splitlines()[2])
        if completed := at.get(f"{query}/{number}"):
            state = _rows(copy.as_of(completed))
        if state != _rows(source.as_of(offset["completed"])):
            wrong.append(number)
    return {
        "triggers": len(numbers),
        "without_commit": sum(f"{query}/{number}" not in at for number in numbers),
        "wrong_triggers": wrong,
        "doubled_batches": sorted(batch for batch, count in Counter(b for b, _ in batches).items() if count > 1),
        "equal_at_the_end": _rows(copy.snapshot()) == _rows(source.snapshot()),
        "source_commits": sum(instant.writes for instant in load(source.context.storage).completed),
    }


def _rows(rows: pa.Table) -> set[tuple[str, int]]:
    return {(row["id"], row["ts"]) for row in rows.to_pylist()}


def main() -> None:
    """Run the copy under kills, or one of its drivers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=1e6, help="end the kills after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of both tables")
    parser.add_argument("--folder", type=Path, help="keep the tables in this new folder")
    parser.add_argument("--drive", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--last", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.drive:
        drive(given.drive, given.last)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.folder or Path(scratch)
        folder.mkdir(exist_ok=True)
        options = dict(option.split("=", 1) for option in given.option)
        print(json.dumps(run(given.kills, given.minutes, given.seed, folder, options), indent=2))


if __name__ == "__main__":
    main()
