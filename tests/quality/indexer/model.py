"""Indexers: build an index while writers write (RFC-45). A plan says up to which time the index reads the table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.lock import LOCK_IS_FREE
from ..kernel.publication import Publication, publication, publication_actions
from ..kernel.table import Instant, Write
from ..kernel.timeline import PENDING, Published
from ..kernel.writer import REQUESTS
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, transition
from ..world import World


class Indexing(Options):
    """What a writer does while an index is built."""

    index_writers: Literal["go_on", "wait"] = option("go_on", "go_on: writers begin; wait: no write begins meanwhile")


class Indexes(Limits):
    indexes: int = limit(1, "how many indexes may be planned")


class IndexPlan(NamedTuple):
    """The plan of an index over everything that completed before `requested`."""

    requested: int
    inflight: bool = False


class Indexed(NamedTuple):
    """A completed index."""

    requested: int
    completed: int
    actor: str
    action: str = "indexing"


class Indexer(NamedTuple):
    step: str = "idle"
    requested: int = 0
    completed: int = 0
    records: tuple[Any, ...] = ()


INDEXER = Kind(name="indexer", prefix="i", first=Indexer(), in_random_worlds=(0, 1))

Plans = tuple[IndexPlan, ...]
PLANNED = "about to build"


def compose(composition: Composition) -> None:
    indexers = composition.actors_of("indexer")
    composition.add_component("indexes", ())
    composition.map_view(PENDING, pending_indexes)
    for me in indexers:
        composition.add(
            transition(
                "indexer_schedules_index",
                me,
                at="idle",
                to=PLANNED,
                guards=(LOCK_IS_FREE, INDEX_LEFT, WRITTEN),
                effect=put_plan,
                changes=("clock", "indexes"),
                tags=(READS_CLOCK,),
            ),
            transition("indexer_starts_index", me, at=PLANNED, to="built", effect=start_plan, changes=("indexes",)),
        )
        publication(composition, Publication("indexer", me, "built", partial(published_index, me)))
    if indexers and composition.protocol[Indexing].index_writers == "wait":
        composition.select(REQUESTS, actors=composition.actors_of("writer")).require(NO_INDEX)


def indexes_left(indexes: Plans, world: World) -> bool:
    return len(indexes) < world[Indexes].indexes


def no_index_pending(indexes: Plans, published: Published) -> bool:
    return {plan.requested for plan in indexes} <= {entry.requested for entry in published}


def is_written(published: Published) -> bool:
    return any(isinstance(entry, Write) for entry in published)


INDEX_LEFT = Guard("an index must be left", indexes_left, limit=True)
WRITTEN = Guard("a write must be completed", is_written)
NO_INDEX = Guard("no index may be pending", no_index_pending)


def put_plan(own: Indexer, clock: int, request_time: TakeTime, indexes: Plans) -> Changes:
    """Under the lock: take a requested time and put the plan."""
    time, clock = request_time(clock, action="indexing")
    return {"own": Indexer(requested=time), "clock": clock, "indexes": (*indexes, IndexPlan(time))}


def start_plan(own: Indexer, indexes: Plans) -> Changes:
    """Put the inflight instant of the plan."""
    return {"indexes": tuple(each._replace(inflight=each.requested == own.requested) for each in indexes)}


def published_index(me: str, own: Indexer) -> tuple[Indexer, Indexed]:
    return Indexer(), Indexed(own.requested, own.completed, me)


def pending_indexes(pending_instants: Iterable[Instant], indexes: Plans, published: Published) -> Iterator[Instant]:
    yield from pending_instants
    done = {entry.requested for entry in published}
    for plan in indexes:
        if plan.requested not in done:
            yield Instant(plan.requested, "indexing", "inflight" if plan.inflight else "requested", None)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(INDEXER,),
    options=Indexing,
    limits=Indexes,
    actions=(
        Action(
            "indexer_schedules_index",
            "under the lock: takes a requested time and puts the plan",
            "{actor} schedules an index",
        ),
        Action("indexer_starts_index", "puts the inflight instant", "{actor} starts its index"),
        *publication_actions("indexer"),
    ),
)
