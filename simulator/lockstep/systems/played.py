"""States which worlds no history plays, because nothing maps the steps of their actors to calls of a system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from nbcc.model import Protocol, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.decision_log import TOGETHER, DecisionLog
from nbcc.model.mechanisms.queries import QUERIER
from nbcc.model.mechanisms.restores.mechanism import RESTORER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.model.mechanisms.savepoints import SAVEPOINTER

PLAYED: Final[Mapping[str, tuple[str, ...]]] = {
    "free": (WRITER.name, COMPACTOR.name, CLEANER.name, ROLLBACKER.name, SAVEPOINTER.name, RESTORER.name, READER.name,
             QUERIER.name),
    "shared": (WRITER.name, COMPACTOR.name, ROLLBACKER.name, READER.name),
}
"""The value of `decision` -> the kinds of actors whose steps are played."""


def unplayed(world: World, protocol: Protocol) -> str:
    """Return why no history plays a world in which actors announce their commits; "" if histories play it."""
    decision = protocol[DecisionLog].decision
    if decision not in TOGETHER:
        return ""
    others = [kind for kind, count in world.actors.items() if count and kind not in PLAYED[decision]]
    if others:
        return f"no history maps the steps of a {others[0]} that announces to its calls; run it on the model instead"
    if world.actors.get(CLEANER.name) and world.actors.get(SAVEPOINTER.name):
        return "a savepoint of the engine begins again in one call if a clean was decided; run it on the model instead"
    several = [kind.name for kind in (RESTORER, COMPACTOR) if world.actors.get(kind.name, 0) > 1]
    if several:
        return f"the engine publishes what another {several[0]} has decided first: play one {several[0]}"
    return ""
