"""The small worlds in which each transition relation is compared with the model, in seconds.

Together, the worlds of a file of lemmas take every action of its transition relation. Each mechanism meets two file
groups, two of its own actors, a compactor and a reader, so that a rule that is right only without one of them differs
from the model. Larger worlds and random ones are compared every night.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from nbcc.model import Model, Protocol, World

from .finite import Instance
from .interpretation import instance
from .rows import with_records
from .system import System

SPLIT: Final = {("w1", 1): (1, 0), ("w1", 2): (0, 1)}
"""The first write puts a log in group 0, the second one in group 1."""
APART: Final = {("w1", 1): (1, 0), ("w2", 1): (0, 1)}
"""Each writer puts a log in a group of its own."""
OPTIMISTIC: Final = {"w1": {"concurrency": "occ"}}


def world(actors: str, **limits: Any) -> World:
    """Return a world. `actors` lists the kinds of its actors, for example `2 writer, reader`."""
    counts = (each.strip().rpartition(" ") for each in actors.split(","))
    return World(actors={"compactor": 0, **{kind: int(count or 1) for count, _, kind in counts}}, **limits)


COMMIT_TIME: Final = "COMMIT_TIME_ORDERING"
CRASHES: Final = {"crashes": 1}
CLEANS: Final = {"cleans": 1, "commits_retained": 1}
RETAINED: Final = {"instants_retained": 1}
TWICE: Final = {"writes_per_writer": 2, "compactions": 2}

MOST: Final = 600
"""By day, at most this many states of a world are compared; every night, all of them."""
SMALL: Final[dict[str, tuple[World, ...]]] = {
    "core": (
        world("2 writer, compactor"),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
        world("2 writer, 2 compactor", compactions=2, buckets=2, writes=APART),
        world("writer, compactor", **TWICE),
        world("writer, 2 compactor", **TWICE, buckets=2, writes={("w1", 1): (0, 1), ("w1", 2): (0, 1)}),
    ),
    "ranks": (
        world("writer, compactor", **TWICE),
        world("2 writer, compactor", writes={("w1", 1): (2, 1), ("w2", 1): (1, 0)}, buckets=2),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "commit_time": (
        world("writer, compactor", **TWICE, merge_mode=COMMIT_TIME),
        world("2 writer, compactor", writes={("w1", 1): (2, 1), ("w2", 1): (1, 0)}, buckets=2, merge_mode=COMMIT_TIME),
        world("writer, compactor, reader", merge_mode=COMMIT_TIME, **CRASHES),
        world("writer, 2 compactor", merge_mode=COMMIT_TIME, **CRASHES),
    ),
    "batches": (
        world("2 writer, compactor", resends=1),
        world("2 writer, reader", resends=1),
        world("2 writer", resends=1, buckets=2, **CRASHES),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "heartbeats": (
        world("writer, 2 rollbacker", stalls=1, rollbacks=1),
        world("writer, rollbacker", stalls=1, rollbacks=1, **CRASHES),
        world("2 writer, compactor, rollbacker", stalls=1, rollbacks=1, buckets=2, writes=APART),
        world("writer, rollbacker, reader", stalls=1, rollbacks=1),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "optimistic": (
        world("2 writer, compactor", settings=OPTIMISTIC),
        world("2 writer", buckets=2, settings={"writer": {"concurrency": "occ"}}),
        world("2 writer", buckets=2, writes={("w1", 1): (1, 1), ("w2", 1): (0, 1)}, settings=OPTIMISTIC),
        world("2 writer", settings=OPTIMISTIC, **CRASHES),
        world("writer, compactor, reader", settings=OPTIMISTIC, **CRASHES),
        world("writer, 2 compactor", settings=OPTIMISTIC, **CRASHES),
    ),
    "cleaning": (
        world("writer, compactor, cleaner", **TWICE, **CLEANS),
        world("writer, compactor, 2 cleaner", **TWICE, **CLEANS),
        world("writer, compactor, 2 cleaner", writes_per_writer=2, **CLEANS, **CRASHES),
        world("writer, 2 compactor, cleaner", writes_per_writer=2, **CLEANS),
        world("2 writer, compactor, cleaner", buckets=2, writes=APART, **CLEANS),
        world("writer, compactor, cleaner, reader", writes_per_writer=2, **CLEANS),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "archiving": (
        world("writer, compactor, 2 archiver", writes_per_writer=2, archives=2, **RETAINED),
        world("writer, archiver, reader", writes_per_writer=2, archives=1, **RETAINED),
        world("writer, archiver, reader", archives=1, **RETAINED, **CRASHES),
        world("writer, compactor, archiver, reader", archives=1, **RETAINED),
        world("2 writer, archiver", buckets=2, writes=APART, archives=1, **RETAINED),
        world("writer, 2 compactor, archiver", archives=1, **RETAINED, **CRASHES),
    ),
    "log_compaction": (
        world("writer, compactor, 2 log_compactor", writes_per_writer=2, log_compactions=1),
        world("writer, compactor, log_compactor", buckets=2, writes={("w1", 1): (2, 1)}, log_compactions=1),
        world("writer, 2 log_compactor", buckets=2, writes={("w1", 1): (2, 2)}, log_compactions=2),
        world("writer, log_compactor, reader", log_versions=2, log_compactions=1),
        world("writer, 2 log_compactor", log_versions=2, log_compactions=1, **CRASHES),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "replaces": (
        world("writer, compactor, overwriter"),
        world("writer, compactor, overwriter", partitions=2),
        world("writer, compactor, overwriter", partitions=2, writes={("w1", 1): (0, 1), ("over1", 1): (1, 0)}),
        world("writer, 2 overwriter"),
        world("writer, overwriter, reader"),
        world("writer, compactor, reader", **CRASHES),
        world("writer, 2 compactor", **CRASHES),
    ),
    "decisions": (
        world("2 writer", lock_losses=1),
        world("writer, 2 compactor", lock_losses=1),
        world("writer, compactor, reader", lock_losses=1),
        world("writer, compactor", **TWICE, buckets=2, writes=SPLIT, lock_losses=1),
    ),
}  # fmt: skip
"""File of lemmas -> its small worlds."""


def models(name: str, protocol: Protocol | None = None) -> Iterator[Model]:
    """Yield the models of the small worlds of a file of lemmas."""
    return (Model(each, protocol) for each in SMALL[name])


def elements_of(model: Model, system: System, seed: int = 1) -> Instance:
    """Return the elements of a world, with random records if the transition relation has records."""
    elements = instance(model)
    has_records = any(relation.name == "record" for relation in system.relations)
    return with_records(elements, seed) if has_records else elements


def random_world(name: str, draw: Random) -> World:
    """Return a small world of a file of lemmas with some numbers changed."""
    base = draw.choice(SMALL[name])
    company = draw.choice(("writer", "compactor", "reader", "no one else"))
    actors = {kind: count + (kind == company and count < 2) for kind, count in {"reader": 0, **base.actors}.items()}
    flat = {**base.flat(), "actors": actors, "log_versions": draw.randint(1, 2), "crashes": draw.randint(0, 1)}
    flat |= {limit: draw.randint(1, 2) for limit in ("writes_per_writer", "compactions")}
    if draw.random() < 0.5:
        flat |= {"buckets": draw.randint(1, 2), "writes": {}}
    return World(**flat)
