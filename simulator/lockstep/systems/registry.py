"""Finds systems under test by name: ``model``, ``engine``, ``s3``, ``spark``, ``hudi``, a user's
``package.module:factory``, or the `Command` of a driver.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Mapping
from typing import Any

from nbcc.model import Model, Protocol, World
from nbcc.model.mechanisms.decision_log import TOGETHER, DecisionLog

from ...users_factory import CannotPlay, users_factory
from .driver import Command, DriverFactory
from .protocol import System

Batches = Mapping[tuple[str, int], Any]
Factory = Callable[[World, Protocol, Batches], System]


def factory(name: str) -> Factory:
    """Return the function that is called once per history to create the system under test.

    Raises:
        ValueError: If no system has the given name; the message lists the existing systems.
    """
    if isinstance(name, Command):
        return DriverFactory(name)
    if name in _OURS:
        return _OURS[name]
    if ":" not in name:
        raise ValueError(f"no system {name!r}; there are {', '.join(_OURS)}, and package.module:factory")
    return users_factory(name, "system", ("world", "protocol", "batches"), "start")


def fitted(name: str) -> Callable[[World], World]:
    """Return a function that reduces a world to what the named system supports."""
    if name != "hudi":
        return lambda world: world
    from .hudi_histories import fitted as to_hudi

    return to_hudi


def kinds_of(name: str) -> Collection[str] | None:
    """Return the kinds of actors that the named system supports in random worlds. None: those of every mechanism."""
    return DriverFactory(name).kinds if isinstance(name, Command) else None


def option_of(name: str) -> str:
    """Return the option of `nbcc check` and `nbcc replay` that selects a system."""
    return f"--system {shlex.quote(name)}" if isinstance(name, Command) else f"--on {name}"


def _model(world: World, protocol: Protocol, batches: Batches) -> System:
    from .model import ModelSystem

    return ModelSystem(Model(world, protocol), batches)


def _engine(world: World, protocol: Protocol, batches: Batches) -> System:
    from .announcing import AnnouncingSystem
    from .engine import EngineSystem

    system = AnnouncingSystem if protocol[DecisionLog].decision in TOGETHER else EngineSystem
    return system(world, protocol)


def _s3(world: World, protocol: Protocol, batches: Batches) -> System:
    from .s3 import s3_system

    return s3_system(world, protocol)


def _spark(world: World, protocol: Protocol, batches: Batches) -> System:
    from nbcc.engine.spark.session import session

    from .spark import SparkSystem

    if protocol[DecisionLog].decision in TOGETHER:
        raise CannotPlay("announced commits are played on the systems engine and s3; use --on engine or --on s3")
    return SparkSystem(world, protocol, spark=session())


def _hudi(world: World, protocol: Protocol, batches: Batches) -> System:
    from .hudi import HudiSystem

    return HudiSystem(world)


_OURS: dict[str, Factory] = {"model": _model, "engine": _engine, "s3": _s3, "spark": _spark, "hudi": _hudi}
