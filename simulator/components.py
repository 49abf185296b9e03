"""Values of actors' components, whichever record of the component holds them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nbcc.model import Model, State
from nbcc.model.machine.transition import DEAD, ActorState

File = tuple[int, int]
"""(file group, version)."""


def field_of(own: ActorState, name: str, otherwise: Any = 0) -> Any:
    """A field of an actor's component, or of a record that a mechanism adds to it; `otherwise` if it has none."""
    return next((getattr(each, name) for each in (own, *own.extra) if hasattr(each, name)), otherwise)


def is_dead(own: ActorState) -> bool:
    """Whether an actor has crashed."""
    return own.step == DEAD


def pending_files(model: Model, state: State) -> Iterator[tuple[int, tuple[File, ...]]]:
    """The requested times of pending writes of writers, each with those of its files that are on storage."""
    rollbacks = model.component(state, "rollbacks") if "rollbacks" in model.components else ()
    for me in model.of("writer"):
        own = model.component(state, me)
        deleted = max((each.deleted for each in rollbacks if each.target == own.requested), default=0)
        if files := model.world.files(me, own.number)[deleted : own.files]:
            yield own.requested, files
