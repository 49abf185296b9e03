"""Queries on actors and worlds (search configurations) whose answers depend on the installed mechanisms."""

from __future__ import annotations

from typing import Any

from nbcc.model import World
from nbcc.model.machine.transition import DEAD, ActorState
from nbcc.model.mechanisms.clocks import Skew
from nbcc.model.mechanisms.lost_locks import LostLocks


def field_of(own: ActorState, name: str, otherwise: Any = 0) -> Any:
    """Return a field of an actor's state or of its records; `otherwise` if no such field exists."""
    return next((getattr(each, name) for each in (own, *own.records) if hasattr(each, name)), otherwise)


def is_dead(own: ActorState) -> bool:
    """Return whether the actor has crashed."""
    return own.step == DEAD


def is_assumed(world: World) -> bool:
    """Return whether a world (a search configuration) satisfies the default protocol's assumptions (docs/contract.md):
    fault set F0 and no services of other engines.
    """
    foreign = any(choices.get("services") == "foreign" for choices in world.settings.values())
    return not world[Skew].skew_beyond and not world[LostLocks].lock_losses and not foreign
