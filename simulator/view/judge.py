"""Determines which promises a run of the model violates, and in which steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nbcc.model.promises import PROMISES
from nbcc.model.promises.valuations import LARGEST

from ..trace import Trace
from .run import Run


@dataclass(frozen=True, slots=True)
class Broken:
    """The judgement on one promise: the first step that violates the promise (None: no step), and the message."""

    name: str
    about: str
    source: str
    step: int | None
    message: str


def judged(run: Run, named: str) -> list[Broken]:
    """Check a run against every promise that applies to the model. Returns the first violation of each promise, if any.

    Liveness promises are omitted, because a finite run cannot violate them.

    Only steps with fewer than `LARGEST` logs in every file group are checked, because the cost grows with the factorial
    of the number of logs. For the promise `named`, steps with `LARGEST` logs in a file group are checked, too.
    """
    found = []
    for promise in PROMISES.values():
        if promise.kind != "run" and not promise.unfit(run.model):
            most = judged_steps(run, LARGEST if promise.name == named else LARGEST - 1)
            step, message = _first_break(run, promise.holds, most)
            found.append(Broken(promise.name, promise.about, promise.source, step, message))
    return found


def _first_break(run: Run, holds: Callable[..., str | None], most: int) -> tuple[int | None, str]:
    for number, step in enumerate(run.steps[:most], start=1):
        if message := holds(run.model, run.states[number - 1], step, run.states[number]):
            return number, message
    return None, ""


def judged_steps(run: Run, logs: int = LARGEST - 1) -> int:
    """Return the number of steps until the first file group would exceed `logs` log files."""
    for number, state in enumerate(run.states):
        groups = [group for write in run.model.table(state).writes for group, _ in write.files]
        if any(groups.count(group) > logs for group in set(groups)):
            return number - 1
    return len(run.steps)


def breaking_step(trace: Trace, run: Run, broken: Sequence[Broken]) -> int:
    """Return the step that the page shows first: the first step that violates the trace's promise or, if none does,
    another promise. Without a violation, this is the last step.
    """
    named = [b.step for b in broken if b.name == trace.promise and b.step]
    return (named or sorted(b.step for b in broken if b.step) or [len(run.states) - 1])[0]


def verdict_of(run: Run, broken: Sequence[Broken]) -> str:
    if any(each.step for each in broken):
        return "VIOLATED"
    return "HOLDS" if judged_steps(run) == len(run.steps) else "UNDETERMINED"
