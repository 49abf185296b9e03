"""Clustering: the rows of a file group are written anew, in an order that suits readers.

Where buckets fix the file ids it is a compaction that sorts: a plan at a barrier. Apache Hudi writes another file group
and names the one that it replaces (`clustering = file_ids`). Then it and the writers must look out for each other: it
gives up if a write has completed in its groups since its plan, an optimistic writer aborts if it has completed since
the write began. A non-blocking writer looks at nobody, and what it completes later is in a group that nobody reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.planning import plan
from ..kernel.table import Compaction, GroupPlan, Plan, Write, table_of
from ..machine.marks import marks
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.clustering import Clustered, Clusters
from ..rules import rules_of
from ..timeline.publication import Check, believes, publication, publication_actions, release_lock
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


def transitions(setting: Setting) -> Iterator[Transition]:
    by_name = setting.protocol.clustering == "file_ids"
    check = Check(Guard("no write may have completed in its file groups since its plan", undisturbed))
    for me in setting.of(KIND):
        yield transition("clusterer_schedules_plan", me, at="idle", guards=(LOCK_IS_FREE, LOG_IS_THERE),
                         effect=schedule, changes=("own", "clock", "plans"))  # fmt: skip
        yield transition("clusterer_starts_plan", me, at="scheduled", to="rewriting", effect=start,
                         changes=("own", "plans"))  # fmt: skip
        yield transition("clusterer_writes_base", me, at="rewriting", effect=write_base, arguments=next_group)
        if by_name:
            yield transition("clusterer_gives_up", me, at=check.asked_at("written", setting.protocol),
                             guards=(*believes(setting), ~check.guard), effect=take_plan_back,
                             changes=("own", "plans", "lock")).extend(release_lock)  # fmt: skip
        yield from publication(KIND, me, "written", setting, partial(published_clustering, me, by_name),
                               requested="plan", check=check if by_name else None)  # fmt: skip


def inputs(
    clock: int, published: tuple[Any, ...], plans: tuple[Plan, ...], setting: Setting
) -> tuple[GroupPlan, ...]:
    """What a plan that is made now takes."""
    return plan(rules_of(setting.protocol), table_of(published, plans), setting.world.groups, clock + 1)


LOG_IS_THERE = Guard("there must be a log to take in", inputs)


def schedule(me: str, clock: int, published: tuple[Any, ...], plans: tuple[Plan, ...], setting: Setting) -> Changes:
    """Under the lock: take a requested time and put the plan."""
    parts = inputs(clock, published, plans, setting)
    clusters = Clusters(setting.protocol.clustering == "file_ids")
    new = Plan(clock + 1, me, False, parts, marks(clusters))
    own = Clusterer("scheduled", new.requested, tuple(part.group for part in parts))
    return {"own": own, "clock": clock + 1, "plans": (*plans, new)}


def undisturbed(own: Clusterer, published: tuple[Any, ...]) -> bool:
    """Whether no write has completed in its file groups since its plan."""
    late = (entry for entry in published if isinstance(entry, Write) and (entry.completed or 0) > own.plan)
    return not any(group in write.groups for write in late for group in own.groups)


def start(own: Clusterer, plans: tuple[Plan, ...]) -> Changes:
    """Put the inflight instant."""
    return {"plans": tuple(p._replace(inflight=True) if p.requested == own.plan else p for p in plans)}


def next_group(own: Clusterer) -> Iterable[Args]:
    return ((("group", own.groups[own.bases]),),)


def write_base(own: Clusterer) -> Changes:
    """Put the new base file of one file group."""
    last = own.bases + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else "rewriting", bases=own.bases + 1)}


def take_plan_back(own: Clusterer, plans: tuple[Plan, ...]) -> Changes:
    """Under the lock: a write has completed in its file groups, so the plan goes."""
    return {"own": Clusterer("gave up"), "plans": tuple(p for p in plans if p.requested != own.plan)}


def published_clustering(me: str, by_name: bool, own: Clusterer) -> tuple[Clusterer, Compaction]:
    """The clusterer after its clustering is published, and the entry."""
    return Clusterer("done"), Compaction(own.plan, own.completed, me, marks(Clustered(own.groups if by_name else ())))
