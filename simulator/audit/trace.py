"""Checks whether the model allows every step of a trace. For an impossible trace, the result contains the first refused
step and the violated conditions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nbcc.model import Model, State, Step

from ..observables import model_timeline
from ..symbols import Symbols
from ..trace import Trace


@dataclass(frozen=True)
class TraceJudgement:
    """The result of checking a trace against the model. The trace has `steps` steps, and the model allows the first
    `taken` of them.

    If a step is refused, `refused` describes the step, `reasons` are the violated conditions, and `enabled` are the
    steps that the model allows instead.
    """

    steps: int
    taken: int
    refused: str = ""
    reasons: tuple[str, ...] = ()
    enabled: tuple[str, ...] = ()

    @property
    def possible(self) -> bool:
        return self.taken == self.steps

    @property
    def text(self) -> str:
        """Return the result as text, without a trailing newline."""
        if self.possible:
            return f"OK: the model can take all {self.steps} steps"
        lines = [f"BROKEN: step {self.taken + 1} of {self.steps} is not possible: {self.refused}"]
        lines += [f"  {reason}" for reason in self.reasons]
        return "\n".join([*lines, "possible instead:", *(f"  {sentence}" for sentence in self.enabled)])

    def to_mapping(self) -> dict[str, Any]:
        """Return the JSON value that ``nbcc validate --json`` prints for a trace, without its field ``format``."""
        return {
            "verdict": "OK" if self.possible else "BROKEN",
            "steps": self.steps,
            "legal_prefix": self.taken,
            "refused": self.refused,
            "reasons": list(self.reasons),
            "enabled": list(self.enabled),
        }


def judge_trace(trace: Trace) -> TraceJudgement:
    """Replay the steps of a trace on the model until the model refuses a step."""
    model = Model(trace.world, trace.protocol)
    state = model.initial
    for taken, named in enumerate(trace.steps):
        symbols = Symbols(model_timeline(model, state))
        try:
            step = symbols.resolved(named)
        except KeyError as unknown:
            return _refused(model, state, trace, taken, (f"no instant has the time {unknown}",))
        if reasons := model.refusal(state, step):
            return _refused(model, state, trace, taken, reasons)
        state = model.apply(state, step)
    return TraceJudgement(len(trace.steps), len(trace.steps))


def _refused(model: Model, state: State, trace: Trace, taken: int, reasons: tuple[str, ...]) -> TraceJudgement:
    step, symbols = trace.steps[taken], Symbols(model_timeline(model, state))
    enabled = tuple(symbols.sentence(_described(model, symbols.step(each))) for each in model.enabled(state))
    sentences = tuple(symbols.sentence(reason) for reason in reasons)
    return TraceJudgement(len(trace.steps), taken, _described(model, step), sentences, enabled)


def _described(model: Model, step: Step) -> str:
    try:
        return model.describe(step)
    except KeyError:
        return f"{step.actor} does {step.action}"
