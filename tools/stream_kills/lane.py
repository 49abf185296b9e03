"""A lane: one source, its copy and the driver that copies it, which is killed and started again.

Several lanes run at the same time, so that one lane's drivers start while those of another one are killed.
"""

from __future__ import annotations

import random
import signal
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from nbcc import MaintenancePolicy, Table
from nbcc.engine.services.consumers import progress_of_consumers
from nbcc.engine.timeline import completion_of, load

from .driver import busy, deaths, descendants, jvms, runs, send, start, still_there, workers
from .judge import Published, compare, triggers

SCHEMA: Final = pa.schema([("id", pa.string()), ("ts", pa.int64())])
OPTIONS: Final = {
    "hoodie.client.heartbeat.interval_in_ms": "4000",
    "hoodie.client.heartbeat.tolerable.misses": "5",
}
POLICY: Final = MaintenancePolicy(compact_commits=20, clean=False, archive=False, collect=False)
"""Every trigger is compared at the end, so no state is cleaned."""

TARGETS: Final = {"worker": 17, "workers": 1, "driver": 1, "stalled driver": 1}
"""What is killed, with its weight. The JVM of a stalled driver is stopped, goes on while the next driver runs, and is
killed then.
"""
PHASES: Final = ("any", "planned", "requested", "completed")
"""When a kill comes: at any time in a trigger; when Spark's log has the trigger's offset and the copy no instant of it;
when the copy has a requested instant of it; when that has completed and Spark's log does not have the commit.
"""

WAIT_SECONDS: Final = 1200.0
"""The longest time in which a query must begin or complete a trigger after a kill."""
PHASE_SECONDS: Final = 20.0
"""After this time the phase of a trigger does not matter."""


MOST_AHEAD: Final = 3
"""So many writes are made while no trigger begins: a stream that starts again need not find a long source."""


class Feeder:
    """Threads that write to the source and run the services of both tables, until `end`."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._done, self.failures = threading.Event(), list[BaseException]()
        self._folder, self._chance = folder, random.Random(seed)
        self._planned = self._ahead = 0
        steps = ((self._write, 1.0), (self._serve, 5.0))
        self._threads = [threading.Thread(target=self._run, args=step) for step in steps]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _run(self, step: Callable[[int], None], pause: float) -> None:
        try:
            number = 0
            while not self._done.wait(pause):
                step(number)
                number += 1
        except BaseException as failed:
            self.failures.append(failed)

    def _write(self, number: int) -> None:
        planned = len([*(self._folder / "checkpoint" / "offsets").glob("[0-9]*")])
        self._ahead = self._ahead + 1 if planned == self._planned else 0
        self._planned = planned
        if self._ahead > MOST_AHEAD:
            return
        source = Table.open(None, self._folder / "source")
        keys = [f"k{key}" for key in self._chance.sample(range(12), 4)]
        source.upsert(pa.table({"id": keys, "ts": [number] * 4}, SCHEMA))
        if self._chance.random() < 0.3:
            source.delete(pa.table({"id": keys[:1], "ts": [number]}, SCHEMA))

    def _serve(self, _: int) -> None:
        for name in ("source", "copy"):
            Table.open(None, self._folder / name).maintain(POLICY)


class Lane:
    """One stream under kills, in a new folder. `kills` counts what was killed and in which phase; a kill counts if it
    ended a driver or a query in the middle of a trigger. `idle` counts killed workers that no trigger needed.
    """

    def __init__(self, folder: Path, seed: int, options: Mapping[str, str]) -> None:
        self.kills, self.idle = Counter[tuple[str, str]](), 0
        self._folder, self._chance = folder, random.Random(seed)
        self._published = list[Published]()
        folder.mkdir(parents=True)
        for name in ("source", "copy"):
            Table.create(
                None, folder / name, SCHEMA, record_key="id", ordering_fields="ts", buckets=2,
                options={**OPTIONS, **options},
            )  # fmt: skip
        self._copy, self._source = Table.open(None, folder / "copy"), Table.open(None, folder / "source")
        self._feeder = Feeder(folder, seed)
        self._driver = start(folder)

    def play(self, goes_on: Callable[[], bool], progress: Callable[[], None]) -> dict[str, Any]:
        """Kill until `goes_on` returns False, copy the rest without kills, and compare. Returns the figures."""
        try:
            while goes_on():
                if self._kill(goes_on):
                    progress()
        finally:
            self._feeder.end()
            send(signal.SIGKILL, [*descendants(self._driver.pid), self._driver.pid])
            self._driver.wait()
        if self._feeder.failures:
            raise self._feeder.failures[0]
        if (ended := start(self._folder, last=True).wait()) != 0:
            raise self._stopped(f"the last driver returned {ended}")
        killed = {f"{target}, {phase}": count for (target, phase), count in sorted(self.kills.items())}
        return {"kills": self.kills.total(), "killed": killed, "idle_workers": self.idle,
                **compare(self._folder, self._published)}  # fmt: skip

    def _kill(self, goes_on: Callable[[], bool]) -> bool:
        """Kill in the middle of a trigger. Returns True if the kill ended the run of the query."""
        [target] = self._chance.choices([*TARGETS], [*TARGETS.values()])
        number = self._await_trigger(self._chance.choice(PHASES), goes_on)
        time.sleep(self._chance.choice((0.0, 0.0, self._chance.uniform(0.0, 0.5))))
        if number is None:
            return False
        below = descendants(self._driver.pid)
        if target in ("worker", "workers"):
            candidates = busy(below) if target == "worker" else workers(below)
            pids = self._chance.sample(candidates, min(len(candidates), 1)) if target == "worker" else candidates
        else:
            pids = [*jvms(below), self._driver.pid]
        stopped = send(signal.SIGSTOP, pids)
        if not stopped or not self._is_open(number) or not runs(self._folder, self._driver.pid):
            send(signal.SIGCONT, stopped)
            return False
        phase, died = self._phase(number), deaths(self._folder)
        self._note_progress()
        if target in ("worker", "workers"):
            send(signal.SIGKILL, stopped)
            if not self._dies(number, died):
                self.idle += 1
                return False
        else:
            self._replace(below, stalled=target == "stalled driver")
        self.kills[target, phase] += 1
        return True

    def _replace(self, below: Mapping[int, str], stalled: bool) -> None:
        """Kill the stopped driver and start another one. A stalled JVM goes on for a moment while the next one runs."""
        old = jvms(below)
        if not stalled:
            send(signal.SIGKILL, old)
        send(signal.SIGKILL, [self._driver.pid])
        self._driver.wait()
        self._driver = start(self._folder)
        if stalled:
            self._await(lambda: runs(self._folder, self._driver.pid))
            send(signal.SIGCONT, old)
            time.sleep(self._chance.uniform(0.2, 3.0))
            send(signal.SIGKILL, old)
        send(signal.SIGKILL, still_there(below))

    def _await_trigger(self, phase: str, goes_on: Callable[[], bool]) -> int | None:
        """Wait for a trigger in a phase, and return its number; None if the lane is to end."""
        self._await(lambda: not goes_on() or (self._number() is not None and runs(self._folder, self._driver.pid)))
        latest = time.monotonic() + PHASE_SECONDS
        while goes_on() and time.monotonic() < latest:
            number = self._number()
            if number is not None and phase in ("any", self._phase(number)):
                return number
            time.sleep(0.02)
        return self._number() if goes_on() else None

    def _number(self) -> int | None:
        """The number of the trigger that has an offset and is not in the commit log; never the first one. Spark refuses
        a checkpoint for good if its query dies while it puts its first offset.
        """
        number = max(triggers(self._folder), default=-1) + 1
        return number if number and self._is_open(number) else None

    def _is_open(self, number: int) -> bool:
        checkpoint = self._folder / "checkpoint"
        planned, done = (checkpoint / name / str(number) for name in ("offsets", "commits"))
        return planned.exists() and not done.exists()

    def _phase(self, number: int) -> str:
        """What the copy has of an open trigger: the instants that are younger than its offset."""
        planned = _modified(self._folder / "checkpoint" / "offsets" / str(number))
        writes = (self._folder / "copy" / ".hoodie" / "timeline").glob("*.deltacommit*")
        young = [file.name for file in writes if _modified(file) >= planned]
        if any(name.endswith(".deltacommit") for name in young):
            return "completed"
        return "requested" if young else "planned"

    def _note_progress(self) -> None:
        progress = progress_of_consumers(self._source.context)
        completed = load(self._copy.context.storage).completed
        for time_ in progress.values():
            self._published.append(Published(time_, frozenset(completion_of(each) for each in completed)))

    def _dies(self, number: int, died: int) -> bool:
        """Wait until the query dies, or completes the trigger. Returns True if it died first."""
        self._await(lambda: deaths(self._folder) > died or not self._is_open(number))
        return deaths(self._folder) > died

    def _await(self, done: Callable[[], bool]) -> None:
        begun = time.monotonic()
        while not done():
            if self._driver.poll() is not None or time.monotonic() - begun > WAIT_SECONDS:
                raise self._stopped(f"the driver returned {self._driver.poll()}")
            time.sleep(0.05)

    def _stopped(self, why: str) -> SystemExit:
        log = (self._folder / "driver.log").read_text("utf-8", "replace")[-3000:]
        return SystemExit(f"the query does not continue: {why}\n{log}")


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # a rollback has deleted it
        return 0.0


def lanes(
    count: int, kills: int, minutes: float, seed: int, folder: Path, options: Mapping[str, str],
    progress: Callable[[int], None],
) -> dict[str, Any]:  # fmt: skip
    """Run so many lanes until so many kills in all, or so many minutes. Returns the figures of all lanes."""
    begun, ended, done = time.monotonic(), threading.Event(), list[None]()
    figures, failures = list[dict[str, Any]](), list[BaseException]()

    def goes_on() -> bool:
        return not ended.is_set() and len(done) < kills and time.monotonic() - begun < minutes * 60

    def killed() -> None:
        done.append(None)
        progress(len(done))

    def run(number: int) -> None:
        try:
            figures.append(Lane(folder / str(number), seed + number, options).play(goes_on, killed))
        except BaseException as failed:
            traceback.print_exc()
            failures.append(failed)
            ended.set()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return {"seconds": round(time.monotonic() - begun), **merged(figures)}


def merged(figures: list[dict[str, Any]]) -> dict[str, Any]:
    """Add the figures of the lanes. `broken` has the findings of each broken lane."""
    names = [name for name, value in figures[0].items() if isinstance(value, int)]
    killed = Counter[str]()
    for each in figures:
        killed.update(each["killed"])
    return {
        "lanes": len(figures),
        **{name: sum(each[name] for each in figures) for name in names},
        "killed": dict(sorted(killed.items())),
        "broken": [each["broken"] for each in figures if each["broken"]],
    }
