"""Flink jobs that write to the table: a checkpoint is a promise to commit, and its notification commits.

A job reads batches, and commits each as one instant. A task asks the coordinator for an instant, puts its file, and
sends the metadata of the file when the barrier of a checkpoint passes it. When the barrier has passed all tasks, the
checkpoint is complete, and the coordinator is notified: it commits the instants before the checkpoint. A TaskManager or
the JobManager may die between any two steps, and a commit may fail. After a restart, the coordinator recommits from the
metadata in the checkpoint. The cleaning of a job, or the job itself, rolls back instants that nothing will commit.

The coordinator handles one event at a time. An event arrives in the step that sends it: Flink completes no checkpoint
before the coordinator has the events that were sent before its barrier.

Read `job` next (the state of a job), then `tasks`, `commits` and `failover` (its steps).
"""

from __future__ import annotations

from functools import partial

from ...kernel.clock import READS_CLOCK
from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock
from ...kernel.publication import COMMITS, READY, UNDER_LOCK, Publication, publication, publication_actions
from ...kernel.timeline import PENDING
from ...kernel.writer import PUTS_FILE, REQUESTS
from ...machine.composition import Composition
from ...machine.mechanism import Kind, Mechanism
from ...machine.options import overrides
from ...machine.transition import Action, Guard, limit_left, preset, transition
from ...protocol import Protocol
from ...variants.slicing import Slicing
from ...world import World
from ..copy_on_write import is_copy_on_write
from ..crashes import Crashes
from ..decision_log import DecisionLog
from ..occ.conflicts import ABORTED, has_optimistic_writers
from .commits import (
    abort,
    begin_commit,
    drop,
    has_failed,
    has_no_conflict,
    instants_to_undo,
    next_is,
    pending_instants_of_jobs,
    to_handle,
    undo,
    undo_failed,
)
from .failover import (
    commit_fails,
    fail_over,
    job_manager_dies,
    job_restarts,
    task_manager_dies,
    usable_checkpoints,
)
from .job import COMMITTING, DOWN, FlinkJob, published_commit
from .options import Flink, FlinkLimits
from .tasks import (
    asking,
    batch_is_left,
    complete,
    has_passed,
    meet_error,
    next_files,
    pass_barrier,
    start_instant,
    tasks_before_barrier,
    trigger,
    write_log,
)

STARTS_INSTANT, WRITES_LOG, MEETS_ERROR = "flink_job_starts_instant", "flink_job_writes_log", "flink_job_meets_error"
TRIGGERS, PASSES, COMPLETES = (
    "flink_job_triggers_checkpoint",
    "flink_job_passes_barrier",
    "flink_job_completes_checkpoint",
)
HANDLES, DROPS, ABORTS = "flink_job_begins_commit", "flink_job_drops_instant", "flink_job_aborts"
COMMIT_FAILS, UNDOES_FAILED = "flink_job_fails_to_commit", "flink_job_undoes_failed"
TASKS_DIE, MANAGER_DIES, RESTARTS = "flink_job_loses_tasks", "flink_job_loses_manager", "flink_job_restarts"
ROLLS_BACK = "flink_job_rolls_back"

FLINK_JOB = Kind(name="flink_job", prefix="job", first=FlinkJob(), idle_steps=("idle", DOWN))


def compose(composition: Composition) -> None:
    """Add the transitions of every Flink job to a model."""
    jobs = composition.actors_of(FLINK_JOB)
    if not jobs:
        return
    composition.add_component("undone", ())
    composition.map_view(PENDING, pending_instants_of_jobs)
    for me in jobs:
        tasks_work(composition, me)
        coordinator_commits(composition, me)
        job_fails(composition, me)


def tasks_work(composition: Composition, me: str) -> None:
    """Add the steps of the tasks, and of a checkpoint in flight."""
    composition.add(
        transition(STARTS_INSTANT, me, guards=(IS_UP, LOCK_IS_FREE, BATCH_LEFT, NEEDS_INSTANT), effect=start_instant,
                   changes=("own", "clock"), tags=(REQUESTS, READS_CLOCK)),
        transition(WRITES_LOG, me, guards=(IS_UP,), arguments=next_files, effect=write_log, tags=(PUTS_FILE,)),
        transition(TRIGGERS, me, at="idle", guards=(NOTHING_IN_FLIGHT, NOTHING_TO_HANDLE), effect=trigger),
        transition(PASSES, me, guards=(IS_UP,), arguments=tasks_before_barrier, effect=pass_barrier),
        transition(COMPLETES, me, guards=(IS_UP, BARRIER_PASSED), effect=complete),
    )  # fmt: skip


def coordinator_commits(composition: Composition, me: str) -> None:
    """Add the steps by which the coordinator handles a notification, or recommits after a restart."""
    composition.add(
        transition(HANDLES, me, at="idle", guards=(HAS_METADATA,), effect=begin_commit),
        transition(DROPS, me, at="idle", guards=(HAS_NO_METADATA,), effect=drop),
    )  # fmt: skip
    publish = partial(published_commit, me, composition.world)
    publication(composition, Publication("flink_job", me, COMMITTING, publish))
    if has_optimistic_writers(composition.protocol):
        commits = composition.select(COMMITS, actors=[me]).require(NO_CONFLICT)
        commits.exit(lambda _: transition(ABORTS, me, to=ABORTED, guards=(~NO_CONFLICT,), effect=abort,
                                          changes=("own", "lock")).extend(release_lock, "lock"))  # fmt: skip
        composition.add(transition("flink_job_fails_over", me, at=ABORTED, effect=fail_over))


def job_fails(composition: Composition, me: str) -> None:
    """Add the failures of a job, its restarts, and the rollbacks of its instants."""
    by_owner = composition.protocol_of(me)[Flink].flink_rollback == "by_owner"
    limits = composition.world.limits_of(me, FlinkLimits)
    if limits.task_manager_deaths:
        composition.add(transition(TASKS_DIE, me, guards=(IS_UP, TASKS_RUN, TASK_DEATH_LEFT), effect=task_manager_dies))
    if limits.commit_failures:
        composition.add(transition(COMMIT_FAILS, me, guards=(IS_COMMITTING, HOLDS_LOCK, FAILURE_LEFT),
                                   effect=commit_fails, changes=("own", "lock")))  # fmt: skip
    if limits.job_manager_deaths:
        composition.add(
            transition(MANAGER_DIES, me, guards=(IS_UP, TASKS_RUN, MANAGER_DEATH_LEFT), effect=job_manager_dies,
                       changes=("own", "lock")),
            transition(RESTARTS, me, at=DOWN, arguments=usable_checkpoints, effect=job_restarts),
        )  # fmt: skip
    if limits.write_errors:
        late = composition.protocol_of(me)[Flink].write_error == "fails_commit"
        composition.add(transition(MEETS_ERROR, me, guards=(IS_UP, ERROR_LEFT), arguments=next_files,
                                   effect=preset(meet_error, late=late)))  # fmt: skip
        if late:
            composition.add(transition(UNDOES_FAILED, me, at="idle", guards=(HAS_FAILED, LOCK_IS_FREE),
                                       effect=undo_failed, changes=("own", "undone")))  # fmt: skip
    if limits.undone_instants:
        composition.add(transition(ROLLS_BACK, me, guards=(IS_UP, LOCK_IS_FREE, UNDONE_LEFT),
                                   arguments=preset(instants_to_undo, by_owner=by_owner),
                                   effect=undo, changes=("undone",)))  # fmt: skip


def left(count: str, limit: str, reason: str) -> Guard:
    """Return the limit on one kind of failure of a job."""

    def holds(own: FlinkJob, me: str, world: World) -> bool:
        most: int = getattr(world.limits_of(me, FlinkLimits), limit)
        # The limits differ in name only, so one guard is made for each by the names of the counter and of the limit.
        return int(getattr(own.counted, count)) < most

    return Guard(reason, holds, limit=True)


IS_UP = Guard("the JobManager of {me} must be up", lambda own: own.step != DOWN)
TASKS_RUN = Guard("{me} must have begun", lambda own: bool(own.tasks))
BATCH_LEFT = Guard("{me} must have a batch left", batch_is_left, limit=True)
NEEDS_INSTANT = Guard("a task of {me} must need an instant", asking)
NOTHING_IN_FLIGHT = Guard("no checkpoint may be in flight", lambda own: own.triggered is None and bool(own.tasks))
NOTHING_TO_HANDLE = Guard("{me} must have handled the last checkpoint", lambda own: not to_handle(own))
BARRIER_PASSED = Guard("the barrier must have passed all tasks", has_passed)
HAS_METADATA = Guard("an instant with metadata must be handled next", partial(next_is, with_tasks=True))
HAS_NO_METADATA = Guard("an instant without metadata must be handled next", partial(next_is, with_tasks=False))
HAS_FAILED = Guard("an instant with write errors must be handled next", has_failed)
NO_CONFLICT = Guard("no conflicting write may have completed", has_no_conflict)
IS_COMMITTING = Guard("{me} must be under the lock", lambda own: own.step in (UNDER_LOCK, READY))
TASK_DEATH_LEFT = left("task_manager", "task_manager_deaths", "a TaskManager of {me} must be left that may die")
MANAGER_DEATH_LEFT = left("job_manager", "job_manager_deaths", "a death of the JobManager of {me} must be left")
FAILURE_LEFT = left("commits", "commit_failures", "a failing commit of {me} must be left")
ERROR_LEFT = left("errors", "write_errors", "a write error of {me} must be left")
UNDONE_LEFT = limit_left("a rollback must be left", "undone", lambda world: world[FlinkLimits].undone_instants)


def check(world: World) -> None:
    """Raise ValueError for a world in which Flink jobs are not modelled."""
    jobs = world.actors.get(FLINK_JOB.name, 0)
    if jobs and world[Crashes].crashes:
        raise ValueError("world: a flink_job has deaths of its own: use job_manager_deaths and task_manager_deaths")
    if jobs and is_copy_on_write(world):
        raise ValueError("world: a flink_job on a COPY_ON_WRITE table is not modelled")
    for me in (FLINK_JOB.actor(number + 1) for number in range(jobs)):
        numbers = range(1, world.writes_per_writer + 1)
        if len({len(world.files(me, number)) for number in numbers}) > 1:
            raise ValueError(f"world: every batch of {me} needs as many files, one for each of its tasks")


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError for Flink jobs under a decision log, or whose logs are named by base instants."""
    if not world.actors.get(FLINK_JOB.name):
        return
    for part in (protocol[DecisionLog], protocol[Slicing]):
        for name, value in overrides(part).items():
            raise ValueError(f"world: a flink_job under {name} = {value!r} is not modelled; leave one of them out")


MECHANISM = Mechanism(
    compose=compose,
    after=("occ", "completion"),
    kinds=(FLINK_JOB,),
    options=Flink,
    limits=FlinkLimits,
    check=check,
    fit=fit,
    actions=(
        # No action is a data phase: a coordinator with the lock does not wait for the files that its tasks put.
        Action(STARTS_INSTANT, "under the lock: puts the instant for which a task has asked",
               "{actor} starts an instant"),
        Action(WRITES_LOG, "a task puts the file of its part of the batch",
               "task {task} of {actor} writes log version {version} of group {group}"),
        Action(MEETS_ERROR, "a task cannot write a record of its part of the batch",
               "task {task} of {actor} meets an error in group {group}"),
        Action(TRIGGERS, "saves the state of the coordinator and sends a barrier to all tasks",
               "{actor} triggers a checkpoint"),
        Action(PASSES, "a barrier passes a task, which sends the metadata of its file and stores it in its state",
               "the barrier passes task {task} of {actor}"),
        Action(COMPLETES, "all tasks are past the barrier: the checkpoint is reported complete",
               "the checkpoint of {actor} is complete"),
        Action(HANDLES, "handles the notification of a checkpoint, or recommits after a restart",
               "{actor} begins to commit"),
        Action(DROPS, "forgets an instant for which it has no metadata", "{actor} drops an instant"),
        Action(ABORTS, "under the lock: finds a conflicting write; releases the lock and fails",
               "{actor} finds a conflict"),
        Action("flink_job_fails_over", "restores the newest checkpoint in the same JobManager", "{actor} fails over"),
        Action(COMMIT_FAILS, "the store fails during a commit: the job restores its newest checkpoint",
               "the commit of {actor} fails, and it restores its checkpoint"),
        Action(TASKS_DIE, "its tasks restore the newest checkpoint, its coordinator lives",
               "a TaskManager of {actor} dies"),
        Action(MANAGER_DIES, "loses the coordinator and the tasks", "the JobManager of {actor} dies"),
        Action(RESTARTS, "a new JobManager restores a checkpoint",
               "a JobManager of {actor} restores checkpoint {checkpoint}"),
        Action(UNDOES_FAILED, "finds write errors, rolls its instant back, and restores its checkpoint",
               "{actor} rolls its failed instant back"),
        Action(ROLLS_BACK, "its cleaning rolls a pending instant back", "{actor} rolls back a pending instant",
               service=True),
        *publication_actions("flink_job"),
    ),
)  # fmt: skip
