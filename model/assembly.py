"""The assembly of a model: the kernel, and the mechanisms in the order that they declare."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from . import kernel, mechanisms
from .machine.binding import BoundTransition, Names
from .machine.composition import Composition
from .machine.mechanism import Mechanism
from .protocol import Protocol
from .world import World

LAST = "*"
"""In `Mechanism.after`: after every mechanism that does not say so itself."""


def in_order(several: Mapping[str, Mechanism]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names of mechanisms in their order, each with those that come before it by a declaration.

    Variants come before all mechanisms: they choose between readings of the kernel's rules.
    """
    readings = tuple(name for name in several if name in mechanisms.of_package("variants"))
    early = tuple(name for name, each in several.items() if LAST not in each.after and name not in readings)
    after = {}
    for name, each in several.items():
        said = tuple(other for other in each.after if other in several)
        after[name] = said if name in readings else (*readings, *said, *(early if LAST in each.after else ()))
    for name in _sorted(tuple(several), tuple(after.values())):
        yield name, after[name]


@cache
def _sorted(names: tuple[str, ...], after: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    graph = TopologicalSorter(dict(zip(names, after, strict=True)))
    found: list[str] = []
    try:
        graph.prepare()
    except CycleError as error:
        raise ValueError(f"mechanisms come after each other: {' -> '.join(error.args[1])}") from None
    while graph.is_active():
        ready = sorted(graph.get_ready(), key=names.index)
        found += ready
        graph.done(*ready)
    return tuple(found)


def compose(world: World, protocol: Protocol, only: Iterable[str] | None = None) -> Composition:
    """The composition of a model. `only`: the mechanisms to apply (default: every one)."""
    known = mechanisms.kinds()
    actors = {
        name: tuple(f"{kind.prefix}{number + 1}" for number in range(world.actors.get(name, 0)))
        for name, kind in known.items()
    }
    rests = {name: kind.rests for name, kind in known.items()}
    own = cache(lambda actor: world.protocol_of(actor, protocol))
    composition = Composition(world, protocol, actors, own, rests)
    kernel.compose(composition)
    others = {name: each for name, each in mechanisms.every().items() if name not in kernel.ACTORS}
    for name, after in in_order(others):
        if only is None or name in only:
            composition.begin(name, after)
            others[name].compose(composition)
    return composition


def names_of(composition: Composition) -> Names:
    """The names of a model: its components, and the constants `world`, `protocol` and `rules`."""

    def constants(actor: str) -> dict[str, Any]:
        protocol = composition.protocol_of(actor) if actor else composition.protocol
        return {**composition.constants, "world": composition.world, "protocol": protocol, "rules": protocol}

    fields = composition.fields
    return Names(first_values(composition), composition.actors, constants, composition.views, fields)


def first_values(composition: Composition) -> dict[str, Any]:
    """The first value of every component: shared components, then actors by kind."""
    found = dict(composition.components)
    known = mechanisms.kinds()
    for name, actors in composition.actors.items():
        extra = tuple(composition.fields.get(name, {}).values())
        first = known[name].first
        found.update((actor, first._replace(extra=extra) if extra else first) for actor in actors)
    return found


def bound(composition: Composition, names: Names) -> tuple[BoundTransition, ...]:
    """Every transition with its names resolved, by actor."""
    place = {actor: number for number, actor in enumerate(a for some in composition.actors.values() for a in some)}
    transitions = sorted(composition.transitions.values(), key=lambda each: place[each.actor])
    return tuple(names.bind(each) for each in transitions)
