"""Finds minimal examples: the shortest run that takes an action, tests a promise, or violates a promise.

Minimal examples are found by searching worlds (search configurations), from small to large.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from nbcc.model import Model, Protocol, State, Step, World
from nbcc.model.mechanisms.metadata_table.options import HasMetadataTable
from nbcc.model.promises import PROMISES

from . import specs
from .counterexample import counterexample
from .explore import explore
from .replay import play
from .shrink import realised
from .systems.registry import factory
from .trace import Trace
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


WEAKER = (
    ("commit-checked-early", "failed_writer"),
    ("rollback-chosen-early", "failed_writer"),
    ("plan-checked-early", "rivals"),
    ("plan-checked-early", "log_compaction_crash"),
    ("plan-checked-early", "cleaning_crash"),
    ("plan-checked-early", "restores_crash"),
    ("lost-answer-is-failure", "answer_lost"),
    ("decision-log", "answer_lost"),
    ("old-manifest", "archiving_readers"),
    ("lock-wait-times-out", "demo"),
    ("occ-clustering", "clustered"),
    ("shared-log", "appended_logs"),
)
"""Protocols with actions that no other one takes, each with a world in which these occur."""


def small_worlds() -> Iterator[World]:
    """Yield small search configurations: first one writer alone, then combinations with a compactor, a reader, a second
    writer or a crash.
    """
    crews: list[dict[str, int]] = [
        {"writer": 1},
        {"writer": 1, "compactor": 1},
        {"writer": 1, "reader": 1},
        {"writer": 2},
        {"writer": 2, "compactor": 1},
        {"writer": 2, "reader": 1},
        {"writer": 2, "compactor": 1, "reader": 1},
        {"bulk_inserter": 1},
        {"writer": 1, "bulk_inserter": 1},
        {"overwriter": 1},
        {"writer": 2, "clusterer": 1},
    ]
    for crew in crews:
        yield World(actors=crew)
    yield World(actors={"writer": 1, "querier": 1}, queries=1)
    yield World(actors={"writer": 1}, table_type="COPY_ON_WRITE", settings={"writer": {"concurrency": "occ"}})
    yield World(actors={"writer": 2}, retries=1, settings={"writer": {"concurrency": "occ"}})
    yield World(actors={"writer": 2}, settings={"writer": {"concurrency": "occ", "early_detection": "on"}})
    yield World(actors={"schema_evolver": 1}, alterations=1)
    optimistic = {"writer": {"concurrency": "occ"}, "overwriter": {"concurrency": "occ"}}
    yield World(actors={"writer": 1, "overwriter": 1}, settings=optimistic)
    yield World(actors={"writer": 1}, crashes=1)
    yield World(actors={"writer": 1, "compactor": 2}, crashes=1)


def small_models() -> Iterator[tuple[World, Protocol]]:
    """Yield pairs of world (search configuration) and protocol (set of rules) in the order in which they are searched.

    Small worlds under the default protocol come first, followed by worlds in which locks are lost. Named worlds with
    table services, lost responses and repeated batches come next. Protocols that define additional actions come last.
    """
    yield from ((world, Protocol()) for world in small_worlds())
    for decision in ("lock", "log"):
        for crew in ({"writer": 1}, {"writer": 1, "compactor": 1}, {"writer": 2}, {"writer": 2, "compactor": 1}):
            yield World(actors=crew, lock_losses=1), Protocol.from_mapping({"decision": decision})
    log = Protocol(decision="log")
    yield World(actors={"writer": 1, "bulk_inserter": 1}, lock_losses=1), log
    yield World(actors={"writer": 1, "bulk_inserter": 1}, lock_losses=1), Protocol()
    yield World(actors={"writer": 2, "rollbacker": 1}, stalls=1, rollbacks=1, lock_losses=1), log
    for name in ("lost_lock_cleaning", "lost_lock_replaces", "lost_lock_restores"):
        yield specs.world(name), log
    crew = {"writer": 1, "savepointer": 1, "restorer": 1}
    yield World(actors=crew, writes_per_writer=3, compactions=0, savepoints=1, restores=1, lock_losses=1), log
    crew = {"writer": 1, "log_compactor": 1}
    yield World(actors=crew, writes_per_writer=2, log_versions=2, log_compactions=1, lock_losses=1), log
    crew = {"writer": 1, "compactor": 1, "log_compactor": 2, "cleaner": 1}
    yield World(actors=crew, writes_per_writer=3, log_versions=2, log_compactions=1,
                cleans=1, commits_retained=1), Protocol()  # fmt: skip
    for name in specs.world_names():
        serves = {
            "archiver", "cleaner", "consumer", "log_compactor", "restorer", "rollbacker", "savepointer", "stream"
        }  # fmt: skip
        world = specs.world(name)
        if serves & world.actors.keys() or world[HasMetadataTable].metadata_table:
            yield world, Protocol()
    yield specs.world("answer_lost"), Protocol()
    yield specs.world("sent_again"), Protocol()
    yield specs.world("sent_otherwise"), Protocol()
    for protocol, name in WEAKER:
        yield specs.world(name), specs.protocol(protocol)


def breaking(world: World, protocol: Protocol, promise: str) -> Trace | None:
    """Return a shortest counterexample to the promise in the given world (search configuration); None if the promise
    holds.
    """
    model = Model(world, protocol)
    found = explore(model, [PROMISES[promise]]).promises[promise].trace
    return None if found is None else counterexample(model, found, promise, FOUND_BY)


def tried(promise: str) -> Trace | None:
    """Return the shortest run, under the default protocol, to a state in which the promise's precondition is true."""
    sometimes = PROMISES[promise].sometimes

    def reached(model: Model, before: Any, step: Any, after: Any) -> str | None:
        return "reached" if sometimes(model, after) else None

    return _first(Never("state", reached), f"the shortest run that tests {promise}")


def taking(action: str) -> Trace | None:
    """Return the shortest run that ends with the given action, under the default protocol if possible."""

    def taken(model: Model, before: Any, step: Step | None, after: Any) -> str | None:
        return "taken" if step is not None and step.action == action else None

    def has(model: Model) -> bool:
        return any(row.action == action for row in model.transitions)

    return _first(Never("step", taken), f"the shortest run that ends with {action}", has)


def one_after_another(world: World) -> Trace:
    """Return a run without overlaps: each actor continues as long as it can take a step. An endless run is cut off when
    it returns to an earlier state.
    """
    model = Model(world)
    state, steps, seen = model.initial, list[Step](), set[State]()
    while choices := [s for s in model.successors(state) if s[0].action not in ("actor_crashes", "lock_expires")]:
        if state in seen:
            break
        seen.add(state)
        same = [choice for choice in choices if steps and choice[0].actor == steps[-1].actor]
        step, state = (same or choices)[0]
        steps.append(step)
    return _trace(model, steps, f"one actor after the other in the world {world.name}")


def _first(never: Never, title: str, can: Callable[[Model], bool] = lambda model: True) -> Trace | None:
    """Return a run that violates `never` in the first possible world of `small_models`, or None."""
    for world, protocol in small_models():
        model = Model(world, protocol)
        if not can(model):
            continue
        found = explore(model, [never]).promises[never.name].trace
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
