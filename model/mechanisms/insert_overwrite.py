"""A replace (insert overwrite or delete partition) hides every write that completed in the replaced partitions before
the replace was requested.

By default, the plan of a replace lists all file groups of the replaced partitions, without input files. The plan begins
a new file slice in each file group that it lists. The base files of the new slices contain the replacing rows, if any.
A log that completed before the plan's requested time is hidden; a log that completes afterwards stays visible. In
Apache Hudi, a replace has no plan; its completed instant lists the replaced file ids (option `replacing = file_ids`).
If buckets determine file ids, the list of replaced file ids permanently hides subsequent writes to the same buckets as
well.

Under optimistic concurrency control, a replace conflicts with every write to the same partitions that completes after
the replace began (RFC-22, steps 1 to 4).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, NamedTuple

from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.compactor import PLANS
from ..kernel.lock import LOCK_IS_FREE
from ..kernel.merge import Fold
from ..kernel.publication import Publication, publication, publication_actions
from ..kernel.reads import visible
from ..kernel.table import CompletesAs, GroupPlan, Plan, Table, Write, completes_plan
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark, marks, marks_of
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Options, option
from ..machine.plans import STARTS_PLAN, Planner
from ..machine.transition import Action, Changes, Guard, become, preset, transition
from ..protocol import Protocol
from ..rules import Rules
from ..world import World
from .bulk_insert.rules import Loaded
from .file_ids import NewFileIds, choose_file_ids, makes_file_ids
from .occ.conflicts import ABORTED, Validation, check_conflicts, is_optimistic
from .occ.mechanism import seal_timeline
from .pending import add_pending_actors


class InsertOverwrite(Options):
    """The option that decides how a replace (insert overwrite) hides older rows."""

    replacing: Literal["plan", "file_ids"] = option(
        "plan",
        "plan: a replace hides earlier rows by a barrier at its requested time. file_ids: it names the file groups "
        "that it replaces, which also hides what is written to them later (Hudi's replacecommit)",
    )


@in_shapes("groups", "kind")
class Replaced(NamedTuple):
    """A record attached to a write: the file groups in which the write hides every write that completed before its
    requested time.
    """

    groups: tuple[int, ...] = ()
    kind: str = "replaced"


def replaced(write: Write) -> tuple[int, ...]:
    """Return the file groups whose older writes are hidden by `write`; () if the write is not a replace."""
    return mark(write, Replaced).groups if write.marks else ()


def ranks_at(write: Write, group: int) -> int | None:
    """Return the time that orders a write's records in a file group: the requested time of a replace, the completion
    time of any other write.
    """
    return write.requested if group in replaced(write) else write.completed


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for reading tables with replacing writes, such as insert overwrites."""
    by_file_ids = protocol[InsertOverwrite].replacing == "file_ids"
    return (ReplacesInWindows, ReplacesFileIds) if by_file_ids else (ReplacesInWindows,)


class ReplacesInWindows(Rules):
    """A window omits the writes that a replace in the window hides."""

    compares_requested_times = False

    def window_writes(self, table: Table, group: int, after: float, until: float) -> tuple[Write, ...]:
        writes = super().window_writes(table, group, after, until)
        since = max([write.requested for write in writes if write.marks and group in replaced(write)], default=0)
        return tuple([write for write in writes if (ranks_at(write, group) or 0) >= since]) if since else writes


class ReplacesFileIds(Rules):
    """A read of a replaced file group shows the files of the last replace alone."""

    def as_of(self, table: Table, group: int, time: float) -> Fold:
        by = [write for write in visible(self, table.writes, time) if group in replaced(write)]
        return Fold(Fold(None, by[-1].files_in(group)), ()) if by else super().as_of(table, group, time)


Published = tuple[Any, ...]
Plans = tuple[Plan, ...]
SCHEDULED, REPLACING = "scheduled", "replacing"
RESTS = ("idle", "done", "gave up")


class Overwriter(NamedTuple):
    """The state of one overwriter (an actor that performs one insert overwrite). `partitions` lists the replaced
    partitions. `bases` counts the base files that the overwriter has put.
    """

    step: str = "idle"
    partitions: tuple[int, ...] = ()
    requested: int = 0
    completed: int = 0
    bases: int = 0
    records: tuple[Any, ...] = ()

    @property
    def number(self) -> int:
        """The index of the overwriter's write: always 1, because an overwriter writes once."""
        return 1

    @property
    def inflight(self) -> bool:
        return self.step != SCHEDULED


OVERWRITER = Kind(name="overwriter", prefix="over", first=Overwriter(), idle_steps=RESTS)


def compose(composition: Composition) -> None:
    """Add the transitions of every overwriter (insert overwrite) to a model."""
    world, overwriters = composition.world, composition.actors_of(OVERWRITER)
    by_plan = composition.protocol[InsertOverwrite].replacing == "plan"
    if any(is_optimistic(composition, me) for me in overwriters):
        composition.add_field(OVERWRITER, "validation", Validation())
    if overwriters and makes_file_ids(composition):
        composition.add_field(OVERWRITER, "file_ids", NewFileIds())
    for me in overwriters:
        schedule(composition, me, by_plan)
        composition.add(
            transition("overwriter_starts_replace", me, at=SCHEDULED, to=REPLACING, effect=start,
                       changes=("own", "plans"), tags=(STARTS_PLAN,)),
            transition("overwriter_writes_base", me, at=REPLACING, effect=write_base),
        )  # fmt: skip
        publication(composition, Publication("overwriter", me, "written", partial(published_replace, world, me)))
        if is_optimistic(composition, me):
            check_conflicts(composition, "overwriter", me, partial(groups_of_replace, world, me))
            composition.add(transition("overwriter_takes_back_replace", me, at=ABORTED, guards=(LOCK_IS_FREE,),
                                       effect=take_back, changes=("own", "plans")))  # fmt: skip
    if not by_plan:
        add_pending_actors(composition, OVERWRITER, "commit")


def schedule(composition: Composition, me: str, by_plan: bool) -> None:
    """Add the transition in which an overwriter requests its instant and, if `by_plan` is True, puts a plan."""
    action = "overwriter_schedules_replace"
    plans = transition(action, me, at="idle", to=SCHEDULED, guards=(LOCK_IS_FREE, NO_PLAN_PENDING), effect=take_time,
                       changes=("own", "clock"), tags=(PLANS, READS_CLOCK))  # fmt: skip
    if is_optimistic(composition, me):
        plans = plans.extend(seal_timeline, "own_validation")
    if makes_file_ids(composition):
        plans = plans.extend(preset(choose_file_ids, groups=groups_of_replace), "own_file_ids")
    composition.add(plans.extend(put_plan if by_plan else put_no_plan, "plans"))
    composition.register(Planner("overwriter", me, action, "plans", "requested", become(Overwriter("gave up"))))


def replaced_groups(world: World, me: str) -> tuple[int, ...]:
    """Return all file groups of the partitions that the overwriter replaces."""
    partitions = replaced_partitions(world, me)
    return tuple(group for group in range(world.groups) if group // world.buckets in partitions)


def replaced_partitions(world: World, me: str) -> tuple[int, ...]:
    """Return the partitions that the overwriter replaces: those to which it writes."""
    return tuple(sorted({group // world.buckets for group, _ in world.files(me, 1)}))


def groups_of_replace(world: World, me: str, own: Overwriter) -> tuple[int, ...]:
    return replaced_groups(world, me)


def no_plan_is_pending(me: str, world: World, published: Published, plans: Plans) -> bool:
    done = {entry.requested for entry in published if completes_plan(entry)}
    pending = [plan for plan in plans if plan.requested not in done]
    return not any(plan.part_in(group) for plan in pending for group in replaced_groups(world, me))


NO_PLAN_PENDING = Guard("no plan may be pending in its partitions", no_plan_is_pending)


def take_time(me: str, clock: int, request_time: TakeTime, world: World) -> Changes:
    """Choose the requested time of the overwriter's instant."""
    time, clock = request_time(clock, action="commit")
    return {"own": Overwriter(SCHEDULED, replaced_partitions(world, me), time), "clock": clock}


def put_plan(own: Overwriter, me: str, world: World, plans: Plans) -> Changes:
    """Put on the timeline a plan that lists all file groups of the replaced partitions, but no input files."""
    groups = tuple(GroupPlan(group, None, ()) for group in replaced_groups(world, me))
    return {"own": own._replace(step=SCHEDULED), "plans": (*plans, Plan(own.requested, me, False, groups))}


def put_no_plan(own: Overwriter) -> Changes:
    """Continue without a plan, because the option `replacing` is `file_ids`."""
    return {"own": own._replace(step=SCHEDULED)}


def start(own: Overwriter, plans: Plans) -> Changes:
    """Put the inflight instant of the replacecommit on the timeline."""
    return {"plans": tuple(p._replace(inflight=True) if p.requested == own.requested else p for p in plans)}


def write_base(own: Overwriter, me: str, world: World) -> Changes:
    """Write the base file of the next file group, with the new rows if there are any."""
    last = own.bases + 1 == len(replaced_groups(world, me))
    return {"own": own._replace(step="written" if last else REPLACING, bases=own.bases + 1)}


def published_replace(world: World, me: str, own: Overwriter) -> tuple[Overwriter, Write]:
    groups = replaced_groups(world, me)
    files = tuple((group, 1) for group in groups)
    own_marks = marks(CompletesAs("commit"), Loaded(groups), Replaced(groups))
    return Overwriter("done"), Write(own.requested, own.completed, me, 1, files, (*own_marks, *marks_of(own)))


def take_back(own: Overwriter, plans: Plans) -> Changes:
    """Let an overwriter give up: delete its files, and then its plan."""
    return {"own": Overwriter("gave up"), "plans": tuple(plan for plan in plans if plan.requested != own.requested)}


MECHANISM = Mechanism(
    rules=refine,
    compose=compose,
    after=("file_ids", "foreign_services", "occ"),
    kinds=(OVERWRITER,),
    options=InsertOverwrite,
    actions=(
        Action("overwriter_schedules_replace",
               "under the lock: takes a requested time and puts a plan that takes nothing",
               "{actor} schedules a replace"),
        Action("overwriter_starts_replace", "puts the inflight instant of its replace", "{actor} starts its replace"),
        Action("overwriter_writes_base", "puts the base file of a file group, with the new rows that there are",
               "{actor} writes a base file", continues_call=True, data_phase=True),
        Action("overwriter_passes_check", "finds no conflicting write that completed since it began",
               "{actor} finds no conflict"),
        Action("overwriter_aborts", "finds a conflicting write that completed since it began; releases the lock",
               "{actor} aborts: a write conflicts that completed since it began"),
        Action("overwriter_takes_back_replace", "deletes its files, then, under the lock, its plan",
               "{actor} takes its files and its plan back"),
        *publication_actions("overwriter"),
    ),
)  # fmt: skip
