"""Tables of the engine, or of a mutant of it, made by random interleavings in memory, without Spark."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from nbcc.model import Step, World
from nbcc.model.kernel.reader import READER_STARTS_LISTING
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.simulator import specs
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from nbcc.simulator.lockstep.crosscheck.check import CheckOptions, close
from nbcc.simulator.lockstep.crosscheck.generators import draw_batches, draw_world
from nbcc.simulator.lockstep.crosscheck.history import PlayedHistory
from nbcc.simulator.lockstep.systems.engine import EngineSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.search import mutants
from tools.mutated import options_of

PRIVATE_ENDS = (ACTOR_CRASHES, READER_STARTS_LISTING)


class Uncompared(PlayedHistory):
    """A history that does not compare the system with the model, so that a mutant may differ."""

    def _compare_arguments(self, step: Step, observed: Any) -> None:
        pass

    def _compare_observables(self, step: Step) -> None:
        before = self._seen.get("timeline", ())
        self._seen = {"timeline": tuple((i.action, i.state, i.requested, i.completed) for i in self._now())}
        self._learn_data(step, before, self._seen["timeline"])

    def compare(self, what: str, model: Any, system: Any, says: Callable[[Any], str] = str) -> None:
        pass

    def _now(self) -> Any:
        return self.model.timeline(self.state)


def engine_table(seed: int, mutant: mutants.Mutant | None = None) -> MemoryStorage:
    """Return the table of a random interleaving, equal for equal seeds, in a random world or in the world of the
    mutant.
    """
    draw = random.Random(seed)
    if mutant is not None and mutant.world:
        return played_table(specs.world(mutant.world).replace(name=""), draw, mutant)
    return played_table(draw_world(draw.randrange), draw, mutant)


def played_table(world: World, draw: random.Random, mutant: mutants.Mutant | None = None) -> MemoryStorage:
    batches = draw_batches(draw.randrange, world)
    options = CheckOptions(factory("engine"), readers=())
    if mutant is not None:
        options = options_of(mutant, options)
    model = options.model(world, options.protocol)
    system = options.factory(world, options.protocol, batches)
    history = Uncompared(model, system, batches, options.mapping)
    try:
        with suppress(*([Exception] if mutant is not None else [])):  # a mutant may fail where the model goes on
            for step in _walk(history, draw):
                history.take(step)
        assert isinstance(system, EngineSystem)
        assert isinstance(system.harness.storage, MemoryStorage)
        copy = MemoryStorage()
        copy.objects = dict(system.harness.storage.objects)
        return copy
    finally:
        close(system)


def _walk(history: PlayedHistory, draw: random.Random) -> Iterator[Step]:
    """Yield random steps, few of them crashes, until no step is possible."""
    while enabled := history.enabled():
        calm = [step for step in enabled if step.action not in PRIVATE_ENDS]
        yield draw.choice(calm if calm and draw.random() < 0.9 else enabled)
