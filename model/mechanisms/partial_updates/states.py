"""The definition of partial updates: the columns of a key after all its writes (docs/contract.md, SNAP).

A record has a rank. A record is a delete, or it sets some columns. The row exists if and only if some record outranks
the greatest delete. Each column has the value of the highest record above that delete that set it. A `State` contains
what later merges need: the greatest delete, and each column above it with its rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Rank = tuple[float, ...]


class Part(NamedTuple):
    """A record of one key: `values` are the columns that it sets; None for a delete."""

    rank: Rank
    values: Mapping[str, Any] | None


class State(NamedTuple):
    """`delete`: the rank of the greatest delete. `row`: the rank of the highest record above it. `delete` and `row` are
    () if there is none. `columns`: for each name its rank and its value; all are above the delete.
    """

    delete: Rank = ()
    row: Rank = ()
    columns: tuple[tuple[str, Rank, Any], ...] = ()


def row_of(parts: Iterable[Part]) -> dict[str, Any] | None:
    """The row by definition: the columns that are set; None if there is no row."""
    parts = sorted(parts, key=lambda part: part.rank)
    deleted = max((part.rank for part in parts if part.values is None), default=())
    above = [part for part in parts if part.values is not None and part.rank > deleted]
    return {name: value for part in above for name, value in (part.values or {}).items()} if above else None


def state_of(part: Part) -> State:
    """The state of one record."""
    if part.values is None:
        return State(delete=part.rank)
    return State(row=part.rank, columns=tuple((name, part.rank, value) for name, value in sorted(part.values.items())))


def join(one: State, other: State) -> State:
    """Join two states: commutative, associative, idempotent. The order and number of merges do not matter."""
    delete, row = max(one.delete, other.delete), max(one.row, other.row)
    best: dict[str, tuple[str, Rank, Any]] = {}
    for column in (*one.columns, *other.columns):
        name, rank, _ = column
        if rank > delete and (name not in best or rank > best[name][1]):
            best[name] = column
    return State(delete, row if row > delete else (), tuple(best[name] for name in sorted(best)))


def row_of_state(state: State) -> dict[str, Any] | None:
    """The row of a state, equal to `row_of` of the records in it."""
    return {name: value for name, _, value in state.columns} if state.row else None
