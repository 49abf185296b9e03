"""Which histories Apache Hudi can play: what is left of a world, and of the steps that the model allows."""

from __future__ import annotations

from typing import Any, Final

from nbcc.model import Step, World
from nbcc.model.machine.transition import DEAD, record_of
from nbcc.model.mechanisms.rollback.heartbeat import Heartbeat

FITTED: Final = ("compactor", "rollbacker", "writer")
"""The kinds of actors to whose random histories the setting is fitted."""


def fitted(world: World) -> World:
    """The world that Hudi can play: merge-on-read, whole rows, a call is a step.

    A write has one log file a group, because Hudi's client never rolls one so small. Worlds without a name have the
    actors alone to whose random histories the setting is fitted.
    """
    actors = world.actors if world.name else {kind: world.actors.get(kind, 0) for kind in FITTED}
    shapes = {write: tuple(min(1, versions) for versions in shape) for write, shape in world.writes.items()}
    plain = world.replace(table_type="MERGE_ON_READ", columns=0, log_versions=1)
    return plain.replace(actors=actors, writes=shapes, granularity="call")


def does_otherwise(model: Any, state: Any, step: Step) -> bool:
    """Whether Hudi's client would not do now what the model says that somebody does.

    It takes the lock and is refused in one call, between whose ends nobody else has a turn. Besides, of a living writer
    that is taken for dead:

    Before its files are there a rollback makes Hudi's client fail at once, and ours when it would publish. Before its
    rollback has completed Hudi's commits, which a rollback that is planned takes back (the finding
    commit-undone-by-a-planned-rollback). So it stalls where it would publish, and wakes after its rollback.
    """
    if (holder := model.component(state, "lock")) is not None:
        return step.actor != holder or step.action == "actor_crashes"
    if step.action not in ("heartbeat_expires", "writer_takes_lock"):
        return False
    own = model.component(state, step.actor)
    if step.action == "heartbeat_expires":
        return own.step not in (DEAD, "written")
    return record_of(own, Heartbeat).expired and own.requested not in _rolled_back(model, state)


def _rolled_back(model: Any, state: Any) -> set[int]:
    done = {entry.requested for entry in model.component(state, "published")}
    return {each.target for each in model.component(state, "rollbacks") if each.requested in done}
