"""What the engine is given as a user's merge function: of rows whose value names their writes, a text of those names.

One that keeps all the laws of merging, and for each law one that breaks it and no other
(`nbcc.model.mechanisms.merge_function` says what each stands for; the two were written apart).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Row = dict[str, Any]


def union(older: Row, newer: Row) -> Row:
    """Every name once."""
    return _row(older, newer, " ".join(sorted({*older["value"].split(), *newer["value"].split()})))


def total(older: Row, newer: Row) -> Row:
    """Every name as often as it came: not idempotent."""
    return _row(older, newer, " ".join(sorted(f"{older['value']} {newer['value']}".split())))


def in_turn(older: Row, newer: Row) -> Row:
    """Names in the order in which they came first: not commutative."""
    names = older["value"].split()
    return _row(older, newer, " ".join([*names, *(each for each in newer["value"].split() if each not in names)]))


def by_two(older: Row, newer: Row) -> Row:
    """The two that met in brackets: not associative."""
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
"""The function of a table by `merge_laws` of the protocol."""


def name_of(laws: str) -> str:
    """Under which name the engine finds it."""
    return f"{__name__}:{BY_LAWS[laws].__name__}"
