"""Queries on actors and worlds (search configurations) that depend on mechanisms such as clock skew and lost locks."""

from __future__ import annotations

from typing import Any

from nbcc.model import World
from nbcc.model.machine.options import overrides
from nbcc.model.machine.transition import DEAD, ActorState
from nbcc.model.mechanisms.clocks import Skew
from nbcc.model.mechanisms.foreign_services import ForeignServices
from nbcc.model.mechanisms.lost_locks import LostLocks


def field_of(own: ActorState, name: str, otherwise: Any = 0) -> Any:
    """Return a field of an actor's state or of its records; `otherwise` if no such field exists."""
    return next((getattr(each, name) for each in (own, *own.records) if hasattr(each, name)), otherwise)


def is_dead(own: ActorState) -> bool:
    """Return whether the actor has crashed."""
    return own.step == DEAD


def is_assumed(world: World) -> bool:
    """Return whether a world satisfies the default protocol's assumptions (docs/contract.md). Clocks differ by at most
    the configured skew, no held lock is lost, and no service of another engine runs.
    """
    return not world[Skew].skew_beyond and not world[LostLocks].lock_losses and not has_foreign_services(world)


def has_foreign_services(world: World) -> bool:
    """Return whether another engine runs table services of a world."""
    foreign = overrides(ForeignServices(services="foreign")).items()
    return any(foreign <= choices.items() for choices in world.settings.values())
