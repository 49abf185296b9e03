"""Finds the compactions and log compactions of a file group that merge the logs of given writes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import NamedTuple

from .history import GroupHistory, LogPlanned, Written


class Link(NamedTuple):
    """The compaction plans that are close to one write in time or include its logs, as indexes into
    `GroupHistory.plans`.

    `near` contains the plans that include a log of the write, and the plans immediately before its request and before
    and after its completion. `taken` contains a tuple (plan, position of the log in the plan, log version) for each log
    that a plan includes. `early` is True if a plan included one of the write's logs before the write had completed.
    """

    near: AbstractSet[int]
    taken: tuple[tuple[int, int, int], ...]
    early: bool


def order_of(axis: str) -> Callable[[Written], tuple[str, str]]:
    """Return the sort key for writes: the requested time if `axis` is "requested", otherwise the completion time."""
    return _requested if axis == "requested" else _completed


def _requested(write: Written) -> tuple[str, str]:
    return write.requested, ""


def _completed(write: Written) -> tuple[str, str]:
    return write.completed or "~", write.requested


class PlanIndex:
    """Maps each log of a file group to the compactions and log compactions that merge it."""

    def __init__(self, history: GroupHistory, axis: str) -> None:
        self.barriers = [plan.barrier for plan in history.plans]
        self.listed: dict[str, list[tuple[int, int]]] = {}
        for number, plan in enumerate(history.plans):
            for place, name in enumerate(plan.names):
                self.listed.setdefault(name, []).append((number, place))
        self._replaces = [plan.replaces for plan in history.plans]
        self._plans = history.log_plans
        self.links = {write.requested: self._link(write) for write in history.writes}
        before = (None, *self.barriers)
        self.from_last = [plan.base == last for plan, last in zip(history.plans, before, strict=False)]
        self._rank = order_of(axis)
        self._write = {name: write for write in history.writes for name in write.names}
        self._made = {each.made: number for number, each in enumerate(self._plans) if each.made}
        self._plans_by_log: dict[str, list[int]] = {}
        for number, log_plan in enumerate(self._plans):
            for name in log_plan.names:
                self._plans_by_log.setdefault(name, []).append(number)

    def _link(self, write: Written) -> Link:
        barriers, completed = self.barriers, write.completed
        behind = len(barriers) if completed is None else bisect_right(barriers, completed)
        near = {bisect_right(barriers, write.requested) - 1, behind - 1, behind}
        taken: list[tuple[int, int, int]] = []
        early = False
        for version, name in enumerate(write.names, start=1):
            for number, place in self.listed.get(name, ()):
                taken.append((number, place, version))
                near.add(number)
                early = early or completed is None or barriers[number] < completed
        near -= {-1, len(barriers)}
        return Link(near, tuple(taken), early)

    def near(self, chunk: Iterable[Written]) -> set[int]:
        """Return the indexes of the log compactions that merge logs of the given writes, directly or indirectly. The
        result also contains the first log compaction that was requested after each write completed.
        """
        if not self._plans:
            return set()
        numbers = {number for write in chunk for name in write.names for number in self._plans_by_log.get(name, ())}
        for write in chunk:
            later = (n for n, plan in enumerate(self._plans) if write.completed and plan.requested > write.completed)
            numbers |= {*islice(later, 1)}
        return self.with_later(numbers)

    def with_later(self, numbers: set[int]) -> set[int]:
        """Return the given log compactions, and all log compactions that directly or indirectly merge their output."""
        reached, new = set[int](), numbers
        while new:
            reached |= new
            new = {later for n in new for later in self._plans_by_log.get(self._plans[n].made, ())} - reached
        return reached

    def around(self, numbers: Iterable[int]) -> set[int]:
        """Return the indexes of the compaction plans requested immediately before and after each given log compaction.
        The result also contains the first later plan that does not belong to a replace, because that plan ends the file
        slice.
        """
        plans: set[int] = set()
        for number in numbers:
            behind = bisect_right(self.barriers, self._plans[number].requested)
            waits = (n for n in range(behind, len(self.barriers)) if not self._replaces[n])
            plans |= {behind - 1, behind, *islice(waits, 1)}
        return plans - {-1, len(self.barriers)}

    def placeholders_for(self, plan: LogPlanned, known: Mapping[str, object]) -> list[Written]:
        """Return at most two writes outside the segment whose logs the plan merges, newest first. `known` contains the
        segment's logs.
        """
        outside = {write for name in plan.names if name not in known and (write := self._newest(name))}
        placeholders: list[Written] = []
        for write in sorted(outside, key=self._rank, reverse=True):
            if sum(len(each.names) for each in placeholders) < 2:
                placeholders.append(write)
        return placeholders

    def _newest(self, name: str) -> Written | None:
        """Return the write that created a log, or None if the log is unknown. If the log is the output of a log
        compaction, return the newest write whose log was merged.
        """
        if name in self._made:
            inputs = [write for each in self._plans[self._made[name]].names if (write := self._newest(each))]
            return max(inputs, key=self._rank, default=None)
        return self._write.get(name)
