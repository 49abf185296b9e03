"""Finds minimal examples: the shortest run that takes an action, tests a promise, or violates a promise.

Minimal examples are found by searching worlds (search configurations), from small to large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from itertools import starmap, tee
from typing import Any, Final

from nbcc.model import Model, Protocol, State, Step, World, extensions
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.options import overrides
from nbcc.model.mechanisms.announcements.cut import CUTTER
from nbcc.model.mechanisms.archiving.mechanism import ARCHIVER
from nbcc.model.mechanisms.bulk_insert.mechanism import BULK_INSERTER
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.clustering import CLUSTERER
from nbcc.model.mechanisms.consumers import CONSUMER
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES, LOCK_EXPIRES
from nbcc.model.mechanisms.insert_overwrite import OVERWRITER
from nbcc.model.mechanisms.log_compaction.mechanism import LOG_COMPACTOR
from nbcc.model.mechanisms.metadata_table import HasMetadataTable
from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.mechanisms.queries import QUERIER
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER
from nbcc.model.mechanisms.schema_evolution.mechanism import SCHEMA_EVOLVER
from nbcc.model.mechanisms.streams import STREAM
from nbcc.model.promises import PROMISES
from nbcc.model.world import crew

from .. import specs
from ..search.explore import explore
from ..trace import Trace
from .counterexample import counterexample
from .mechanisms import rooms
from .replay import play
from .shrink import realised
from .systems.registry import factory
from .witness import witness

FOUND_BY = "nbcc explain"

Holds = Callable[[Model, Any, Any, Any], str | None]


@dataclass(frozen=True, slots=True)
class Never:
    """The promise that a given event never occurs. A search for a counterexample finds a run in which the event occurs.
    `kind` is "state" or "step", depending on whether the event is a property of states or of steps.
    """

    kind: str
    holds: Holds
    name: str = "NEVER"

    def sometimes(self, model: Model, state: Any) -> bool:
        return True

    def reads(self, model: Model) -> tuple[str, ...]:
        return tuple(model.components)


CREWS: Final = (
    (WRITER,),
    (WRITER, COMPACTOR),
    (WRITER, READER),
    (WRITER, WRITER),
    (WRITER, WRITER, COMPACTOR),
    (WRITER, WRITER, READER),
    (WRITER, WRITER, COMPACTOR, READER),
    (BULK_INSERTER,),
    (WRITER, BULK_INSERTER),
    (OVERWRITER,),
    (WRITER, WRITER, CLUSTERER),
)
SERVING: Final = (ARCHIVER, CLEANER, CONSUMER, LOG_COMPACTOR, RESTORER, ROLLBACKER, SAVEPOINTER, STREAM)
"""The kinds of actors whose actions occur in named worlds only."""


def small_worlds() -> Iterator[World]:
    """Yield small search configurations: first one writer alone, then combinations with a compactor, a reader, a second
    writer or a crash.
    """
    for kinds in CREWS:
        yield World(actors=crew(*kinds))
    occ = overrides(Occ(concurrency="occ"))
    yield World(actors=crew(WRITER, QUERIER), queries=1)
    yield World(actors=crew(WRITER), table_type="COPY_ON_WRITE", settings={WRITER.name: occ})
    yield World(actors=crew(WRITER, WRITER), retries=1, settings={WRITER.name: occ})
    yield World(actors=crew(WRITER, WRITER), condition_deletes=1, settings={WRITER.name: occ})
    detects = overrides(Occ(concurrency="occ", early_detection="on"))
    yield World(actors=crew(WRITER, WRITER), settings={WRITER.name: detects})
    yield World(actors=crew(SCHEMA_EVOLVER), alterations=1)
    yield World(actors=crew(WRITER, OVERWRITER), settings={WRITER.name: occ, OVERWRITER.name: occ})
    yield World(actors=crew(WRITER), crashes=1)
    yield World(actors=crew(WRITER, COMPACTOR, COMPACTOR), crashes=1)


def small_models() -> Iterator[tuple[World, Protocol]]:
    """Yield pairs of world (search configuration) and protocol (set of rules) in the order in which they are searched.

    Small worlds under the default protocol come first, followed by worlds in which locks are lost. Named worlds with
    table services, lost responses and repeated batches come next. Protocols that define additional actions come last.
    """
    yield from ((world, Protocol()) for world in small_worlds())
    default, log = Protocol(), Protocol(decision="log")
    for protocol in (default, log):
        for kinds in ((WRITER,), (WRITER, COMPACTOR), (WRITER, WRITER), (WRITER, WRITER, COMPACTOR)):
            yield World(actors=crew(*kinds), lock_losses=1), protocol
    yield World(actors=crew(WRITER, BULK_INSERTER), lock_losses=1), log
    yield World(actors=crew(WRITER, BULK_INSERTER), lock_losses=1), default
    yield World(actors=crew(WRITER, WRITER, ROLLBACKER), stalls=1, rollbacks=1, lock_losses=1), log
    for name in ("lost_lock_cleaning", "lost_lock_replaces", "lost_lock_restores"):
        yield specs.world(name), log
    restored = crew(WRITER, SAVEPOINTER, RESTORER)
    yield World(actors=restored, writes_per_writer=3, compactions=0, savepoints=1, restores=1, lock_losses=1), log
    compacted = crew(WRITER, LOG_COMPACTOR)
    yield World(actors=compacted, writes_per_writer=2, log_versions=2, log_compactions=1, lock_losses=1), log
    cleaned = crew(WRITER, COMPACTOR, LOG_COMPACTOR, LOG_COMPACTOR, CLEANER)
    yield World(actors=cleaned, writes_per_writer=3, log_versions=2, log_compactions=1,
                cleans=1, commits_retained=1), default  # fmt: skip
    for world in map(specs.world, specs.world_names()):
        if crew(*SERVING).keys() & world.actors.keys() or world[HasMetadataTable].metadata_table:
            yield world, default
    yield specs.world("answer_lost"), default
    yield specs.world("sent_again"), default
    yield specs.world("sent_otherwise"), default
    unlocked = Protocol(requests="put_if_absent")
    yield World(actors=crew(WRITER)), unlocked
    yield World(actors=crew(WRITER, WRITER)), unlocked
    yield specs.world("archiving"), unlocked
    free = Protocol(decision="free")
    yield World(actors=crew(WRITER, COMPACTOR)), free
    yield World(actors=crew(WRITER, ROLLBACKER), stalls=1, rollbacks=1), free
    yield World(actors=crew(WRITER, COMPACTOR, CUTTER), compactions=1, cuts=1), free
    yield World(actors=crew(WRITER, ROLLBACKER, CUTTER), stalls=1, rollbacks=1, cuts=1), free
    yield specs.world("free_two_compactors"), free
    yield specs.world("free_restores"), free
    yield specs.world("free_cleaning"), free
    yield specs.world("free_savepoints"), free
    yield specs.world("free_queriers"), free
    yield World(actors=crew(WRITER, ROLLBACKER), crashes=1, rollbacks=1), Protocol(decision="shared")
    parallel = free.replace(publication="parallel")
    yield World(actors=crew(WRITER, WRITER, COMPACTOR)), parallel
    yield World(actors=crew(WRITER, WRITER, ROLLBACKER), crashes=1, rollbacks=1), parallel
    for name in extensions.files_of("worlds"):
        yield specs.world(name), default
    for protocol_name, name in (example for room in rooms().values() for example in room.examples):
        yield specs.world(name), specs.protocol(protocol_name)


@cache
def _models(extended: tuple[str, ...]) -> Iterator[Model]:
    """Return the models of `small_models` with the given extensions. Copy the iterator: a copy starts at the first
    model, and all copies share the models that one of them has built.
    """
    [source] = tee(starmap(Model, small_models()), 1)
    return source


def breaking(world: World, protocol: Protocol, promise: str) -> Trace | None:
    """Return a shortest counterexample to the promise in the given world (search configuration); None if the promise
    holds.
    """
    model = Model(world, protocol)
    found = explore(model, [PROMISES[promise]], until_all_broken=True).promises[promise].trace
    return None if found is None else counterexample(model, found, promise, FOUND_BY)


def tried(promise: str) -> Trace | None:
    """Return the shortest run to a state in which the promise's precondition is true, under the default protocol if
    possible.
    """
    sometimes = PROMISES[promise].sometimes

    def reached(model: Model, before: Any, step: Any, after: Any) -> str | None:
        return "reached" if sometimes(model, after) else None

    def applies(model: Model) -> bool:
        return PROMISES[promise].unfit(model) is None

    return _first(Never("state", reached), f"the shortest run that tests {promise}", applies)


def taking(action: str) -> Trace | None:
    """Return the shortest run that ends with the given action, under the default protocol if possible."""

    def taken(model: Model, before: Any, step: Step | None, after: Any) -> str | None:
        return "taken" if step is not None and step.action == action else None

    def has(model: Model) -> bool:
        return any(row.action == action for row in model.transitions)

    return _first(Never("step", taken), f"the shortest run that ends with {action}", has)


def one_after_another(world: World, protocol: Protocol | None = None) -> Trace:
    """Return a run without overlaps: each actor continues as long as it can take a step. An endless run is cut off when
    it returns to an earlier state.
    """
    model = Model(world, protocol)
    state, steps, seen = model.initial, list[Step](), set[State]()
    # Faults are left out, so that the run shows each operation from its beginning to its end.
    while choices := [s for s in model.successors(state) if s[0].action not in (ACTOR_CRASHES, LOCK_EXPIRES)]:
        if state in seen:
            break
        seen.add(state)
        same = [choice for choice in choices if steps and choice[0].actor == steps[-1].actor]
        step, state = (same or choices)[0]
        steps.append(step)
    return _trace(model, steps, f"one actor after the other in the world {world.name}")


def _first(never: Never, title: str, can: Callable[[Model], bool] = lambda model: True) -> Trace | None:
    """Return a run that violates `never` in the first possible world of `small_models`, or None."""
    for model in copy(_models(tuple(extensions.files()))):
        # Asked before the search, which is by far the more expensive of the two.
        if not can(model):
            continue
        found = explore(model, [never], until_all_broken=True).promises[never.name].trace
        if found is not None:
            return _trace(model, found, title)
    return None


def _trace(model: Model, steps: Any, title: str) -> Trace:
    named = realised(model, tuple(steps))
    assert named is not None, "the search took these steps"
    bare = Trace(
        world=model.world, protocol=model.protocol, steps=named, batches=witness(model, tuple(steps[:30])),
        title=title, found_by=FOUND_BY,
    )  # fmt: skip
    return replace(play(bare, "model", factory("model")).trace, verdict="")
