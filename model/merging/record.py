"""Records and how two of them merge (RFC-66 leaves it to the table's merge mode; a delete ranks like any record)."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple


class Record(NamedTuple):
    """A row version or a delete. In an answer `requested` is the requested time of the write that set it.

    `sets`, of a partial update: the columns that it sets, all to `value`; in an answer `value` tells them one by one.
    """

    ordering: int
    value: Any
    deleted: bool = False
    requested: int | None = None
    sets: tuple[str, ...] = ()


class Change(NamedTuple):
    """One row of a change log: what a key was and what it became; None: no row."""

    before: Record | None
    after: Record | None


class Several(NamedTuple):
    """What a window of partial updates has of one key: records with the columns that are taken from each, a delete."""

    records: tuple[Record, ...]


class Ranked(NamedTuple):
    """A record within a merge: `place` stands for completion and log version, later is greater."""

    ordering: int
    place: float
    deleted: bool
    content: Any
    log: tuple[int, int] | None = None  # the log file that it came from, set within a merge


class Rule(NamedTuple):
    """How records merge in one table under one protocol; `columns`: those of which a write sets some, () if all.

    `laws`: which of them the user's function keeps that merges rows (see `by_function`); '' where one of them wins.
    """

    event_time: bool
    keeps_tombstones: bool
    fold: Literal["rank", "logs_first"]
    columns: tuple[str, ...] = ()
    column_merge: Literal["by_column", "by_row", "by_row_in_base"] = "by_column"
    laws: str = ""

    @property
    def mixes(self) -> bool:
        """Whether a row may be made of several records."""
        return bool(self.columns or self.laws)


def rank(record: Ranked, event_time: bool) -> tuple[float, ...]:
    """Event time: the ordering value first; commit time: the place alone."""
    return (record.ordering, record.place) if event_time else (record.place,)


def merge(one: Ranked | None, other: Ranked | None, event_time: bool) -> Ranked | None:
    """The record with the greatest rank; either may be absent."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda record: rank(record, event_time))
