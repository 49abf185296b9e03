"""Merge functions for the engine. Each function merges two rows into a text of the names of the writes that made the
rows.

Each other merge function of this module breaks exactly one law. `nbcc.model.mechanisms.merge_function` has the model's
counterparts of these functions, which share no code with this module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Row = dict[str, Any]


def union(older: Row, newer: Row) -> Row:
    """Return a text that contains each name once. `union` keeps every law of merging."""
    return _row(older, newer, " ".join(sorted({*older["value"].split(), *newer["value"].split()})))


def total(older: Row, newer: Row) -> Row:
    """Return a text that contains each name as often as it occurs in the two rows. `total` is not idempotent."""
    return _row(older, newer, " ".join(sorted(f"{older['value']} {newer['value']}".split())))


def in_turn(older: Row, newer: Row) -> Row:
    """Return a text with the names in the order of their first occurrence. `in_turn` is not commutative."""
    names = older["value"].split()
    return _row(older, newer, " ".join([*names, *(each for each in newer["value"].split() if each not in names)]))


def by_two(older: Row, newer: Row) -> Row:
    """Return a text with the two values in brackets. `by_two` is not associative."""
    one, other = sorted((older["value"], newer["value"]))
    return _row(older, newer, one if one == other else f"({one} {other})")


def _row(older: Row, newer: Row, value: str) -> Row:
    return {**newer, "ts": max(older["ts"], newer["ts"]), "value": value}


BY_LAWS: Final[dict[str, Callable[[Row, Row], Row]]] = {
    "all": union,
    "not_idempotent": total,
    "not_commutative": in_turn,
    "not_associative": by_two,
}
"""`merge_laws` of the protocol -> the function of the table."""


def name_of(laws: str) -> str:
    """Return the qualified name under which the engine imports a merge function."""
    return f"{__name__}:{BY_LAWS[laws].__name__}"
