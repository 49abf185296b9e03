"""Builds a model: the transitions of the kernel (RFC-66 alone), refined by each mechanism in the order that the
mechanisms declare.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from . import kernel, mechanisms
from .machine.binding import ParameterNames
from .machine.composition import Composition
from .machine.mechanism import Mechanism
from .machine.transition import Transition
from .protocol import Protocol
from .rules import Rules
from .world import World


def compose(world: World, protocol: Protocol, only: Iterable[str] | None = None) -> Composition:
    """Compose a model from the kernel and mechanisms. `only` names the mechanisms to apply (default: all)."""
    check_fit(world, protocol)
    known = mechanisms.kinds()
    actors = {
        name: tuple(kind.actor(number + 1) for number in range(world.actors.get(name, 0)))
        for name, kind in known.items()
    }
    own = cache(lambda actor: world.protocol_of(actor, protocol))
    composition = Composition(world, protocol, actors, own, mechanisms.idle_steps())
    kernel.compose(composition)
    for name, mechanism, after in mechanisms.in_order():
        if only is None or name in only:
            composition.begin(name, after)
            mechanism.compose(composition)
    return composition


def check_fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError if the world is not modelled under the protocol."""
    for mechanism in mechanisms.every().values():
        mechanism.fit(world, protocol)


def is_modelled(world: World, protocol: Protocol) -> bool:
    """True if the world is modelled under the protocol."""
    try:
        check_fit(world, protocol)
    except ValueError:
        return False
    return True


def names_of(composition: Composition, world: World, protocol: Protocol) -> ParameterNames:
    """Return the names that guards and effects may use as parameters: components (state variables), actors, views and
    constants.

    `protocol` and `rules` are those of the acting actor. `world`, `table_protocol` and `table_rules` are the same for
    all actors.
    """

    @cache  # asked for each guard and effect of the actor, of which a model has hundreds
    def constants(actor: str) -> dict[str, Any]:
        own = world.protocol_of(actor, protocol) if actor else protocol
        of_table = {"world": world, "table_protocol": protocol, "table_rules": rules_of(protocol, world)}
        return {**of_table, "protocol": own, "rules": rules_of(own, world)}

    fields = composition.fields
    return ParameterNames(first_values(composition), composition.actors, constants, composition.views, fields)


def first_values(composition: Composition) -> dict[str, Any]:
    """Return the initial value of every component (state variable): shared components first, then one component for
    each actor.
    """
    values = dict(composition.components)
    known = mechanisms.kinds()
    for name, actors in composition.actors.items():
        records = tuple(composition.fields.get(name, {}).values())
        first = known[name].first
        values.update((actor, first._replace(records=records) if records else first) for actor in actors)
    return values


def transitions(composition: Composition) -> list[Transition]:
    """Return all transitions, sorted by actor."""
    place = {actor: number for number, actor in enumerate(a for some in composition.actors.values() for a in some)}
    return sorted(composition.transitions.values(), key=lambda each: place[each.actor])


def rules_of(protocol: Protocol, world: World | None = None) -> Rules:
    """Compose the rules by which a table is read under a protocol: of any world, or of `world` alone, without those of
    mechanisms that need use and have none there (see `Mechanism.rules_need_use`). Equal rules are one `Rules` object.
    """
    needing = ((name, each) for name, each, _ in mechanisms.in_order() if each.rules_need_use)
    unused = frozenset(name for name, each in needing if world and not _uses(world, each))
    return _rules_without(protocol, unused)


def _uses(world: World, mechanism: Mechanism) -> bool:
    """True if a world has actors or limits of a mechanism."""
    limits = mechanism.limits
    limited = limits is not None and world[limits] != limits()
    return limited or any(world.actors.get(kind.name) for kind in mechanism.kinds)


@cache
def _rules_without(protocol: Protocol, unused: frozenset[str]) -> Rules:
    def under(**changes: str) -> Rules:
        return _rules_without(protocol.replace(**changes), unused)

    used = (mechanism for name, mechanism, _ in mechanisms.in_order() if name not in unused)
    # The class of the last mechanism comes first, so that its methods extend those of all others.
    parts = [part for mechanism in used for part in mechanism.rules(protocol)]
    combined: type[Rules] = type("Rules", (*dict.fromkeys(reversed(parts)), Rules), {})
    return combined(protocol.options, under)
