"""Selects the worlds and steps that Apache Hudi can play: reduces a world to supported features, and omits unsupported
steps.
"""

from __future__ import annotations

from typing import Any, Final

from nbcc.model import Step, World
from nbcc.model.kernel.compactor import COMPACTOR, COMPACTOR_RESUMES_PLAN
from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.transition import DEAD
from nbcc.model.mechanisms.crashes import ACTOR_CRASHES
from nbcc.model.mechanisms.rollback.heartbeat import HEARTBEAT_EXPIRES, UNAWARE, WRITER_IS_REFUSED
from nbcc.model.mechanisms.rollback.rollbacker import (
    ROLLBACKER,
    ROLLBACKER_RESUMES_ROLLBACK,
    ROLLBACKER_STARTS_ROLLBACK,
)

FITTED: Final = (COMPACTOR, ROLLBACKER, WRITER)
"""The kinds of actors in the random histories by which the protocol hudi-1.2.0 was fitted."""


def fitted(world: World) -> World:
    """Return the world, reduced to what Hudi supports: merge-on-read, whole rows, and atomic client calls.

    A write has at most one log file in each file group, because Hudi's client writes few rows to a single log file. A
    random world, which has no name, keeps only its compactors, rollback actors and writers.
    """
    actors = world.actors if world.name else {kind.name: world.actors.get(kind.name, 0) for kind in FITTED}
    shapes = {write: tuple(min(1, versions) for versions in shape) for write, shape in world.writes.items()}
    plain = world.replace(table_type="MERGE_ON_READ", columns=0, log_versions=1)
    return plain.replace(actors=actors, writes=shapes, granularity="call")


def does_otherwise(model: Any, state: Any, step: Step) -> bool:
    """True if Hudi's client would act differently from the model in this step. Histories omit such steps.

    While an actor holds the lock, only that actor's steps are allowed, because Hudi locks and publishes within one
    call. A compactor must not resume the plan of a live compactor, because Hudi would first roll back the live run and
    delete its files.

    In worlds with rollback actors, histories also omit the following steps:

    - The heartbeat of a writer expires before the writer has written its files. Hudi's client would fail after the
      rollback of its write.
    - A writer aborts before its write is rolled back. Hudi could still commit the write.
    - A writer acquires the lock after its write was rolled back. Hudi would refuse the write.
    - A rollback runs after its target has committed. Hudi would remove the committed instant (finding
      commit-undone-by-a-planned-rollback).
    """
    if (holder := model.component(state, "lock")) is not None:
        return step.actor != holder or step.action == ACTOR_CRASHES
    if step.action == COMPACTOR_RESUMES_PLAN:
        return _oldest_runner_is_alive(model, state)
    return bool(model.actors_of(ROLLBACKER)) and _differs_with_rollbacks(model, state, step)


def _differs_with_rollbacks(model: Any, state: Any, step: Step) -> bool:
    own = model.component(state, step.actor)
    if step.action == HEARTBEAT_EXPIRES:
        return own.step not in (DEAD, "written", UNAWARE)
    if step.action == WRITER_IS_REFUSED:
        return own.requested not in _rolled_back(model, state)
    if step.action == "writer_takes_lock":
        return own.requested in _rolled_back(model, state)
    executes = step.action in (ROLLBACKER_STARTS_ROLLBACK, ROLLBACKER_RESUMES_ROLLBACK)
    return executes and not _pending_targets(model, state).isdisjoint(_completed(model, state))


def _oldest_runner_is_alive(model: Any, state: Any) -> bool:
    done = _completed(model, state)
    runner = next(plan.runner for plan in model.component(state, "plans") if plan.requested not in done)
    return bool(model.component(state, runner).step != DEAD)


def _completed(model: Any, state: Any) -> set[int]:
    return {entry.requested for entry in model.component(state, "published")}


def _rolled_back(model: Any, state: Any) -> set[int]:
    done = _completed(model, state)
    return {each.target for each in model.component(state, "rollbacks") if each.requested in done}


def _pending_targets(model: Any, state: Any) -> set[int]:
    done = _completed(model, state)
    return {each.target for each in model.component(state, "rollbacks") if each.requested not in done}
