"""Tours of the model at Hudi's storage calls: the fewest runs that take every step from every state of a world. A step
of the model is the calls of its actor up to the one that stands for it.

    python -m tools.hudi_calls.tours [MINUTES]
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain, repeat
from pathlib import Path
from typing import Final

from nbcc.model import Model, Step
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.world import crew
from nbcc.simulator import specs
from nbcc.simulator.lockstep.schedule import Choose
from nbcc.simulator.lockstep.vectors.themes import STALLED
from nbcc.simulator.search.explore.quotient import Quotient
from nbcc.simulator.search.explore.tours import tours

from ..peers.hudi.release import NEWEST
from .cast import FAULTS, MODES, Cast, writer
from .crashes import files
from .labels import action, recorded, seen_by_others
from .play import Ordered, Played, play
from .soak import TOURS, State, fingerprint_of, soak
from .tables import OPERATIONS, Tables
from .verdict import RIGHT, verdict, without_numbers

WORLDS: Final = (specs.world("demo"), STALLED.replace(actors=crew(WRITER, ROLLBACKER)))
"""Two writers and a compactor; a writer that stalls and a rollbacker. Each on one file group."""
OPERATION: Final = {WRITER.name: "upsert", COMPACTOR.name: "compaction", ROLLBACKER.name: "rollback"}
BEFORE: Final = "compaction"
MODE: Final = "non-blocking"
NOT_PLANNED: Final = action("rollback", "delete log")
"""A rollback of Hudi deletes the files with a marker when it is planned, that of the model those when it starts."""


@cache
def runs() -> tuple[tuple[Model, tuple[Step, ...]], ...]:
    """Return the runs of all tours, each with its model: a world under the protocol of Hudi."""
    protocol = specs.protocol(f"hudi-{NEWEST}")
    graphs = [Quotient(Model(world, protocol)) for world in WORLDS]
    return tuple((graph.model, tuple(graph.run(run))) for graph in graphs for run in tours(graph.edges(), graph.first))


def fingerprint() -> str:
    return fingerprint_of((f"{model.world.name} {steps}" for model, steps in runs()), {MODE: MODES[MODE]})


class Toured:
    """A schedule that takes the steps of the model for which calls stand. `operations` maps each actor to its
    operation. `missed` are the steps that could not be taken in their place.
    """

    def __init__(self, steps: Sequence[Step], operations: Mapping[str, str]) -> None:
        self._operations = operations
        counts = {name: recorded(name) for name in operations.values()}
        times = (counts[operations[step.actor]].get(step.action, step.action in FAULTS) for step in steps)
        self._left = deque(chain.from_iterable(map(repeat, steps, times)))
        self._rest = Ordered(())
        self._last, self._taken = "", Step("", "")
        self.missed: list[Step] = []

    def begin(self, choose: Choose, actors: Sequence[str], actions: Sequence[str]) -> None:
        """Do nothing: the steps are given."""

    def next(self, choose: Choose, enabled: Sequence[Step]) -> Step | None:
        ready = {step.actor: step for step in enabled}
        while self._left:
            wanted = self._left[0]
            if wanted.actor not in ready:
                # It waits for the lock: the actor that has it goes on to its next change.
                holder = ready.get(self._last)
                if holder and not self._stands_for(holder):
                    return holder
            elif wanted.action in FAULTS:
                return self._left.popleft()
            elif (found := self._stands_for(ready[wanted.actor])) in ("", wanted.action):
                self._last = wanted.actor
                if found:
                    self._taken = self._left.popleft()
                return ready[wanted.actor]
            skipped = self._left.popleft()
            if skipped != self._taken:  # else an action of several calls has made fewer ones
                self.missed.append(skipped)
        return self._rest.next(choose, enabled)

    def _stands_for(self, step: Step) -> str:
        """Return the action of the model for which the next call of an actor stands, or an empty text."""
        change = next(seen_by_others([str(dict(step.args)["call"])]), "")
        return action(self._operations[step.actor], change) if change else ""


def toured(tables: Tables, number: int) -> tuple[Played, str]:
    """Play and judge a run of the tours on Hudi."""
    model, steps = runs()[number]
    operations = {actor: OPERATION[kind] for kind, actors in model.actors.items() for actor in actors}
    given = {actor: OPERATIONS[name] for actor, name in operations.items()}
    actors = {actor: (each.method, {**each.given, "actor": actor}) for actor, each in given.items()}
    writers = {actor: writer(actor, 2 + place) for place, actor in enumerate(model.actors_of(WRITER))}
    schedule = Toured(steps, operations)
    with tables.copy(BEFORE) as path:
        played = play(tables, path, Cast(BEFORE, MODE, {**actors, **writers}), schedule, late=True)
        ends = sorted(f"{actor} {without_numbers(str(end.get('error')))}" for actor, end in played.ends.items())
        state = (model.world.name, *sorted(played.completed), *ends, *files(path))
        if state not in tables.judged:
            tables.judged[state] = {"verdict": verdict(tables, path, played)}
        found = tables.judged[state]["verdict"]
    refused = {actor for actor, end in played.ends.items() if "error" in end}
    others = (step for step in schedule.missed if step.actor not in refused and step.action != NOT_PLANNED)
    missed = ", ".join(f"{step.actor} {step.action}" for step in others)
    return played, f"not in the order of the model: {missed}" if missed and found == RIGHT else found


def main() -> int:
    """The exit code is 0 if all runs are right or show a finding, 1 if one is wrong, 3 if the time ran out."""
    of = fingerprint()
    seconds = 60 * float(sys.argv[1]) if len(sys.argv) > 1 else math.inf
    with tempfile.TemporaryDirectory() as folder:
        wrong = soak(Tables(Path(folder)), TOURS, len(runs()), seconds, Path("hudi-calls-runs"), of, toured)
    state = State.load(TOURS, of)
    print(f"{state.histories:,} of {len(runs()):,} runs, {state.verdicts}", wrong, sep="\n")
    return 1 if wrong else 0 if state.histories == len(runs()) else 3


if __name__ == "__main__":
    sys.exit(main())
