"""Finds systems under test by name: ``model``, ``engine``, ``s3``, ``spark``, ``hudi``, or a user's
``package.module:factory``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nbcc.model import Model, Protocol, World

from ..users_factory import users_factory
from .protocol import System

Batches = Mapping[tuple[str, int], Any]
Factory = Callable[[World, Protocol, Batches], System]


def factory(name: str) -> Factory:
    """Return the function that is called once per history to create the system under test.

    Raises:
        ValueError: If no system has the given name; the message lists the existing systems.
    """
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


def _model(world: World, protocol: Protocol, batches: Batches) -> System:
    from .model import ModelSystem

    return ModelSystem(Model(world, protocol), batches)


def _engine(world: World, protocol: Protocol, batches: Batches) -> System:
    from .engine import EngineSystem

    return EngineSystem(world, protocol)


def _s3(world: World, protocol: Protocol, batches: Batches) -> System:
    from .s3 import S3System

    return S3System(world, protocol)


def _spark(world: World, protocol: Protocol, batches: Batches) -> System:
    from nbcc.engine.spark.session import session

    from .spark import SparkSystem

    return SparkSystem(world, protocol, spark=session())


def _hudi(world: World, protocol: Protocol, batches: Batches) -> System:
    from .hudi import HudiSystem

    return HudiSystem(world)


_OURS: dict[str, Factory] = {"model": _model, "engine": _engine, "s3": _s3, "spark": _spark, "hudi": _hudi}
