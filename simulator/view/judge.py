"""Which promises a run breaks, and after which step; as far as the model can evaluate rows for so many logs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from nbcc.model.promises import PROMISES
from nbcc.model.promises.valuations import LARGEST

from ..trace import Trace
from .run import Run


@dataclass(frozen=True, slots=True)
class Broken:
    """A promise and the step after which it was first broken (None: never), with the sentence."""

    name: str
    about: str
    source: str
    step: int | None
    message: str


def judged(run: Run, named: str) -> list[Broken]:
    """Every promise that speaks of such a model, with the first step that broke it, as far as `judged_steps` goes.

    Promises of progress are left out: what never happens cannot be seen in one run that ends.

    The promise that is `named` is judged with as many logs as the model evaluates rows for, the others with fewer:
    the time it takes grows with their factorial.
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
    """How many steps promises are judged for: while no file group has more than so many logs."""
    for number, state in enumerate(run.states):
        groups = [group for write in run.model.table(state).writes for group, _ in write.files]
        if any(groups.count(group) > logs for group in set(groups)):
            return number - 1
    return len(run.steps)


def breaking_step(trace: Trace, run: Run, broken: Sequence[Broken]) -> int:
    """Where the page opens: where the trace's promise broke, else the first promise, else the end."""
    named = [b.step for b in broken if b.name == trace.promise and b.step]
    return (named or sorted(b.step for b in broken if b.step) or [len(run.states) - 1])[0]


def verdict_of(run: Run, broken: Sequence[Broken]) -> str:
    if any(each.step for each in broken):
        return "VIOLATED"
    return "HOLDS" if judged_steps(run) == len(run.steps) else "UNDETERMINED"
