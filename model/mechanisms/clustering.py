"""Clustering rewrites the rows of a file group in an order that makes reads faster.

By default, a clustering keeps the file ids: it is a compaction that also sorts the rows, and its plan begins a new file
slice. Apache Hudi writes a new file group that replaces the clustered file group (option `clustering = file_ids`). The
new file group does not contain the rows of concurrent writes. Under `clustering = file_ids`, a clusterer therefore
gives up if a write to the planned file groups has completed since the plan was made. An optimistic writer aborts if a
clustering of its file groups has completed since the write began. A non-blocking writer does not check for concurrent
clusterings. If a non-blocking write completes after the clustering, its rows are in a replaced file group, which no
reader reads.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

from ..kernel.clock import TakeTime
from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ..kernel.merge import Fold
from ..kernel.planning import plan
from ..kernel.publication import COMMITS, Publication, publication, publication_actions
from ..kernel.reads import slice_fold, visible
from ..kernel.slicing import logs_in_order
from ..kernel.table import Compaction, GroupPlan, Plan, Plans, Table, Write, table_of
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark, marks
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Options, option
from ..machine.plans import PLANNED, WRITTEN, PlanRunner, puts_plan, run_plan, starts_plan, writes_groups
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..protocol import Protocol
from ..rules import Rules
from ..world import World


class Clustering(Options):
    """The option that decides whether a clustering keeps the file ids or writes new file groups."""

    clustering: Literal["plan", "file_ids"] = option(
        "plan",
        "plan: a clustering is a compaction that sorts, and keeps the file ids; file_ids: it writes a new file group "
        "that replaces the one it names, and gives up if a write has completed there since its plan",
    )


@in_shapes("clusters", "kind")
class Clusters(NamedTuple):
    """A record attached to a plan: True if the plan is a clustering that replaces its file groups with new ones."""

    clusters: bool = False
    kind: str = "clusters"


@in_shapes("groups", "kind")
class Clustered(NamedTuple):
    """A record attached to a completed clustering: the file groups that it replaced with new ones."""

    groups: tuple[int, ...] = ()
    kind: str = "clustered"


@in_shapes("clusterings", "kind")
class Into(NamedTuple):
    """A record attached to a write that has put files in clustered file groups. `clusterings` contains pairs (file
    group, requested time of the clustering).
    """

    clusterings: tuple[tuple[int, int], ...] = ()
    kind: str = "into"


def clusters(plan: Plan) -> bool:
    """True if the plan is a clustering that replaces its file groups with new ones."""
    return bool(plan.marks) and mark(plan, Clusters).clusters


def clustered(entry: Compaction) -> tuple[int, ...]:
    """Return the file groups that were replaced by a completed clustering."""
    return mark(entry, Clustered).groups if entry.marks else ()


def into(write: Write) -> tuple[tuple[int, int], ...]:
    """Return the clustered file groups in which a write has put files, as pairs (file group, requested time of the
    clustering).
    """
    return mark(write, Into).clusterings if write.marks else ()


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for reading a table under the option `clustering`."""
    return () if protocol[Clustering].clustering == "plan" else (ClustersFileGroups,)


class ClustersFileGroups(Rules):
    """A clustering replaces file groups with new ones."""

    def as_of(self, table: Table, group: int, time: float) -> Fold:
        if not (last := _last_clustering(table, group, time)):
            return super().as_of(table, group, time)
        found = (write for write in visible(self, table.writes, time) if dict(into(write)).get(group) == last)
        return slice_fold(self, table, group, last, logs_in_order(self, found, group))


def _last_clustering(table: Table, group: int, time: float) -> int:
    """Return the requested time of the last clustering that replaced the file group and completed at or before `time`;
    0 if there is none.
    """
    plans = zip(table.plans, table.completed, strict=True)
    clusterings = ((plan, completed) for plan, completed in plans if clusters(plan) and plan.part_in(group))
    return max([plan.requested for plan, completed in clusterings if completed and completed <= time], default=0)


CLUSTERER = Kind(
    name="clusterer", prefix="clus", first=PlanRunner(), idle_steps=("idle", "done", "gave up"), service=True
)


def compose(composition: Composition) -> None:
    """Add the transitions of every clusterer to a model. Each clusterer performs one clustering."""
    clusterers = composition.actors_of(CLUSTERER)
    replaces = bool(clusterers) and composition.protocol[Clustering].clustering == "file_ids"
    log = Guard("there must be a log to take in", log_to_cluster)
    new = partial(Plan, marks=marks(Clusters(replaces)))
    for me in clusterers:
        composition.add(
            transition("clusterer_schedules_plan", me, at="idle", to=PLANNED, guards=(LOCK_IS_FREE, log),
                       effect=take_time, changes=("own", "clock")).extend(puts_plan("plans", new), "plans"),
            starts_plan("clusterer_starts_plan", me, "plans", "plan", run_plan),
            writes_groups("clusterer_writes_base", me),
        )  # fmt: skip
        publish = partial(published_clustering, me, replaces)
        publication(composition, Publication("clusterer", me, WRITTEN, publish, "plan"))
        if replaces:
            composition.select(COMMITS, actors=[me]).require(UNDISTURBED).exit(giving_up)


def giving_up(me: str) -> Transition:
    """Return the transition by which a clusterer abandons its plan instead of publishing."""
    return transition("clusterer_gives_up", me, guards=(HOLDS_LOCK, ~UNDISTURBED), effect=take_plan_back,
                      changes=("own", "plans", "lock")).extend(release_lock)  # fmt: skip


def log_to_cluster(
    clock: int, request_time: TakeTime, published: Published, plans: Plans, world: World, table_rules: Rules
) -> tuple[GroupPlan, ...]:
    """Return the inputs of a clustering planned now."""
    requested, _ = request_time(clock, action="commit")
    return plan(table_rules, table_of(published, plans), world.groups, requested)


def take_time(
    clock: int, request_time: TakeTime, published: Published, plans: Plans, world: World, table_rules: Rules
) -> Changes:
    """Under the lock, take a requested time, and list the inputs of the clustering."""
    parts = log_to_cluster(clock, request_time, published, plans, world, table_rules)
    requested, clock = request_time(clock, action="commit")
    return {"own": PlanRunner(plan=requested, parts=parts), "clock": clock}


def undisturbed(own: PlanRunner, published: Published) -> bool:
    """True if no write has completed in the planned file groups since the clustering was planned."""
    late = (entry for entry in published if isinstance(entry, Write) and (entry.completed or 0) > own.plan)
    return not any(group in write.groups for write in late for group in own.groups)


UNDISTURBED = Guard("no write may have completed in its file groups since its plan", undisturbed)


def take_plan_back(own: PlanRunner, plans: Plans) -> Changes:
    """Under the lock, delete the clustering plan, because a write has completed in the planned file groups."""
    return {"own": PlanRunner("gave up"), "plans": tuple(p for p in plans if p.requested != own.plan)}


def published_clustering(me: str, replaces: bool, own: PlanRunner) -> tuple[PlanRunner, Compaction]:
    return PlanRunner("done"), Compaction(own.plan, own.completed, me, marks(Clustered(own.groups if replaces else ())))


MECHANISM = Mechanism(
    rules=refine,
    after=("foreign_services", "insert_overwrite"),
    compose=compose,
    kinds=(CLUSTERER,),
    options=Clustering,
    service=True,
    actions=(
        Action("clusterer_schedules_plan", "under the lock: takes a requested time and puts the plan",
               "{actor} schedules a clustering"),
        Action("clusterer_starts_plan", "puts the inflight instant of its plan", "{actor} starts its clustering"),
        Action("clusterer_writes_base", "puts the new base file of one file group", "{actor} rewrites group {group}",
               continues_call=True, data_phase=True),
        Action("clusterer_gives_up",
               "under the lock: finds that a write has completed in its groups, takes its plan back",
               "{actor} gives up"),
        *publication_actions("clusterer"),
    ),
)  # fmt: skip
