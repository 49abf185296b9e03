"""The values on storage: writes, compaction plans, completed compactions, and the table that they make up.

Times are ticks of one clock, from 1. A log file is named by the requested time of its write and a version. `requested`
and `completed` are the two times of an instant (RFC-66, "Instant State Transition Time"); `completed` is None while the
instant is not published.

A mechanism can add records of its own to these values: their `marks` (see `machine.marks`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ..machine.marks import Marks, mark

Log = tuple[int, int]


class CompletesAs(NamedTuple):
    """Of a write: the action of its completed instant. A commit completes the plan with its requested time."""

    action: str = "deltacommit"
    kind: str = "completes as"


class Write(NamedTuple):
    """A delta commit of `actor`, its `number`-th write. `files` are (file group, version)."""

    requested: int
    completed: int | None
    actor: str
    number: int
    files: tuple[tuple[int, int], ...]
    marks: Marks = ()

    @property
    def action(self) -> str:
        return mark(self, CompletesAs).action

    @property
    def groups(self) -> tuple[int, ...]:
        """The file groups that it touches."""
        return tuple(dict.fromkeys(group for group, _ in self.files))

    def files_in(self, group: int) -> tuple[Log, ...]:
        """Its files in a file group, versions ascending."""
        return tuple([(self.requested, version) for in_group, version in self.files if in_group == group])


class GroupPlan(NamedTuple):
    """What a plan takes in one file group: the base file of the instant `base` (or none) and logs."""

    group: int
    base: int | None
    logs: tuple[Log, ...]


class Plan(NamedTuple):
    """A compaction plan. Its requested time is a barrier in each of its file groups. `runner` carries it out."""

    requested: int
    runner: str
    inflight: bool
    groups: tuple[GroupPlan, ...]
    marks: Marks = ()

    def part_in(self, group: int) -> GroupPlan | None:
        """Its part in one file group, None if it leaves the group alone."""
        for part in self.groups:
            if part.group == group:
                return part
        return None


class Compaction(NamedTuple):
    """A published completion of the plan with this requested time."""

    requested: int
    completed: int
    actor: str
    marks: Marks = ()

    @property
    def action(self) -> str:
        return "commit"


class Instant(NamedTuple):
    """One action on the timeline as every reader can observe it."""

    requested: int
    action: str
    state: Literal["requested", "inflight", "completed"]
    completed: int | None

    @property
    def completes_as(self) -> str:
        """The action of the completed instant."""
        return {"compaction": "commit", "logcompaction": "deltacommit"}.get(self.action, self.action)


class Table(NamedTuple):
    """What a reader or planner uses: writes (by completion, pending ones last) and plans.

    `completed` has the completion time of each plan, in the order of `plans`; None while the plan is pending.
    """

    writes: tuple[Write, ...]
    plans: tuple[Plan, ...]
    completed: tuple[int | None, ...]
    marks: Marks = ()


def table_of(published: Iterable[Any], plans: tuple[Plan, ...], pending: Iterable[Write] = ()) -> Table:
    """The table of published instants, plans and pending writes (where the protocol takes those into account)."""
    writes = sorted((entry for entry in published if isinstance(entry, Write)), key=lambda w: w.completed or 0)
    done = {entry.requested: entry.completed for entry in published if completes_plan(entry)}
    return Table((*writes, *sorted(pending)), plans, tuple(done.get(plan.requested) for plan in plans))


def completes_plan(entry: Any) -> bool:
    """Whether a published instant completes the plan with its requested time."""
    return isinstance(entry, Compaction | Write) and entry.action == "commit"
