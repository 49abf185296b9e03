"""Builds a model: the transitions of the kernel (RFC-66 alone), refined by each mechanism in the order that the
mechanisms declare.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from . import kernel, mechanisms
from .machine.binding import Names
from .machine.bound import BoundTransition
from .machine.composition import Composition
from .protocol import Protocol
from .rules import Rules, of_kernel
from .world import World


def compose(world: World, protocol: Protocol, only: Iterable[str] | None = None) -> Composition:
    """Compose a model from the kernel and mechanisms. `only` names the mechanisms to apply (default: all)."""
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


def names_of(composition: Composition, world: World, protocol: Protocol) -> Names:
    """Return the names that guards and effects may use as parameters: components (state variables), actors, views and
    constants.

    `protocol` and `rules` are those of the acting actor. `world`, `table_protocol` and `table_rules` are the same for
    all actors.
    """

    def constants(actor: str) -> dict[str, Any]:
        own = world.protocol_of(actor, protocol) if actor else protocol
        of_table = {"world": world, "table_protocol": protocol, "table_rules": rules_of(protocol)}
        return {**of_table, "protocol": own, "rules": rules_of(own)}

    fields = composition.fields
    return Names(first_values(composition), composition.actors, constants, composition.views, fields)


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


def bound(composition: Composition, names: Names) -> tuple[BoundTransition, ...]:
    """Return all transitions, sorted by actor, with each parameter name resolved to a component, view or constant."""
    place = {actor: number for number, actor in enumerate(a for some in composition.actors.values() for a in some)}
    transitions = sorted(composition.transitions.values(), key=lambda each: place[each.actor])
    return tuple(names.bind(each) for each in transitions)


@cache
def rules_of(protocol: Protocol) -> Rules:
    """Compose the rules by which a table is read under a protocol. Equal protocols share one `Rules` object."""

    def under(**changes: str) -> Rules:
        return rules_of(protocol.replace(**changes))

    rules = of_kernel(protocol.options, under)
    for _, mechanism, _ in mechanisms.in_order():
        if mechanism.rules:
            rules = mechanism.rules(rules, protocol)
    return rules
