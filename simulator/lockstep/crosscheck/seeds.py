"""Runs checks with many seeds, in several processes or on a Spark cluster. Each seed is checked independently."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ... import specs
from ...interrupts import process_pool
from ...search.jobs import in_order, on_spark
from ..systems.driver import Command
from ..systems.registry import factory, fitted, kinds_of, option_of
from .check import CheckOptions, run
from .readers import standard_readers
from .report import CheckReport

Across = Callable[[Callable[[Any], Any], Sequence[Any]], Iterator[tuple[Any, Any]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seed:
    """The description of one check as names and numbers, so that another process can run it. If `world` is None, the
    check generates random worlds.
    """

    seed: int
    examples: int
    system: str = "engine"
    protocol: str = "default"
    world: str | None = None
    seconds: float | None = None

    def options(self) -> CheckOptions:
        """Look up the system, the protocol and the world by their names, and return the options of the check. Raises
        ValueError for an unknown name; the message lists the known names.
        """
        is_driver = isinstance(self.system, Command)
        by = f"nbcc check{f' {self.world}' if self.world else ''} --protocol {self.protocol}"
        return CheckOptions(
            factory=factory(self.system),
            protocol=specs.protocol(self.protocol),
            world=specs.world(self.world) if self.world else None,
            fitted=fitted(self.system),
            found_by=f"{by} --seed {self.seed} {option_of(self.system)}",
            system=self.system,
            kinds=kinds_of(self.system),
            readers=() if is_driver else standard_readers(),  # a driver's table has no files
            # a user's system knows one record of a key in a batch
            repeats=":" not in self.system and not is_driver,
        )


def check_seed(seed: Seed) -> CheckReport:
    return run(seed.options(), examples=seed.examples, seed=seed.seed, seconds=seed.seconds)


def across_processes(workers: int) -> Across:
    """Return a parallel map: a function that applies ``work`` to many values in ``workers`` local processes. The worker
    processes inherit no open files.
    """

    def play(work: Callable[[Any], Any], values: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
        with process_pool(workers) as pool:
            futures = [pool.submit(work, value) for value in values]
            yield from ((value, future.result()) for value, future in zip(values, futures, strict=True))

    return play


def across_cluster(spark: Any) -> Across:
    """Return a parallel map on the cluster of a Spark session."""
    return lambda work, values: in_order(on_spark(spark, work, values), values)


def check_seeds(seeds: Sequence[Seed], across: Across) -> Iterator[tuple[Seed, CheckReport]]:
    yield from across(check_seed, seeds)
