"""Generates the batches of a simulated writer: arrival times, numbers of rows, and the file groups that each batch
touches.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate, islice

from .scenario import PlannedBatch, TableLoad, WriterLoad


def batches(
    group: WriterLoad, number: int, shape: TableLoad, seconds: float, chance: random.Random
) -> Iterator[PlannedBatch]:
    """Yield the batches of writer `number` in a group of writers, by arrival time. A continuous writer's batches have
    no arrival times.
    """
    touched = _groups(group, number, shape, chance)
    until = min(group.ends, seconds)
    if group.arrival == "continuous":
        for groups in touched:
            yield PlannedBatch(group.begins, group.rows, groups)
    at = group.begins + chance.random() * group.every  # writers do not start at the same moment
    while at < until:
        yield PlannedBatch(at, group.rows, next(touched))
        at += chance.expovariate(1 / group.every) if group.arrival == "poisson" else group.every


def _groups(group: WriterLoad, number: int, shape: TableLoad, chance: random.Random) -> Iterator[tuple[int, ...]]:
    shares = _shares(shape.buckets, group.zipf)
    rows = max(1, group.rows // group.partitions)
    likely = [1 - (1 - share) ** rows for share in shares]
    every = tuple(range(shape.buckets)) if min(likely) > 0.999 else None
    weights = [*accumulate(_shares(shape.partitions, 1.0))]
    while True:
        touched: list[int] = []
        for partition in _partitions(group, number, shape, weights, chance):
            buckets = every or [b for b, share in enumerate(likely) if chance.random() < share]
            buckets = buckets or chance.choices(range(shape.buckets), shares)
            touched += [partition * shape.buckets + bucket for bucket in buckets]
        yield tuple(touched)


def _partitions(
    group: WriterLoad, number: int, shape: TableLoad, weights: list[float], chance: random.Random
) -> list[int]:
    every, count = shape.partitions, group.partitions
    if group.choice == "newest" or count == every:
        return [*range(every - count, every)]
    if group.choice == "own":
        return [(number * count + place) % every for place in range(count)]
    if group.choice == "uniform":
        return chance.sample(range(every), count) if count > 1 else [chance.randrange(every)]
    seen: dict[int, None] = {}
    while len(seen) < count:
        seen[chance.choices(range(every), cum_weights=weights)[0]] = None
    return [*islice(seen, count)]


def _shares(count: int, zipf: float) -> list[float]:
    weights = [1 / (place + 1) ** zipf for place in range(count)]
    total = sum(weights)
    return [weight / total for weight in weights]
