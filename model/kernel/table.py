"""Defines what is stored: writes, compaction plans, completed compactions, and the table that contains them.

Times are whole numbers read from one clock, starting at 1. `requested` and `completed` are the two times of an instant
(RFC-66, "Instant State Transition Time"); `completed` is None until the instant is published. A log file is identified
by the requested time of its write and by a version. A mechanism can attach records, called `marks`, to tables, plans
and writes (see `machine/marks.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ..machine.marks import Marks, in_shapes, mark

Log = tuple[int, int]  # (requested time of its write, version)


@in_shapes("action", "kind")
class CompletesAs(NamedTuple):
    """Marks a write whose instant is not a deltacommit. A commit completes the plan with the same requested time."""

    action: str = "deltacommit"
    kind: str = "completes as"


@in_shapes("requested", "completed", "actor", "number", "files", "marks")
class Write(NamedTuple):
    """A write, usually a deltacommit. `files` lists the log files of the write as pairs (file group, version)."""

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
        return tuple(dict.fromkeys(group for group, _ in self.files))

    def files_in(self, group: int) -> tuple[Log, ...]:
        """Return the write's files in one file group, in ascending order of version."""
        return tuple([(self.requested, version) for in_group, version in self.files if in_group == group])


@in_shapes("group", "base", "logs")
class GroupPlan(NamedTuple):
    """A plan's inputs in one file group. `base` is the requested time of the input base file; None if there is none."""

    group: int
    base: int | None
    logs: tuple[Log, ...]


@in_shapes("requested", "runner", "inflight", "groups", "marks")
class Plan(NamedTuple):
    """A compaction plan, run by the actor `runner`. The plan's requested time is a barrier (see `slicing.py`)."""

    requested: int
    runner: str
    inflight: bool
    groups: tuple[GroupPlan, ...]
    marks: Marks = ()

    def part_in(self, group: int) -> GroupPlan | None:
        """Return the inputs of the plan in one file group; None if the plan does not compact the group."""
        return next((part for part in self.groups if part.group == group), None)


Plans = tuple[Plan, ...]


@in_shapes("requested", "completed", "actor", "marks")
class Compaction(NamedTuple):
    """The completed instant of a compaction plan; `requested` is the requested time of the plan."""

    requested: int
    completed: int
    actor: str
    marks: Marks = ()

    @property
    def action(self) -> str:
        return "commit"


class Instant(NamedTuple):
    """One instant on the timeline, as a reader observes it."""

    requested: int
    action: str
    state: Literal["requested", "inflight", "completed"]
    completed: int | None

    @property
    def completes_as(self) -> str:
        """The action of the instant after completion; for example, a compaction completes as a commit."""
        return {"compaction": "commit", "logcompaction": "deltacommit"}.get(self.action, self.action)


class Table(NamedTuple):
    """The writes of a table in completion order, and its plans. `completed` lists the completion times of the plans."""

    writes: tuple[Write, ...]
    plans: Plans
    completed: tuple[int | None, ...]
    marks: Marks = ()


def table_of(published: Iterable[Any], plans: Plans, pending: Iterable[Write] = ()) -> Table:
    """Return the table that consists of published instants, plans, and the pending writes that readers may observe."""
    writes = sorted((entry for entry in published if isinstance(entry, Write)), key=lambda w: w.completed or 0)
    done = {entry.requested: entry.completed for entry in published if completes_plan(entry)}
    return Table((*writes, *sorted(pending)), plans, tuple(done.get(plan.requested) for plan in plans))


def completes_plan(entry: Any) -> bool:
    """True if a published instant completes the plan that has the same requested time."""
    return isinstance(entry, Compaction | Write) and entry.action == "commit"
