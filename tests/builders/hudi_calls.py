"""Histories of Apache Hudi at its storage calls that a test describes by the calls at which actors stop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nbcc.model import Step
from nbcc.simulator.lockstep.schedule import Choose
from tools.hudi_calls.cast import CALL, FAULTS, MODES, Cast
from tools.hudi_calls.labels import named
from tools.hudi_calls.play import Played, play
from tools.hudi_calls.tables import OPERATIONS, Tables

END = ""
ONE = "one call"


class Script:
    """A schedule of parts: an actor goes on until its next call is the named one, or to its end; or it has a fault."""

    def __init__(self, *parts: tuple[str, str]) -> None:
        self._left = list(parts)

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Do nothing: the steps are given."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        ready = {step.actor: step for step in enabled}
        while self._left:
            actor, stop = self._left[0]
            if actor in ready and stop in (ONE, *FAULTS):
                self._left.pop(0)
                return Step(actor, CALL if stop == ONE else stop)
            if actor in ready and stop != named(str(dict(ready[actor].args)["call"])):
                return ready[actor]
            self._left.pop(0)  # the actor has come there, has ended, or waits for the lock
        return ready[min(ready)]


def scripted(
    tables: Tables, path: Path, before: str, actors: Mapping[str, Any], *parts: tuple[str, str], mode: str = ""
) -> Played:
    """Play the parts on an open copy of the table. `actors` maps each actor to an operation, or to a method with its
    arguments.
    """
    given = {actor: _operation(actor, each) for actor, each in actors.items()}
    played: Played = play(tables, path, Cast(before, mode or "non-blocking", given), Script(*parts))
    assert {step.action for step in played.steps} <= {CALL, *FAULTS}
    assert not mode or mode in MODES
    return played


def _operation(actor: str, given: Any) -> tuple[str, Mapping[str, Any]]:
    if not isinstance(given, str):
        return given[0], given[1]
    operation = OPERATIONS[given]
    return operation.method, {**operation.given, **({"actor": actor} if operation.given else {})}
