"""Clustering: the rows of a file group are written anew, in an order that suits readers.

Where buckets fix the file ids it is a compaction that sorts: a plan at a barrier. Apache Hudi writes another file group
and names the one that it replaces (`clustering = file_ids`). Then it and the writers must look out for each other: it
gives up if a write has completed in its groups since its plan, an optimistic writer aborts if it has completed since
the write began. A non-blocking writer looks at nobody, and what it completes later is in a group that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..services.planning import plan
from ..step import Action, Args, Guard, Row
from ..table import Compaction, Plan, Write, table_of
from ..timeline.publication import Check, believes, given_back, publication_actions, publication_rows
from . import Setting

KIND, PREFIX = "clusterer", "g"
CHOOSES = ("completion_time",)
SERVICE = True
ACTIONS = (
    Action("clusterer_schedules_plan", "under the lock: takes a requested time and puts the plan",
           "{actor} schedules a clustering"),
    Action("clusterer_starts_plan", "puts the inflight instant of its plan", "{actor} starts its clustering"),
    Action("clusterer_writes_base", "puts the new base file of one file group", "{actor} rewrites group {group}",
           joins=True),
    Action("clusterer_gives_up", "under the lock: finds that a write has completed in its groups, takes its plan back",
           "{actor} gives up"),
    *publication_actions(KIND),
)  # fmt: skip


class Clusterer(NamedTuple):
    """`plan` is the requested time of its plan, `groups` those it works on, `bases` those done. It clusters once."""

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step not in ("idle", "done", "gave up")


def components(setting: Setting) -> dict[str, Any]:
    return {me: Clusterer() for me in setting.of(KIND)}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _scheduling(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Row:
    world, protocol = setting.world, setting.protocol

    def inputs(clock: int, published: Any, plans: Any) -> Any:
        return plan(table_of(published, plans), world.groups, clock + 1, protocol)

    def schedules(own: Clusterer, lock: None, clock: int, published: Any, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        parts = inputs(clock, published, plans)
        new = Plan(clock + 1, me, False, parts, clusters=protocol.clustering == "file_ids")
        return Clusterer("scheduled", new.requested, tuple(p.group for p in parts)), clock + 1, (*plans, new)

    there = Guard("there must be a log to take in", lambda own, lock, *seen: bool(inputs(*seen)))
    return Row("clusterer_schedules_plan", me, (me, "lock", "clock", "published", "plans"), (me, "clock", "plans"),
               (at(me, "idle"),), schedules, (lock_is_free(), there))  # fmt: skip


def undisturbed(own: Clusterer, published: tuple[Any, ...]) -> bool:
    """Whether no write has completed in its file groups since its plan."""
    late = (entry for entry in published if isinstance(entry, Write) and (entry.completed or 0) > own.plan)
    return not any(group in write.groups for write in late for group in own.groups)


def _running(me: str, setting: Setting) -> Iterator[Row]:
    by_name = setting.protocol.clustering == "file_ids"

    def starts(own: Clusterer, plans: tuple[Plan, ...]) -> tuple[Any, ...]:
        started = tuple(p._replace(inflight=True) if p.requested == own.plan else p for p in plans)
        return own._replace(step="rewriting"), started

    def next_group(own: Clusterer) -> Iterable[Args]:
        return ((("group", own.groups[own.bases]),),)

    def writes(own: Clusterer, group: int) -> tuple[Any, ...]:
        last = own.bases + 1 == len(own.groups)
        return (own._replace(step="written" if last else "rewriting", bases=own.bases + 1),)

    def publish(own: Clusterer) -> tuple[Clusterer, Compaction]:
        return Clusterer("done"), Compaction(own.plan, own.completed, me, own.groups if by_name else ())

    def gives_up(own: Clusterer, lock: str | None, plans: tuple[Plan, ...], published: Any) -> tuple[Any, ...]:
        return Clusterer("gave up"), given_back(me, lock), tuple(p for p in plans if p.requested != own.plan)

    yield Row("clusterer_starts_plan", me, (me, "plans"), (me, "plans"), (at(me, "scheduled"),), starts)
    yield Row("clusterer_writes_base", me, (me,), (me,), (at(me, "rewriting"),), writes, choices=next_group)
    check = Check("no write may have completed in its file groups since its plan", ("published",), undisturbed)
    if by_name:
        yield Row("clusterer_gives_up", me, (me, "lock", "plans", "published"), (me, "lock", "plans"),
                  (at(me, check.asked_at("written", setting.protocol)),), gives_up,
                  (*believes(me, setting), check.guard(3, fails=True)))  # fmt: skip
    yield from publication_rows(KIND, me, "written", setting, publish, requested=lambda own: own.plan,
                                check=check if by_name else None)  # fmt: skip
