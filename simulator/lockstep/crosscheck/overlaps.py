"""Finds which kinds of instants were pending on the same file group at the same time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from math import inf
from typing import Any, NamedTuple

from .history import PlayedHistory


class Interval(NamedTuple):
    """One instant with its requested time, completion time, kind and file groups."""

    requested: int
    completed: float
    kind: str
    groups: frozenset[int]


def overlapping_kinds(history: PlayedHistory) -> set[tuple[str, str]]:
    """For every two instants that were pending on one file group at the same time, return the pair of their kinds. The
    first kind is that of the instant with the earlier requested time.

    The kind of a write is ``delete`` if the write deletes a record of that file group, otherwise ``upsert``. The kind
    of a service's instant is its timeline action.
    """
    intervals = sorted(_intervals(history))
    return {
        (_kind(history, one, group), _kind(history, other, group))
        for one, other in combinations(intervals, 2)
        for group in one.groups & other.groups
        if other.requested < one.completed
    }


def _intervals(history: PlayedHistory) -> Iterator[Interval]:
    plans: Mapping[int, Any] = {plan.requested: plan for plan in history.model.table(history.state).plans}
    undone, there = _undone(history), {requested for _, _, requested, _ in history.timeline}
    for action, _, requested, completed in history.timeline:
        if plan := plans.get(requested):
            kind, groups = "compaction", [part.group for part in plan.groups]
        else:
            # A rollback is on the file groups of the write that it undoes.
            kind, groups = action, _written(history, undone.get(requested, requested))
        yield Interval(requested, completed or inf, kind, frozenset(groups))
        if (target := undone.get(requested)) and target not in there:  # it was, until its rollback completed
            yield Interval(target, completed or inf, "deltacommit", frozenset(groups))


def _written(history: PlayedHistory, requested: int) -> list[int]:
    return [group for group, _ in history.data.get(requested, {})]


def _undone(history: PlayedHistory) -> Mapping[int, int]:
    if "rollbacks" not in history.model.components:
        return {}
    return {each.requested: each.target for each in history.model.component(history.state, "rollbacks")}


def _kind(history: PlayedHistory, interval: Interval, group: int) -> str:
    if interval.kind != "deltacommit":
        return interval.kind
    batch = history.data.get(interval.requested, {})
    rows = [row for (g, _), rows in batch.items() if g == group for row in rows.values()]
    return "delete" if any(row.deleted for row in rows) else "upsert"
