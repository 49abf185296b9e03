"""Replays traces: plays a trace's steps on the model and on systems, and compares the observations with the recorded
ones.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from nbcc.model import Model, State, Step
from nbcc.model.promises import PROMISES

from ..search.explore.lasso import never
from ..trace import Trace
from .crosscheck.disagreement import Disagreement
from .crosscheck.history import PlayedHistory
from .schedule import Replay, no_choice
from .systems import Impossible
from .systems.registry import Factory, factory


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of playing a trace on one system.

    ``fits`` is False if a step of the trace is impossible. In this case, ``stopped_at`` is the number of the step,
    counted from 1, and ``reasons`` states why it is impossible. ``same`` is True if the observations equal those in the
    original trace, or if that trace contains no observations. ``trace`` is the replayed trace with the observations of
    this replay. ``answered`` contains the system's read results after each step.
    """

    system: str
    fits: bool
    same: bool
    verdict: str
    because: str
    trace: Trace
    stopped_at: int = 0
    reasons: tuple[str, ...] = ()
    answered: tuple[Mapping[str, list[str]], ...] = ()

    @property
    def sentence(self) -> str:
        """The result of the replay in one line of text."""
        if not self.fits:
            return f"{self.system}: no longer possible, step {self.stopped_at}: {'; '.join(self.reasons)}"
        same = "the same was observed" if self.same else "the observations differ from the recorded ones"
        return f"{self.system}: {self.verdict}, {same}" + (f"; {self.because}" if self.because else "")


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """The results of replaying one trace on several systems."""

    outcomes: tuple[Outcome, ...]

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if all systems agreed, otherwise 1."""
        return int(any(not outcome.fits or outcome.verdict != "AGREED" for outcome in self.outcomes))


def replay(trace: Trace, systems: Sequence[str] = ("model",), keep: Path | None = None) -> ReplayReport:
    """Play the trace on each system, and compare each system with the model. ``keep`` is a folder into which the files
    of the engine's table are copied.

    Raises ValueError if a system does not exist, or if the trace names an unknown promise.
    """
    ended = partial(_kept, keep) if keep is not None else lambda history: None
    return ReplayReport(tuple(play(trace, name, factory(name), ended) for name in systems))


def _kept(folder: Path, history: PlayedHistory) -> None:
    table = getattr(history.system, "folder", None)
    if table is not None:
        with table() as files:
            shutil.copytree(files, folder, dirs_exist_ok=True)


def broken_promise(model: Model, before: Any, step: Step, after: Any, promise: str) -> str | None:
    """Return a sentence that explains how the step breaks the promise; None if the step does not break it."""
    if promise not in PROMISES:
        raise ValueError(f"no promise {promise!r}; there are {', '.join(PROMISES)}")
    return PROMISES[promise].holds(model, before, step, after)


def repeated(model: Model, states: Sequence[State], trace: Trace) -> str | None:
    """Return a sentence that explains how the cycle at the end of a trace breaks the promise named in the trace. The
    result is None if the final steps do not form a cycle, or if the cycle does not break the promise.
    """
    cycle = states[-trace.cycle :]
    closes = len(states) > trace.cycle and states[-trace.cycle - 1] == states[-1]
    return never(PROMISES[trace.promise], model, cycle) if closes else None


def play(
    trace: Trace, name: str, make: Factory, ended: Callable[[PlayedHistory], None] = lambda history: None
) -> Outcome:
    """Play a trace on a system and on the model. After the last step of the trace, call ``ended`` with the history."""
    model = Model(trace.world, trace.protocol)
    system = make(trace.world, trace.protocol, trace.batches)
    history = PlayedHistory(model, system, trace.batches)
    violated, stopped = "", 0
    reasons: tuple[str, ...] = ()
    disagreement: Disagreement | None = None
    try:
        schedule = Replay(trace.steps, history.resolved)
        states = [history.state]
        while step := schedule.next(no_choice, history.enabled()):
            before = history.state
            history.take(step)
            states.append(history.state)
            if trace.promise and not violated:
                violated = history.sentence(broken_promise(model, before, step, history.state, trace.promise) or "")
        if schedule.complete:
            if trace.cycle and trace.promise and not violated:
                violated = history.sentence(repeated(model, states, trace) or "")
            history.finish()
            ended(history)
        else:
            stopped = schedule.position + 1
            reasons = _refusal(model, history, trace.steps[schedule.position])
    except Disagreement as found:
        disagreement = found
    except Impossible as impossible:
        stopped, reasons = len(history.steps), (str(impossible),)
    finally:
        # Not every system has operations that have to be ended.
        close = getattr(system, "close", None)
        if close is not None:
            close()
    verdict = "DISAGREED" if disagreement else "VIOLATED" if violated else "AGREED"
    because = str(disagreement) if disagreement else violated
    played = replace(
        trace,
        steps=tuple(history.steps),
        observed=tuple(history.observed),
        verdict="" if stopped and verdict == "AGREED" else verdict,  # the steps after the stop were not compared
        because=because,
    )
    return Outcome(
        system=name,
        fits=not stopped,
        same=not any(trace.observed) or list(trace.observed) == history.observed,
        verdict=verdict,
        because=because,
        trace=played,
        stopped_at=stopped,
        reasons=reasons,
        answered=tuple(history.answered),
    )


def side_by_side(outcomes: Sequence[Outcome]) -> Trace:
    """Return the trace as played by the model, with the read results of all other systems at each step."""
    # A system that stopped early has fewer steps, and the page shows all.
    longest = max((outcome.trace for outcome in outcomes), key=lambda trace: len(trace.steps))
    others = [outcome for outcome in outcomes if outcome.system != "model"]
    if not others:
        return longest
    answered = (
        {outcome.system: outcome.answered[step] for outcome in others if step < len(outcome.answered)}
        for step in range(len(longest.steps))
    )
    return replace(longest, observed=tuple(answered))


def _refusal(model: Model, history: PlayedHistory, named: Step) -> tuple[str, ...]:
    try:
        step = history.resolved(named)
    except KeyError as error:
        return (f"there is no time {error}",)
    return model.refusal(history.state, step)
