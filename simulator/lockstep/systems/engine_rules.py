"""Derives the engine's rules from a protocol of the model. Unsupported protocols raise an error that states the reason.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final, NamedTuple

from nbcc.engine.rules import HUDI, Rules
from nbcc.model import Protocol, World
from nbcc.model.machine.options import Limits, Options, overrides
from nbcc.model.mechanisms import every

from ...users_factory import CannotPlay
from ..mechanisms import chosen, rooms, without_lockstep
from .indexed import check_inserts
from .resized import check_ranges


class EngineRefusal(NamedTuple):
    """One value of an option or limit that the engine does not support. `why` says what the engine does instead."""

    part: type[Options] | type[Limits]
    name: str
    value: object
    why: str


# What actors do comes before how readers read: of several reasons, the first is the one that a table would show.
_ROOMS: Final = sorted(rooms().values(), key=lambda room: not (room.runs or room.rows or room.refines))
UNSUPPORTED: Final = tuple(
    EngineRefusal(type(part), *chosen(part), why) for room in _ROOMS for part, why in room.refuses.items()
)


def rules_of(protocol: Protocol) -> Rules:
    """Return the engine's rules for a protocol of the model.

    Raises:
        CannotPlay: If the engine does not support an option; the message says what the engine does instead.
    """
    _refuse(protocol, Options)
    known = {field.name for field in fields(Rules)}
    return Rules.from_mapping({name: value for name, value in protocol.to_mapping().items() if name in known})


def by_their_rules(rules: Rules) -> Rules:
    """Return the rules for a table service that another engine runs. Such a service merges files in the same way as
    Hudi.
    """
    return replace(rules, merge_order=HUDI.merge_order, fold=HUDI.fold, tombstones=HUDI.tombstones)


def check_world(world: World, protocol: Protocol) -> None:
    """Raise CannotPlay if the engine does not support the world, or the world under the protocol."""
    _refuse(world, Limits)
    check_ranges(world)
    check_inserts(world, protocol)
    unplayed = [(each, f"its extension {name} defines no LOCKSTEP") for name, each in without_lockstep()]
    for mechanism, why in unplayed:
        for option, value in overrides(protocol[mechanism.options]).items() if mechanism.options else ():
            raise CannotPlay(f"the engine does not support {option} = {value}: {why}; run it on the model instead")
    unplayed += [(every()[name], room.without_actors) for name, room in rooms().items() if room.without_actors]
    for mechanism, why in unplayed:
        for kind in mechanism.kinds:
            if world.actors.get(kind.name, 0):
                raise CannotPlay(f"the engine has no {kind.name}: {why}; run it on the model instead")


def _refuse(given: Any, base: type[Options] | type[Limits]) -> None:
    for part, name, value, why in UNSUPPORTED:
        if issubclass(part, base) and getattr(given[part], name) == value:
            raise CannotPlay(f"the engine does not support {name} = {value}: {why}; run it on the model instead")
