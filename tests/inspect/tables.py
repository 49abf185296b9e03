"""Tables without Spark: the engine's, made by random interleavings, whole or by a mutant; and small ones by hand."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from nbcc.model import Model, Step, World
from nbcc.simulator import mutants, specs
from nbcc.simulator.control.storage import MemoryStorage
from nbcc.simulator.crosscheck.check import CheckOptions, close
from nbcc.simulator.crosscheck.generators import draw_batches, draw_world
from nbcc.simulator.crosscheck.history import History
from nbcc.simulator.crosscheck.mutated import options_of
from nbcc.simulator.systems.registry import factory

PRIVATE_ENDS = ("actor_crashes", "reader_starts_listing")


class Unheld(History):
    """A history whose system is not held against the model: a mutant may do what it wants."""

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
    """The table of a random interleaving on the engine, in memory; the same for the same seed.

    Of a random world, or of the one in which the mutant shows.
    """
    draw = random.Random(seed)
    if mutant is not None and mutant.world:
        return played_table(specs.world(mutant.world).replace(name=""), draw, mutant)
    return played_table(draw_world(draw.randrange), draw, mutant)


def played_table(world: World, draw: random.Random, mutant: mutants.Mutant | None = None) -> MemoryStorage:
    """The table of a random interleaving of this world."""
    batches = draw_batches(draw.randrange, world)
    setting = CheckOptions(factory("engine"), readers=())
    if mutant is not None:
        setting = options_of(mutant, setting)
    model = setting.model(world, setting.protocol)
    system = setting.factory(world, setting.protocol, batches)
    history = Unheld(model, system, batches, setting.mapping)
    try:
        with suppress(*([Exception] if mutant is not None else [])):  # a mutant need not do what the model wants
            for step in _walk(history, draw):
                history.take(step)
        storage: MemoryStorage = system.harness.storage
        copy = MemoryStorage()
        copy.objects = dict(storage.objects)
        return copy
    finally:
        close(system)


def _walk(history: History, draw: random.Random) -> Iterator[Step]:
    """Random steps, crashes seldom, until nothing is possible."""
    while enabled := history.enabled():
        calm = [step for step in enabled if step.action not in PRIVATE_ENDS]
        yield draw.choice(calm if calm and draw.random() < 0.9 else enabled)


def world_of(**changes: Any) -> World:
    return World(**changes)


def model_of(world: World) -> Model:
    return Model(world)
