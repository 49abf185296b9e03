"""The order of refinements: whether two refinements of one transition may be applied in either order."""

from __future__ import annotations

from inspect import signature
from typing import Final, NamedTuple

from .transition import Component, Effect, Preset, effects_in


class Unordered(TypeError):
    """Two mechanisms refine one transition, the order matters, and neither declares that it comes after the other."""


class Refinement(NamedTuple):
    """What a mechanism did to a transition. `reads`, `writes`: the components that an added effect names."""

    mechanism: str
    operation: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


ADDITIONS: Final = frozenset({"require", "tag", "add_argument"})
"""Operations that neither read nor change an effect or a step of the transition."""

ORDERED: Final = {
    "swap": frozenset({"swap", "require", "require_place"}),
    "untag": frozenset({"tag"}),
    "divert": frozenset({"extend", "precede", "insert_after", "divert"}),
    "exit": frozenset({"require_place", "swap", "insert_before"}),
}
"""Operation -> those with which it does not commute: it copies, or takes the place of, what they add or move."""


def commute(one: Refinement, other: Refinement) -> bool:
    """Whether two refinements of one transition lead to the same transitions in either order.

    A replacement or a split commutes with nothing: both parts of a split have the conditions added before it, and one
    of them those added later. An exit starts where the transition does and copies the conditions of that place. Steps
    inserted on the same side do not commute. Effects commute if neither changes a component that the other reads or
    changes.
    """
    first, second = one.operation, other.operation
    if {first, second} & {"replace", "split"}:
        return False
    if second in ORDERED.get(first, ()) or first in ORDERED.get(second, ()):
        return False
    if first == second and first in ("extend", "precede"):
        return not (one.writes & (other.reads | other.writes) or other.writes & one.reads)
    return first != second or first in {*ADDITIONS, "require_place", "exit"}


def named_by(effect: Effect) -> frozenset[str]:
    """The names of the components that an effect reads, as far as its parameters say."""
    found: set[str] = set()
    for function in effects_in(effect):
        given = function.values if isinstance(function, Preset) else {}
        plain = function.function if isinstance(function, Preset) else function
        for name in signature(plain).parameters:
            value = given.get(name, None)
            if name not in given or isinstance(value, Component):
                found.add(str(value) if isinstance(value, Component) else name)
    return frozenset(found)
