"""Replays a trace on the model, up to the first step that the model does not allow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nbcc.model import Model, Refused, Step

from ..observables import model_timeline
from ..symbols import Symbols


class Run(NamedTuple):
    """A replayed run: the states after 0, 1, ... steps. If a step is impossible, `stopped` contains its number (the
    first step is 1) and the reasons. `ticks` contains the times of the symbols after the last step.
    """

    model: Model
    states: tuple[Any, ...]
    steps: tuple[Step, ...]
    stopped: tuple[int, tuple[str, ...]] | None
    ticks: Mapping[str, int]


def play(model: Model, steps: Sequence[Step]) -> Run:
    """Replay the steps until the model refuses one. Symbolic times such as r1 in a step's arguments are replaced by the
    model's times.
    """
    states: list[Any] = [model.initial]
    taken: list[Step] = []
    symbols = Symbols(())
    for number, step in enumerate(steps, start=1):
        symbols = symbols.then(model_timeline(model, states[-1]))
        try:
            resolved = symbols.resolved(step)
            states.append(model.apply(states[-1], resolved))
        except Refused as error:
            return Run(model, tuple(states), tuple(taken), (number, error.reasons), symbols.ticks)
        except KeyError as error:
            reason = f"{error.args[0]} names an instant that does not exist"
            return Run(model, tuple(states), tuple(taken), (number, (reason,)), symbols.ticks)
        taken.append(resolved)
    last = symbols.then(model_timeline(model, states[-1]))
    return Run(model, tuple(states), tuple(taken), None, last.ticks)
