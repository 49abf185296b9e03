"""Values of actors' components, whichever record of the component holds them."""

from __future__ import annotations

from typing import Any

from nbcc.model.machine.transition import DEAD, ActorState


def field_of(own: ActorState, name: str, otherwise: Any = 0) -> Any:
    """A field of an actor's component, or of a record that a mechanism adds to it; `otherwise` if it has none."""
    return next((getattr(each, name) for each in (own, *own.extra) if hasattr(each, name)), otherwise)


def is_dead(own: ActorState) -> bool:
    """Whether an actor has crashed."""
    return own.step == DEAD
