"""Decides whether the order of two refinements (changes by mechanisms) of one transition matters."""

from __future__ import annotations

from inspect import signature
from typing import Final, NamedTuple

from .transition import Component, Effect, Preset, effects_in


class Unordered(TypeError):
    """Raised if two mechanisms refine one transition, the order matters, and neither mechanism declares an order."""


class Refinement(NamedTuple):
    """One change that a mechanism makes to a transition. `operation` is the name of a method of `Selection`, such as
    `extend`.
    `reads` and `writes` are the components that an added effect reads and changes.
    """

    mechanism: str
    operation: str
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()


ADDITIONS: Final = frozenset({"require", "tag", "add_argument"})
"""Operations that neither read nor change the effects and steps of a transition."""

ORDERED: Final = {
    "swap": frozenset({"swap", "require", "require_place"}),
    "untag": frozenset({"tag"}),
    "divert": frozenset({"extend", "precede", "insert_after", "divert"}),
    "exit": frozenset({"require_place", "swap", "insert_before"}),
}
"""Operation -> operations with which it does not commute, because it copies or replaces what they add or move."""


def commute(one: Refinement, other: Refinement) -> bool:
    """True if two refinements of one transition have the same result in either order.

    Two effects commute if neither changes a component (state variable) that the other reads or changes.
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
    """Return the names of the components (state variables) and views that the parameters of an effect refer to."""
    names: set[str] = set()
    for function in effects_in(effect):
        values = function.values if isinstance(function, Preset) else {}
        plain = function.function if isinstance(function, Preset) else function
        for name in signature(plain).parameters:
            value = values.get(name)
            if name not in values or isinstance(value, Component):
                names.add(str(value) if isinstance(value, Component) else name)
    return frozenset(names)
