"""Any world under any protocol is a model or is refused with a sentence. No run of a model ends in an error."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.mechanisms.exactly_once import batch_of
from nbcc.model.promises import PROMISES
from nbcc.model.promises.promise import NotJudged
from nbcc.model.protocol import choices
from nbcc.simulator import specs
from tests.builders.by_day import NIGHTLY

from .random_models import random_protocol, random_world

BATCHES, MODELS = (50, 60) if NIGHTLY else (6, 40)
LONGEST = 300
WORLDS = specs.world_names()
WEAKER = [(name, value) for name, values in choices().items() for value in values[1:]]


def models(choose: random.Random) -> Iterator[Model]:
    """Worlds of specs and drawn ones, under protocols of specs, weaker choices, and two of those at once."""
    while True:
        try:
            world = random_world(choose) if choose.random() < 2 / 3 else specs.world(choose.choice(WORLDS))
            two = Protocol.from_mapping(dict(choose.sample(WEAKER, 2)))
            model = Model(world, two if choose.random() < 1 / 3 else random_protocol(choose))
        except ValueError as refused:
            if not str(refused).startswith(("world", "protocol", "more than")):
                raise
            continue
        yield model


def run(model: Model, choose: random.Random) -> Iterator[tuple[State, Step, State]]:
    before = model.initial
    for _ in range(LONGEST):
        if not (possible := list(model.successors(before))):
            return
        step, after = choose.choice(possible)
        yield before, step, after
        before = after


def look(model: Model, before: State, step: Step, after: State) -> None:
    for promise in PROMISES.values():
        if promise.unfit is None or not promise.unfit(model):
            promise.sometimes(model, after)
            given: tuple[State | None, Step | None] = (None, None) if promise.kind == "state" else (before, step)
            if promise.kind != "run":
                with suppress(NotJudged):  # a search calls such a promise undetermined, and goes on
                    promise.holds(model, *given, after)
    model.timeline(after)
    model.slices(after)


@pytest.mark.parametrize("seed", range(BATCHES))
def test_no_run_ends_in_an_error(seed: int) -> None:
    choose = random.Random(seed)
    for _, model in zip(range(MODELS), models(choose), strict=False):
        try:
            for number, taken in enumerate(run(model, choose)):
                if number % 3 == 2:
                    look(model, *taken)
        except Exception as error:
            error.add_note(f"in {World.to_mapping(model.world)} under {model.protocol.differences()}")
            raise


@pytest.mark.parametrize(
    ("world", "protocol", "why"),
    [
        (World(actors={"writer": 1, "bulk_inserter": 1}), Protocol(slicing="base_instant"),
         "a bulk inserter under slicing"),
        ({"actors": {"writer": 1, "savepointer": 1, "restorer": 1}, "table_type": "COPY_ON_WRITE", "compactions": 0},
         Protocol(), "a restorer of a COPY_ON_WRITE table"),
        ({"actors": {"writer": 1}, "table_type": "COPY_ON_WRITE", "compactions": 0, "writes": {("w1", 1): (2,)}},
         Protocol(), "not several log versions"),
    ],
)  # fmt: skip
def test_what_is_not_modelled_is_refused_by_name(world: Any, protocol: Protocol, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Model(world if isinstance(world, World) else World(**world), protocol)


def test_who_puts_rows_in_another_way_sends_no_batch_again() -> None:
    world = World(actors={"writer": 2, "bulk_inserter": 1, "overwriter": 1}, resends=1)
    assert [batch_of(world, name, 1) for name in ("w1", "w2", "w3", "bulk1", "over1")] == [1, 1, 0, 0, 0]
