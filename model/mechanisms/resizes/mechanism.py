"""A resizer changes the number of file groups of each partition while writers continue.

A resize is a plan. Its requested time K is a barrier, like that of a compaction, and its completion time is C. The
resizer writes one base file for each new file group, even if it has no row. A read as of a time before C opens the
old groups, a later one the new groups. Compactions that were planned before K may stay pending. No compaction is
planned between K and C, because the pending plan of the resize includes every file group (`may_plan`).

A *late log* completes after K in an old file group. Under `resizing = cut_over`, readers need not know of late logs.
Under the lock, the resizer looks for logs that have completed after K, or since its last round. If there are some, it
releases the lock and copies them into its new files; otherwise it publishes. A writer reads the mapping of keys after
its request is on the timeline. If it finds, under the lock, that a resize has completed since, it releases the lock and
puts its logs into the new groups. Its commit does not name its logs in the old groups. So no write is refused or lost.

The module `rules` says why the model numbers ranges of hashes, and which other designs there are. The module
`sort_order` decides which new file group gets a key if a resize sorts.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import COMPACTOR
from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ...kernel.publication import COMMITS, Publication, publication, publication_actions
from ...kernel.reader import READER
from ...kernel.table import Compaction, Plan, Plans, Table, Write, completes_plan
from ...kernel.timeline import Published
from ...kernel.writer import WRITER, WRITER_STARTS_WRITING, WRITER_WRITES_LOG, Writer
from ...machine.composition import Composition
from ...machine.marks import mark, marks, with_mark
from ...machine.mechanism import Kind, Mechanism, Together
from ...machine.options import Limits, names_of, overrides
from ...machine.plans import PLANNED, RUNNING, WRITTEN, PlanRunner, Runner, plans_and_runs, writes_groups
from ...machine.transition import Action, Args, Changes, Guard, Transition, limit_left, transition
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from ..cleaning.mechanism import CLEANER
from ..cleaning.rules import Cleans
from ..crashes import Crashes
from ..rollback.heartbeat import NOT_GIVEN_UP, renewing
from ..rollback.rollbacker import ROLLBACKER
from ..rollback.rules import Failures
from . import sort_order
from .rules import (
    Generations,
    ReadsResized,
    ResizeLimits,
    Resizes,
    Resizing,
    buckets_of,
    other_bucket_counts,
    ranges_in_bucket,
    resize_inputs,
    resize_of,
    written_in,
)

RESIZER = Kind(name="resizer", prefix="resize", first=PlanRunner(), service=True)

LIMITS: tuple[type[Limits], ...] = (Cleans, Crashes, Failures, ResizeLimits)
"""The limits of worlds with a resizer, in addition to those of the kernel."""

FINDS_MAPPING = "writer_finds_another_mapping"
BEHIND = "behind the writers"
"""The step of a resizer that has found late logs under the lock, and must copy them."""

RESIZES_PLANNED = "resizes_planned"
"""The view of the resizes on the timeline, cancelled ones excluded: (requested time, True if it is completed)."""


def compose(composition: Composition) -> None:
    """Add the transitions of every resizer, and let writers follow the mapping of keys to file groups."""
    resizers = composition.actors_of(RESIZER)
    if not resizers:
        return
    composition.map_view(RESIZES_PLANNED, resizes_planned)
    composition.add_component("cancelled_resizes", 0)
    for me in resizers:
        add_resizer(composition, me)
    follow_mapping(composition)


def resizes_planned(plans: Plans, published: Published) -> tuple[tuple[int, bool], ...]:
    done = {entry.requested for entry in published if completes_plan(entry)}
    return tuple((plan.requested, plan.requested in done) for plan in plans if resize_of(plan))


def add_resizer(composition: Composition, me: str) -> None:
    composition.add(
        transition("resizer_schedules_resize", me, at="idle", to=PLANNED, arguments=other_bucket_counts,
                   guards=(LOCK_IS_FREE, RESIZE_LEFT, NO_RESIZE_PENDING), effect=plan_resize,
                   changes=("own", "clock", "plans"), tags=(READS_CLOCK,)),
        writes_groups("resizer_writes_base", me),
    )  # fmt: skip
    start = partial(run_resize, composition.world)
    # The mechanism `rivals` adds `resizer_resumes_plan` and `resizer_finds_it_done` if there are several resizers.
    runs = Runner("resizer", me, "plans", "plan", start, Compaction, "resizer_resumes_plan", "resize")
    plans_and_runs(composition, "resizer_schedules_resize", "resizer_starts_resize", PlanRunner(), runs)
    publication(composition, Publication("resizer", me, WRITTEN, partial(published_resize, me), "plan"))
    if composition.protocol[Resizing].resizing == "cut_over":
        composition.add(transition("resizer_copies_logs", me, at=BEHIND, to=WRITTEN, effect=copy_late_logs,
                                   changes=("own",)))  # fmt: skip
        commits = composition.select(COMMITS, actors=[me]).require(~LATE_LOGS)
        commits.extend(list_copies, "plans").exit(finding_late_logs)
    if composition.world[ResizeLimits].cancelled_resizes:
        composition.add(transition("resizer_cancels_resize", me, guards=(PENDING_RESIZE, LOCK_IS_FREE, CANCEL_LEFT),
                                   effect=cancel_resize, changes=("own", "plans", "cancelled_resizes")))  # fmt: skip


RESIZE_LEFT = Guard(
    "a resize must be left",
    lambda plans, world: sum(resize_of(plan) is not None for plan in plans) < world[ResizeLimits].resizes,
    limit=True,
)
NO_RESIZE_PENDING = Guard("no resize may be pending", lambda resizes_planned: all(done for _, done in resizes_planned))
CANCEL_LEFT = limit_left(
    "a cancellation must be left", "cancelled_resizes", lambda world: world[ResizeLimits].cancelled_resizes
)
PENDING_RESIZE = Guard(
    "{me} must run a resize", lambda own: own.step in (PLANNED, RUNNING, WRITTEN, BEHIND), place=True
)


def plan_resize(
    me: str, clock: int, request_time: TakeTime, completed_table: Table, plans: Plans, world: World, rules: Rules,
    *, buckets: int,
) -> Changes:  # fmt: skip
    """Under the lock, take the requested time of a resize, and put its plan with its inputs."""
    requested, clock = request_time(clock, action="commit")
    parts = resize_inputs(rules, completed_table, world.groups)
    sorts = sort_order.sorts(parts, buckets, world)
    plan = Plan(requested, me, False, parts, marks(Resizes(buckets, requested), sorts))
    return {"own": PlanRunner(plan=requested), "clock": clock, "plans": (*plans, plan)}


def run_resize(world: World, own: PlanRunner, plan: Plan) -> PlanRunner:
    """Return the state of a resizer that starts a resize: it writes one base file for each new file group."""
    buckets = mark(plan, Resizes).buckets
    groups = (group for group in range(world.groups) if ranges_in_bucket(group, buckets, world)[0] == group)
    return PlanRunner(RUNNING, plan.requested, tuple(groups))


def copied_by(own: PlanRunner) -> int:
    """Return the completion time up to which a resizer has the logs in its own files: its bases and its copies."""
    copied: tuple[int, ...] = own.records  # set when late logs are found, before they are copied
    return max((own.plan, *copied))


def late_logs(own: PlanRunner, published: Published) -> int:
    """Return the newest completion time of a write that the resize has neither read nor copied; 0 if there is none."""
    # Another resizer has copied everything. This one finds the resize done, and copies nothing for it.
    if any(entry.requested == own.plan for entry in published):
        return 0
    copied = copied_by(own)
    done = (entry.completed or 0 for entry in published if isinstance(entry, Write))
    return max((completed for completed in done if completed > copied), default=0)


LATE_LOGS = Guard("a write must have completed since its last round", late_logs)


def copy_late_logs(own: PlanRunner) -> Changes:
    """Put copies of the logs that it has found under the lock into the new file groups. The name of a copy consists of
    the requested time of the resize and a version. They are files of this resizer alone.
    """
    return {"own": own._replace(step=WRITTEN)}


def list_copies(own: PlanRunner, plans: Plans) -> Changes:
    """List the copies of this resizer, and of no other one, as those of the resize."""
    copied = copied_by(own)

    def listed(plan: Plan) -> Plan:
        return plan._replace(marks=with_mark(plan.marks, mark(plan, Resizes)._replace(copied=copied)))

    return {"plans": tuple(listed(plan) if plan.requested == own.plan else plan for plan in plans)}


def finding_late_logs(me: str) -> Transition:
    """Return the transition by which a resizer goes back to copying instead of publishing."""
    found = transition("resizer_finds_late_logs", me, guards=(HOLDS_LOCK, LATE_LOGS), effect=release_lock,
                       changes=("lock",))  # fmt: skip
    return found.extend(remember_late_logs, "own")


def remember_late_logs(own: PlanRunner, published: Published) -> Changes:
    return {"own": own._replace(step=BEHIND, records=(late_logs(own, published),))}


def cancel_resize(own: PlanRunner, plans: Plans, cancelled_resizes: int) -> Changes:
    """Delete the files of a pending resize, and then, under the lock, its plan."""
    left = tuple(plan for plan in plans if plan.requested != own.plan)
    return {"own": PlanRunner(), "plans": left, "cancelled_resizes": cancelled_resizes + 1}


def published_resize(me: str, own: PlanRunner) -> tuple[PlanRunner, Compaction]:
    """A resize begins slices at K, as a compaction does, and completes like one. On disk it is a replacecommit."""
    return PlanRunner(), Compaction(own.plan, own.completed, me)


def follow_mapping(composition: Composition) -> None:
    """Let writers read the mapping of keys to file groups, and read it again under the lock."""
    writers, design = composition.actors_of(WRITER), composition.protocol[Resizing]
    if not writers:
        return
    composition.add_field(WRITER, "mapping", Generations())
    composition.select(WRITER_WRITES_LOG, actors=writers).extend(finish_file_group, "own")
    opens = composition.select(WRITER_STARTS_WRITING, actors=writers)
    sort_order.choose_values(composition, opens)
    if design.resizing == "by_range":
        opens.add_argument(mappings).extend(choose_mapping, "own_mapping")
        return
    alone = design.resizing == "cut_over"
    composition.map_view("current_mapping", current_generation if alone else current_and_planned)
    opens.extend(read_mapping, "own_mapping")
    if design.mapping_check == "under_lock":
        moves = composition.select(COMMITS, actors=writers).require(MAPPING_IS_CURRENT)
        moves.exit(partial(finding_another_mapping, move_logs if alone else add_logs))
        if renews := renewing(composition):  # a writer that was given up finds that before it finds another mapping
            composition.select(FINDS_MAPPING, actors=renews).require(NOT_GIVEN_UP)


def current_generation(resizes_planned: tuple[tuple[int, bool], ...]) -> tuple[int, ...]:
    """Return the generation of the file groups that readers open now."""
    return (max((requested for requested, done in resizes_planned if done), default=0),)


def current_and_planned(resizes_planned: tuple[tuple[int, bool], ...]) -> tuple[int, ...]:
    """Return the generation of the file groups that readers open now, and that of the pending resize, if any."""
    return (*current_generation(resizes_planned), *(requested for requested, done in resizes_planned if not done))


def mappings(resizes_planned: tuple[tuple[int, bool], ...], world: World) -> Iterable[Args]:
    """Yield each mapping that a writer may use, the planned one included: readers find its logs by range."""
    # That of a resize that sorts is not known before its base files, which say what keys they hold.
    known = current_generation if world[ResizeLimits].sort_order else current_and_planned
    return ((("mapping", generation),) for generation in known(resizes_planned))


def choose_mapping(*, mapping: int) -> Changes:
    """Use one of the mappings of keys to file groups that are on the timeline."""
    return {"own_mapping": _mapping((mapping,))}


def read_mapping(current_mapping: tuple[int, ...]) -> Changes:
    """Read the mapping of keys to file groups. The request of the write is already on the timeline."""
    return {"own_mapping": _mapping(current_mapping)}


def _mapping(made_by: tuple[int, ...]) -> Generations:
    return Generations(() if made_by == (0,) else made_by)


def finish_file_group(own: Writer, own_mapping: Generations, me: str, plans: Plans, world: World) -> Changes:
    """Count the log of one file group as the logs of all ranges that the group holds."""
    buckets = min(buckets_of(plans, generation, world) for generation in written_in(own_mapping))
    files = world.files(me, own.number)
    ranges = ranges_in_bucket(files[own.files - 1][0], buckets, world)
    # The ranges of one group are in one file, which is put in one step.
    put = next((n for n, (group, _) in enumerate(files) if group > ranges[-1]), len(files))
    return {"own": own._replace(step="written" if put == len(files) else "writing", files=put)}


MAPPING_IS_CURRENT = Guard(
    "it must have logs in the file groups that hold its keys now",
    lambda own_mapping, current_mapping: {*current_mapping} <= {*written_in(own_mapping)},
)


def finding_another_mapping(change: Any, me: str) -> Transition:
    """Return the transition by which a writer goes back to writing instead of publishing."""
    found = transition(FINDS_MAPPING, me, guards=(HOLDS_LOCK, ~MAPPING_IS_CURRENT),
                       effect=release_lock, changes=("lock",))  # fmt: skip
    return found.extend(write_again, "own").extend(change, "own_mapping")


def write_again(own: Writer) -> Changes:
    return {"own": own._replace(step="writing", files=0)}


def move_logs(current_mapping: tuple[int, ...]) -> Changes:
    """Put the logs into the new file groups. The commit does not name the logs in the replaced groups."""
    return {"own_mapping": _mapping(current_mapping)}


def add_logs(own_mapping: Generations, current_mapping: tuple[int, ...]) -> Changes:
    """Put the logs into the file groups of the other mapping as well."""
    return {"own_mapping": _mapping(tuple(sorted({*written_in(own_mapping), *current_mapping})))}


def check(world: World) -> None:
    """Raise ValueError for a table whose first number of file groups does not divide the greatest one."""
    first = world[ResizeLimits].first_buckets
    if first and world.buckets % first:
        raise ValueError(f"world: first_buckets = {first} must divide buckets = {world.buckets}")
    if world[ResizeLimits].cancelled_resizes and world.actors.get(RESIZER.name, 0) > 1:
        raise ValueError("world: cancelled_resizes needs a single resizer: no other one may run a cancelled resize")
    others = [name for part in world.limits.values() if type(part) not in LIMITS for name in overrides(part)]
    others += ["log_versions"] * (world.log_versions > 1) + [f"[actor.{actor}]" for actor in world.settings]
    if others and world.actors.get(RESIZER.name, 0):
        raise ValueError(f"world: a resizer is not modelled with {others[0]}")
    sort_order.check(world, RESIZER.name)


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError if the world has a resizer and the protocol changes an option outside `Resizing`."""
    if not world.actors.get(RESIZER.name, 0):
        return  # before the options are read: the footprint of a world without a resizer would be every option
    if others := [name for name in protocol.differences() if name not in names_of(Resizing)]:
        raise ValueError(f"world: a resizer is not modelled with the option {others[0]}")
    sort_order.fit(world, protocol)


MECHANISM = Mechanism(
    rules=lambda protocol: (ReadsResized, sort_order.ReadsSorted), rules_need_use=True,
    compose=compose,
    after=("*",),
    kinds=(RESIZER,),
    options=Resizing,
    limits=ResizeLimits,
    service=True,
    together=(Together((RESIZER,), (RESIZER, WRITER, COMPACTOR, CLEANER, READER, ROLLBACKER)),),
    check=check,
    fit=fit,
    actions=(
        Action("resizer_schedules_resize", "under the lock: takes a requested time and puts the plan of a resize",
               "{actor} schedules a resize to {buckets} file groups"),
        Action("resizer_starts_resize", "puts the inflight instant of its resize", "{actor} starts its resize"),
        Action("resizer_resumes_plan", "takes up the pending resize of another resizer",
               "{actor} resumes a pending resize"),
        Action("resizer_finds_it_done", "finds that another resizer has completed its resize; deletes its files",
               "{actor} finds its resize completed"),
        Action("resizer_writes_base", "puts the base file of a new file group",
               "{actor} writes the base of the file group that begins at range {group}", continues_call=True,
               data_phase=True),
        Action("resizer_copies_logs", "copies the logs that have completed since its last round",
               "{actor} copies the logs that have completed since", continues_call=True, data_phase=True),
        Action("resizer_finds_late_logs", "finds that a write has completed since its last round; releases the lock",
               "{actor} finds late logs to copy", continues_call=True),
        Action("resizer_cancels_resize", "deletes its files, then, under the lock, its plan",
               "{actor} cancels its resize"),
        Action(FINDS_MAPPING, "finds that its keys have other file groups since it began to write; releases the lock",
               "{actor} finds another mapping, and moves its logs", continues_call=True),
        *publication_actions("resizer"),
    ),
)  # fmt: skip
