"""The small worlds in which each transition relation is compared with the model, in seconds.

Together, the worlds of a file of lemmas take every action of its transition relation. Each mechanism meets two file
groups, two of its own actors, a compactor and a reader, so that a rule that is right only without one of them differs
from the model. Larger worlds and random ones are compared every night.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.options import names_of, overrides
from nbcc.model.mechanisms.insert_overwrite import InsertOverwrite
from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.variants.scheduling import Scheduling
from nbcc.simulator import specs

from .lemmas import Lemmas
from .lemmas.options import CoreOptions

SPLIT: Final = {("w1", 1): (1, 0), ("w1", 2): (0, 1)}
"""The first write puts a log in group 0, the second one in group 1."""
IN_TURN: Final = {("w1", 1): (1, 0), ("w1", 2): (0, 1), ("w1", 3): (1, 0)}
"""The writes of a writer put one log each, in group 0, 1 and 0."""
APART: Final = {("w1", 1): (1, 0), ("w2", 1): (0, 1)}
"""Each writer puts a log in a group of its own."""
OCC: Final = overrides(Occ(concurrency="occ"))
OPTIMISTIC: Final = {"w1": OCC}


def world(actors: str, **limits: Any) -> World:
    """Return a world. `actors` lists the kinds of its actors, for example `2 writer, reader`."""
    counts = (each.strip().rpartition(" ") for each in actors.split(","))
    return World(actors={COMPACTOR.name: 0, **{kind: int(count or 1) for count, _, kind in counts}}, **limits)


COMMIT_TIME: Final = "COMMIT_TIME_ORDERING"
CRASHES: Final = {"crashes": 1}
CLEANS: Final = {"cleans": 1, "commits_retained": 1}
RETAINED: Final = {"instants_retained": 1}
STALLS: Final = {"stalls": 1, "rollbacks": 1}
SPLITS: Final = {"buckets": 2, "first_buckets": 1, "resizes": 1}
MERGES: Final = {**SPLITS, "first_buckets": 2}
TWICE: Final = {"writes_per_writer": 2, "compactions": 2}

UNMAPPED: Final = frozenset(names_of(InsertOverwrite))
"""Options whose weaker values have no interpretation: an overwriter by file ids has no plan in the model."""
ALSO: Final = dict.fromkeys(("ranks", "commit_time"), frozenset(names_of(Scheduling)))
"""File of lemmas -> an option of the core that breaks a promise which only this file claims: LAWS."""
MOST: Final = 600
"""By day, at most this many states of a world are compared; every night, all of them."""
DYING: Final = (world("writer, compactor, reader", **CRASHES), world("writer, 2 compactor", **CRASHES))
SMALL: Final[dict[str, tuple[World, ...]]] = {
    "core": (
        world("2 writer, compactor"),
        *DYING,
        world("2 writer, 2 compactor", compactions=2, buckets=2, writes=APART),
        world("writer, compactor", **TWICE),
        world("writer, 2 compactor", **TWICE, buckets=2, writes={("w1", 1): (0, 1), ("w1", 2): (0, 1)}),
    ),
    "ranks": (
        world("writer, compactor", **TWICE),
        world("2 writer, compactor", writes={("w1", 1): (2, 1), ("w2", 1): (1, 0)}, buckets=2),
        *DYING,
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
        world("3 writer", resends=1),
        world("2 writer", resends=1, buckets=2, **CRASHES),
        *DYING,
    ),
    "heartbeats": (
        world("writer, 2 rollbacker", stalls=1, rollbacks=1),
        world("writer, rollbacker", stalls=1, rollbacks=1, **CRASHES),
        world("2 writer, compactor, rollbacker", stalls=1, rollbacks=1, buckets=2, writes=APART),
        world("writer, rollbacker, reader", stalls=1, rollbacks=1),
        world("writer, rollbacker", stalls=1, rollbacks=1, log_versions=2),
        world("2 writer, rollbacker", stalls=2, rollbacks=2, buckets=2, writes=APART),
        *DYING,
    ),
    "optimistic": (
        world("2 writer, compactor", settings=OPTIMISTIC),
        world("2 writer", buckets=2, settings={WRITER.name: OCC}),
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
        *DYING,
    ),
    "archiving": (
        world("writer, compactor, 2 archiver", writes_per_writer=2, archives=2, **RETAINED),
        world("writer, archiver, reader", writes_per_writer=2, archives=1, **RETAINED),
        world("writer, archiver, reader", archives=1, **RETAINED, **CRASHES),
        world("writer, compactor, archiver, reader", archives=1, **RETAINED),
        world("writer, compactor, archiver", writes_per_writer=2, archives=1, **RETAINED, **CRASHES),
        world("2 writer, archiver", buckets=2, writes=APART, archives=1, **RETAINED),
        world("writer, 2 compactor, archiver", archives=1, **RETAINED, **CRASHES),
    ),
    "log_compaction": (
        world("writer, compactor, 2 log_compactor", writes_per_writer=2, log_compactions=1),
        world("writer, compactor, log_compactor", buckets=2, writes={("w1", 1): (2, 1)}, log_compactions=1),
        world("writer, 2 log_compactor", buckets=2, writes={("w1", 1): (2, 2)}, log_compactions=2),
        world("writer, log_compactor, reader", log_versions=2, log_compactions=1),
        world("writer, log_compactor", log_versions=3, log_compactions=1),
        world("writer, 2 log_compactor", log_versions=2, log_compactions=1, **CRASHES),
        *DYING,
    ),
    "replaces": (
        world("writer, compactor, overwriter"),
        world("writer, compactor, overwriter", partitions=2),
        world("writer, compactor, overwriter", partitions=2, writes={("w1", 1): (0, 1), ("over1", 1): (1, 0)}),
        world("writer, 2 overwriter"),
        world("writer, overwriter, reader"),
        *DYING,
    ),
    "resizes": (
        world("2 writer, resizer", **SPLITS),
        world("writer, 2 resizer", **SPLITS, **CRASHES),
        world("writer, compactor, resizer", writes_per_writer=2, **SPLITS),
        world("writer, 2 resizer", **{**SPLITS, "resizes": 2, "writes_per_writer": 2}),
        world("writer, resizer", **{**SPLITS, "resizes": 2}, cancelled_resizes=1),
        world("writer, resizer, reader", **SPLITS),
        *DYING,
    ),
    "resizes_by_range": (
        world("2 writer, resizer", **SPLITS),
        world("writer, 2 resizer", **SPLITS, **CRASHES),
        world("writer, compactor, resizer", writes_per_writer=2, **SPLITS),
        world("writer, 2 resizer", **{**SPLITS, "resizes": 2, "writes_per_writer": 2}),
        world("writer, resizer, reader", **SPLITS),
        *DYING,
    ),
    "decisions": (
        world("2 writer", lock_losses=1),
        world("writer, 2 compactor", lock_losses=1),
        world("writer, compactor, reader", lock_losses=1),
        world("writer, compactor", **TWICE, buckets=2, writes=SPLIT, lock_losses=1),
    ),
    "free_commits": (
        world("3 writer"),
        world("2 writer, reader", **CRASHES),
        world("2 writer, compactor", buckets=2, writes=APART),
        world("writer, compactor, reader", **CRASHES),
        world("writer, compactor", **TWICE, buckets=2, writes=SPLIT),
    ),
    "free_rollbacks": (
        world("2 writer, rollbacker", **STALLS),
        world("writer, rollbacker", **STALLS, **CRASHES),
        world("writer, rollbacker, reader", **STALLS),
        world("writer, rollbacker", writes_per_writer=2, **STALLS),
        world("writer, rollbacker", buckets=2, **STALLS),
        world("writer, compactor, rollbacker", **STALLS),
        world("writer, compactor, reader", **CRASHES),
    ),
}  # fmt: skip
"""File of lemmas -> its small worlds."""
CANCELS: Final = world("writer, resizer", **{**SPLITS, "resizes": 2}, cancelled_resizes=1)
SMALL.update({
    "resizes_rolled_back": (
        world("2 writer, resizer, rollbacker", **SPLITS, **STALLS),
        world("writer, resizer, 2 rollbacker", **SPLITS, **STALLS),
        world("writer, compactor, resizer, rollbacker", writes_per_writer=2, **SPLITS, **STALLS),
        world("writer, resizer, rollbacker, reader", **SPLITS, **STALLS),
        world("writer, 2 resizer, rollbacker", **SPLITS, **STALLS),
        world("writer, resizer, rollbacker", **SPLITS, **STALLS, **CRASHES),
        CANCELS, SMALL["heartbeats"][1], *SMALL["heartbeats"][5:],
    ),
    "resizes_cleaned": (
        world("writer, compactor, resizer, cleaner", **TWICE, **SPLITS, **CLEANS),
        world("writer, 2 resizer, 2 cleaner", **TWICE, **SPLITS, **CLEANS, **CRASHES),
        world("writer, resizer, cleaner, reader", writes_per_writer=2, **SPLITS, **CLEANS),
        world("2 writer, resizer, cleaner", **SPLITS, **CLEANS),
        world("writer, compactor, resizer, cleaner", writes_per_writer=3, writes=IN_TURN, **MERGES, **CLEANS),
        CANCELS, *SMALL["cleaning"][2:4], *SMALL["cleaning"][6:],
    ),
})  # fmt: skip


def models(name: str, protocol: Protocol | None = None) -> Iterator[Model]:
    """Yield the models of the small worlds of a file of lemmas."""
    return (Model(each, protocol) for each in SMALL[name])


def most_judged(name: str) -> int:
    """Return in how many states of a small world the claims of a file are judged; every night, in ten times as many.
    The claims of a mechanism's file are mostly those of the core; runs that break FIRST are long.
    """
    return {"core": 60, "optimistic": 150}.get(name, 30)


def protocols(lemmas: Lemmas, every: bool = False) -> Iterator[tuple[str, Protocol]]:
    """Yield the protocol of a file of lemmas, and each protocol with one weaker option that the relation describes.
    Without `every`, a mechanism's file changes only the options that the mechanism adds to those of the core.
    """
    usual = specs.protocol(lemmas.protocol)
    yield "", usual
    of_core = {each.name for each in fields(CoreOptions)} - ALSO.get(lemmas.name, frozenset()) | UNMAPPED
    for name, values in lemmas.described().items():
        for value in values if name not in (UNMAPPED if every or lemmas.name == "core" else of_core) else ():
            if value != usual.to_mapping()[name]:
                yield f"{name} = {value}", Protocol.from_mapping({**usual.to_mapping(), name: value})


def reachable(model: Model, most: int | None = None) -> Iterator[tuple[State, list[tuple[Step, State]]]]:
    """Yield each reachable state with its steps, or at most `most` states, in an order that does not depend on that of
    the model's transitions.
    """
    seen, todo, visited = {model.initial}, [model.initial], 0
    while todo and (most is None or visited < most):
        state = todo.pop()
        after = sorted(model.successors(state), key=lambda each: repr(each[0]))
        visited += 1
        yield state, after
        for _, following in after:
            if following not in seen:
                seen.add(following)
                todo.append(following)
