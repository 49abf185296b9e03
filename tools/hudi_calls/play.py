"""Interleaves operations of Hudi at their storage calls, in the order that a schedule of the lockstep chooses."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nbcc.model import Step
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.simulator.lockstep.schedule import Choose, Schedule, no_choice

from .cast import CALL, FAILS, LEASE_FILE, LOCK_FILE, STALLS, TRIES, Cast
from .labels import label
from .tables import LONG_AGO, Tables

ANSWERS = {CALL: "", FAILS: "fail", ACTOR_CRASHES: "end"}


class Played(NamedTuple):
    """A history: its steps, the call of each step, how each operation ended, and the number of the step with which a
    write started (its inflight instant) and completed.
    """

    cast: Cast
    steps: tuple[Step, ...]
    calls: tuple[str, ...]
    ends: Mapping[str, Mapping[str, Any]]
    started: Mapping[str, int]
    completed: Mapping[str, int]

    def faulty(self, actor: str) -> set[str]:
        """Return the faults that happened to an actor."""
        return {step.action for step in self.steps if step.actor == actor} - {CALL}


class Ordered:
    """A schedule that takes recorded steps as far as their actors have a call to make, then one actor after another."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._left = list(steps)
        self._last = ""

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Do nothing: the steps are given."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        ready = {step.actor: step for step in enabled}
        while self._left:
            step = self._left.pop(0)
            if step.actor in ready:
                return step
        self._last = self._last if self._last in ready else min(ready)
        return ready[self._last]


def play(
    tables: Tables,
    path: Path,
    cast: Cast,
    schedule: Schedule,
    choose: Choose = no_choice,
    faults: Mapping[tuple[str, int], str] | None = None,
    late: bool = False,
) -> Played:
    """Play a history to the end of all its operations. `faults` happen at the numbered calls of their actors. With
    `late` an operation begins with the first step of its actor: some take a lock before their first call.
    """
    stage = _Stage(tables, path, cast, late)
    schedule.begin(choose, list(cast.actors), [CALL])
    while stage.running:
        if enabled := stage.enabled(faults or {}):
            step = schedule.next(choose, enabled)
            assert step is not None, "the schedules end no history"
            stage.take(step)
    return Played(cast, tuple(stage.steps), tuple(stage.calls), stage.ends, stage.started, stage.completed)


class _Stage:
    def __init__(self, tables: Tables, path: Path, cast: Cast, late: bool) -> None:
        self._tables, self._path, self._cast = tables, path, cast
        self.steps: list[Step] = []
        self.calls: list[str] = []
        self.ends: dict[str, Any] = {}
        self.started: dict[str, int] = {}
        self.completed: dict[str, int] = {}
        self._waiting: dict[str, str] = {}
        self._taken = dict.fromkeys(cast.actors, 0)
        self._beats: dict[str, Path] = {}
        self._last: dict[str, tuple[int, str]] = {}
        self._before: dict[str, str] = {}
        self._idle = [*cast.actors]
        for actor in () if late else cast.actors:
            self._launch(actor)

    @property
    def running(self) -> bool:
        return len(self.ends) < len(self._cast.actors)

    def enabled(self, faults: Mapping[tuple[str, int], str]) -> list[Step]:
        """Return the next step of each actor that does not wait for a lock, with its call as an argument."""
        self._settle()
        ready = [*self._waiting.items(), *((actor, "") for actor in self._idle)]
        # The next try finds the same lock, and a client gives up after some tries: others go on first.
        first = [(actor, call) for actor, call in ready if not self._tries_again(actor, call)]
        return [
            Step(actor, faults.get((actor, self._taken[actor]), CALL), (("call", call),))
            for actor, call in first or ready
        ]

    def _settle(self) -> None:
        """Let each actor come to a call, to its end, or to a lock that another one has. An actor that goes on can
        release a lock after those that wait for it were asked: they are asked again.
        """
        here = {*self.ends, *self._waiting, *self._idle}
        blocked = [actor for actor in self._cast.actors if actor not in here and not self._stands(actor)]
        before: list[str] = []
        while blocked != before:
            before, blocked = blocked, [actor for actor in blocked if not self._stands(actor)]

    def _stands(self, actor: str) -> bool:
        """Return whether an actor has come to a call or to its end. If not, it waits for a lock."""
        found = self._ask("next", actor=actor)
        if found and actor in self._last:
            self._has_done(actor, *self._last.pop(actor))
        if "call" in found:
            self._waiting[actor] = found["call"]
        elif found:
            self.ends[actor] = found
        return bool(found)

    def _tries_again(self, actor: str, call: str) -> bool:
        """Return whether an actor has found the lock taken, and would find it so again."""
        return call in TRIES and self._before.get(actor) == TRIES[call] and is_taken(self._path)

    def take(self, step: Step) -> None:
        actor = step.actor
        if actor in self._idle:
            self._launch(actor)
            return
        self.steps.append(Step(actor, step.action))
        self.calls.append(self._waiting[actor])
        if step.action == STALLS:
            if actor in self._beats and self._beats[actor].exists():
                os.utime(self._beats[actor], (LONG_AGO, LONG_AGO))
            self._taken[actor] += 1  # the call still waits; its fault has happened
            return
        self._before[actor] = call = self._waiting.pop(actor)
        if step.action == CALL:
            self._last[actor] = (len(self.steps), call)
        self._taken[actor] += 1
        self._ask("answer", actor=actor, fault=ANSWERS[step.action])

    def _launch(self, actor: str) -> None:
        method, given = self._cast.actors[actor]
        self._idle.remove(actor)
        self._ask("launch", actor=actor, method=method, given=dict(given))

    def _has_done(self, actor: str, number: int, call: str) -> None:
        """Remember what the call of a step has left, once its actor goes on."""
        name = call.partition(" ")[2]
        file = self._path / name.removeprefix("/")
        if label(name) == "heartbeat" and call.startswith("put"):
            self._beats[actor] = file
        elif label(name) == "deltacommit inflight":
            self.started.setdefault(actor, number)
        elif label(name) == "deltacommit completed" and call.startswith(("put", "rename")) and file.exists():
            self.completed[actor] = number

    def _ask(self, step: str, **arguments: Any) -> Any:
        return self._tables.hudi.ask(step, str(self._path), **arguments)


def is_taken(path: Path) -> bool:
    """Return whether a table's lock file or its lease is taken."""
    lease = path / LEASE_FILE.removeprefix("/")
    if lease.exists():
        return not json.loads(lease.read_text("utf-8"))["expired"]
    return (path / LOCK_FILE.removeprefix("/")).exists()
