"""Batches that are sent again: a caller that got no answer writes the same rows under another instant.

A batch carries an id and a digest of its rows, and its commit records both. A writer that finds its batch completed has
nothing left to write; if the digests differ, it raises an error, because its rows are in no commit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..actions import Setting
from ..kernel.table import Write
from ..machine.transition import Guard, Transition
from ..world import World
from .publication import Check


def completed(world: World, published: Iterable[Any], writer: str, number: int) -> Write | None:
    """The completed write of the same batch, None if there is none."""
    batch = world.batch(writer, number)
    if not batch:
        return None
    writes = (entry for entry in published if isinstance(entry, Write))
    return next((write for write in writes if world.batch(write.actor, write.number) == batch), None)


def looks(setting: Setting, me: str) -> bool:
    """Whether a writer looks for its batch when it requests an instant."""
    return setting.world.batch(me, 1) > 0 and setting.protocol_of(me).batch_ids != "ignored"


def compares(setting: Setting, me: str) -> bool:
    """Whether a writer compares its rows with those that were committed under the id, where they can differ."""
    return setting.world.other_rows > 0 and setting.protocol_of(me).replay_difference == "refuse"


def has_other_rows(world: World, published: Iterable[Any], writer: str, number: int) -> bool:
    """Whether the batch has completed with other rows than those of this write."""
    write = completed(world, published, writer, number)
    return write is not None and world.content(write.actor) != world.content(writer)


def of_a_new_batch(setting: Setting, me: str, each: Transition) -> Transition:
    """The transition by which a writer requests an instant, if its batch has not completed."""
    return each.require(BATCH_IS_NEW) if looks(setting, me) else each


def is_new(own: Any, me: str, world: World, published: tuple[Any, ...]) -> bool:
    """Whether the batch of the next write has not completed."""
    return completed(world, published, me, own.number + 1) is None


def is_not_repeated(own: Any, me: str, world: World, published: tuple[Any, ...]) -> bool:
    """Whether no other attempt at the batch of the present write has completed."""
    return completed(world, published, me, own.number) is None


BATCH_IS_NEW = Guard("its batch must not have completed", is_new)


def once(setting: Setting, me: str) -> Check | None:
    """What a writer asks under the lock with which it publishes."""
    if not looks(setting, me) or setting.protocol_of(me).batch_ids != "checked":
        return None
    return Check(Guard("its batch must not have been completed by another", is_not_repeated))
