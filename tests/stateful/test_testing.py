"""`nbcc.testing.machine`: other people's systems in their own pytest."""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.model import Model, Protocol, World
from nbcc.simulator.systems.model import ModelSystem
from nbcc.testing import machine


class Forgetful(ModelSystem):
    """A table whose timeline forgets pending compactions."""

    def timeline(self) -> tuple[Any, ...]:
        return tuple(entry for entry in super().timeline() if entry[0] != "compaction")


def sound(world: World, protocol: Protocol, batches: Any) -> ModelSystem:
    return ModelSystem(Model(world, protocol), batches)


def forgetful(world: World, protocol: Protocol, batches: Any) -> ModelSystem:
    return Forgetful(Model(world, protocol), batches)


test_a_sound_system_passes = machine(sound, world="demo", examples=30)


def test_an_unsound_system_fails_with_the_interleaving() -> None:
    test = machine(forgetful, examples=50)
    with pytest.raises(AssertionError, match=r"(?s)the model and the system differ: timeline.*schedules plan.*because"):
        test()
