"""Defines the column values of a key after partial updates (promise SNAP in docs/contract.md).

Each record has a rank (merge priority), and either deletes the row or sets some columns. A key has a row if and only if
an upsert outranks every delete. The value of a column comes from the highest-ranked record that sets the column and
outranks every delete. A `State` contains the rank of the highest-ranked delete, and each column value with a higher
rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Rank = tuple[float, ...]


class Part(NamedTuple):
    """A record of one key. `values` maps each column set by the record to its value; None for a delete."""

    rank: Rank
    values: Mapping[str, Any] | None


class State(NamedTuple):
    """The merge state of one key. `delete` is the rank of the key's highest-ranked delete; () if there is no delete.
    `row` is the rank of the highest-ranked upsert; () if no upsert outranks the delete. `columns` contains (name, rank,
    value) for each column value that outranks the delete.
    """

    delete: Rank = ()
    row: Rank = ()
    columns: tuple[tuple[str, Rank, Any], ...] = ()


def row_of(parts: Iterable[Part]) -> dict[str, Any] | None:
    """Return the correct row of a key from all its records, as a dict of column values; None if the key has no row."""
    parts = sorted(parts, key=lambda part: part.rank)
    deleted = max((part.rank for part in parts if part.values is None), default=())
    above = [part for part in parts if part.values is not None and part.rank > deleted]
    return {name: value for part in above for name, value in (part.values or {}).items()} if above else None


def state_of(part: Part) -> State:
    """Return the state of a key that has a single record."""
    if part.values is None:
        return State(delete=part.rank)
    return State(row=part.rank, columns=tuple((name, part.rank, value) for name, value in sorted(part.values.items())))


def join(one: State, other: State) -> State:
    """Merge two states of one key. Merges may be reordered and repeated, because the merge is commutative, associative
    and idempotent.
    """
    delete, row = max(one.delete, other.delete), max(one.row, other.row)
    best: dict[str, tuple[str, Rank, Any]] = {}
    for column in (*one.columns, *other.columns):
        name, rank, _ = column
        if rank > delete and (name not in best or rank > best[name][1]):
            best[name] = column
    return State(delete, row if row > delete else (), tuple(best[name] for name in sorted(best)))


def row_of_state(state: State) -> dict[str, Any] | None:
    """Return the row of a state as a dict of column values; None if the key has no row."""
    return {name: value for name, _, value in state.columns} if state.row else None
