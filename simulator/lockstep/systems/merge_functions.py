"""Merge functions for the engine. `union` is idempotent, commutative and associative; each other function violates
exactly one of these laws.

A row's value contains the names of the writes that are merged into the row. The model has its own versions of the merge
functions in `nbcc.model.mechanisms.merge_function`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

Row = dict[str, Any]


def union(older: Row, newer: Row) -> Row:
    """Return a row whose value contains the name of each merged write once."""
    return _row(older, newer, " ".join(sorted({*older["value"].split(), *newer["value"].split()})))


def total(older: Row, newer: Row) -> Row:
    """Return a row whose value contains the write names of both values, including duplicates. This function is not
    idempotent.
    """
    return _row(older, newer, " ".join(sorted(f"{older['value']} {newer['value']}".split())))


def in_turn(older: Row, newer: Row) -> Row:
    """Return a row whose value contains the name of each merged write once, in order of first occurrence. This function
    is not commutative.
    """
    names = older["value"].split()
    return _row(older, newer, " ".join([*names, *(each for each in newer["value"].split() if each not in names)]))


def by_two(older: Row, newer: Row) -> Row:
    """Return a row whose value contains the values of both rows in parentheses. This function is not associative."""
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
    """Return the qualified name of the merge function for a value of the protocol's option `merge_laws`."""
    return f"{__name__}:{BY_LAWS[laws].__name__}"
