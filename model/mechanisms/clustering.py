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

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ..kernel.merge import Fold
from ..kernel.planning import plan
from ..kernel.publication import COMMITS, Publication, publication, publication_actions
from ..kernel.reads import slice_fold, visible
from ..kernel.slicing import logs_in_order
from ..kernel.table import Compaction, GroupPlan, Plan, Table, Write, table_of
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.marks import mark, marks
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Options, option
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
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


class Clusters(NamedTuple):
    """A record attached to a plan: True if the plan is a clustering that replaces its file groups with new ones."""

    clusters: bool = False
    kind: str = "clusters"


class Clustered(NamedTuple):
    """A record attached to a completed clustering: the file groups that it replaced with new ones."""

    groups: tuple[int, ...] = ()
    kind: str = "clustered"


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


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules of a table in which a clustering replaces file groups with new ones."""
    if protocol[Clustering].clustering == "plan":
        return rules
    inner = rules.as_of

    def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
        if not (last := _last_clustering(table, group, time)):
            return inner(rules, table, group, time)
        found = (write for write in visible(rules, table.writes, time) if dict(into(write)).get(group) == last)
        return slice_fold(rules, table, group, last, logs_in_order(rules, found, group))

    return replace(rules, as_of=as_of)


def _last_clustering(table: Table, group: int, time: float) -> int:
    """Return the requested time of the last clustering that replaced the file group and completed at or before `time`;
    0 if there is none.
    """
    plans = zip(table.plans, table.completed, strict=True)
    clusterings = ((plan, completed) for plan, completed in plans if clusters(plan) and plan.part_in(group))
    return max([plan.requested for plan, completed in clusterings if completed and completed <= time], default=0)


Plans = tuple[Plan, ...]
REWRITING = "rewriting"


class Clusterer(NamedTuple):
    """The state of one clusterer. `plan` is the requested time of the clusterer's plan, and `groups` lists the planned
    file groups. `bases` is the number of file groups already rewritten.
    """

    step: str = "idle"
    plan: int = 0
    groups: tuple[int, ...] = ()
    bases: int = 0
    completed: int = 0
    records: tuple[Any, ...] = ()


CLUSTERER = Kind(
    name="clusterer", prefix="clus", first=Clusterer(), idle_steps=("idle", "done", "gave up"), service=True
)


def compose(composition: Composition) -> None:
    """Add the transitions of every clusterer to a model. Each clusterer performs one clustering."""
    replaces = composition.protocol[Clustering].clustering == "file_ids"
    log = Guard("there must be a log to take in", log_to_cluster)
    for me in composition.actors_of("clusterer"):
        composition.add(
            transition("clusterer_schedules_plan", me, at="idle", to="scheduled", guards=(LOCK_IS_FREE, log),
                       effect=schedule, changes=("own", "clock", "plans")),
            transition("clusterer_starts_plan", me, at="scheduled", to=REWRITING, effect=start,
                       changes=("own", "plans")),
            transition("clusterer_writes_base", me, at=REWRITING, effect=write_base, arguments=next_group),
        )  # fmt: skip
        publish = partial(published_clustering, me, replaces)
        publication(composition, Publication("clusterer", me, "written", publish, "plan"))
        if replaces:
            composition.select(COMMITS, actors=[me]).require(UNDISTURBED).exit(giving_up)


def giving_up(me: str) -> Transition:
    """Return the transition by which a clusterer abandons its plan instead of publishing."""
    return transition("clusterer_gives_up", me, guards=(HOLDS_LOCK, ~UNDISTURBED), effect=take_plan_back,
                      changes=("own", "plans", "lock")).extend(release_lock)  # fmt: skip


def log_to_cluster(
    clock: int, published: Published, plans: Plans, world: World, table_rules: Rules
) -> tuple[GroupPlan, ...]:
    """Return the inputs of a clustering planned now."""
    return plan(table_rules, table_of(published, plans), world.groups, clock + 1)


def schedule(me: str, clock: int, published: Published, plans: Plans, world: World, table_rules: Rules) -> Changes:
    """Under the lock, take a requested time and put the clustering plan."""
    parts = log_to_cluster(clock, published, plans, world, table_rules)
    replaces = table_rules[Clustering].clustering == "file_ids"
    new = Plan(clock + 1, me, False, parts, marks(Clusters(replaces)))
    own = Clusterer(plan=new.requested, groups=tuple(part.group for part in parts))
    return {"own": own, "clock": new.requested, "plans": (*plans, new)}


def start(own: Clusterer, plans: Plans) -> Changes:
    """Put the inflight instant of the clustering on the timeline."""
    return {"plans": tuple(p._replace(inflight=True) if p.requested == own.plan else p for p in plans)}


def next_group(own: Clusterer) -> Iterable[Args]:
    return ((("group", own.groups[own.bases]),),)


def write_base(own: Clusterer) -> Changes:
    """Put the new base file of one file group."""
    last = own.bases + 1 == len(own.groups)
    return {"own": own._replace(step="written" if last else REWRITING, bases=own.bases + 1)}


def undisturbed(own: Clusterer, published: Published) -> bool:
    """True if no write has completed in the planned file groups since the clustering was planned."""
    late = (entry for entry in published if isinstance(entry, Write) and (entry.completed or 0) > own.plan)
    return not any(group in write.groups for write in late for group in own.groups)


UNDISTURBED = Guard("no write may have completed in its file groups since its plan", undisturbed)


def take_plan_back(own: Clusterer, plans: Plans) -> Changes:
    """Under the lock, delete the clustering plan, because a write has completed in the planned file groups."""
    return {"own": Clusterer("gave up"), "plans": tuple(p for p in plans if p.requested != own.plan)}


def published_clustering(me: str, replaces: bool, own: Clusterer) -> tuple[Clusterer, Compaction]:
    return Clusterer("done"), Compaction(own.plan, own.completed, me, marks(Clustered(own.groups if replaces else ())))


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
