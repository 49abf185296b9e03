"""The state of a Flink job: its coordinator in the JobManager, its tasks, and its checkpoints.

The source is cut into batches by checkpoints: batch `n` has the rows between the barriers of checkpoints `n - 1` and
`n`. A task asks the coordinator for an instant under the id of the last checkpoint that the task knows (the *key*).
The task puts the file of its part of the batch, and sends the metadata of the file when the barrier of the next
checkpoint passes it. The metadata is also in the state of the task, which is part of the checkpoint. A checkpoint whose
barrier has passed all tasks is complete: the source is never read again before it. Its notification then commits the
instant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ...kernel.table import Write
from ...machine.marks import in_shapes, mark, marks
from ...machine.transition import DEAD
from ...world import World

NO_CHECKPOINT = 0
"""The id of the last checkpoint that a task knows, if it knows none."""

DOWN = DEAD
"""The step of a job whose JobManager has died. A new JobManager may start."""
COMMITTING = "about to commit an instant"


class WriteMetadata(NamedTuple):
    """What the coordinator knows of one instant. `key` is the id of the checkpoint under which the tasks asked for it,
    and `number` the batch. `tasks` are the tasks whose metadata it has. `sealed` is the number of completed instants
    when it was requested. `failed` is True if a task could not write a record.
    """

    key: int
    requested: int
    number: int
    sealed: int = 0
    tasks: tuple[int, ...] = ()
    failed: bool = False


class FlinkTask(NamedTuple):
    """One task. `known` is the id of the last checkpoint that it knows, `read` the number of batches before its last
    barrier. `wrote` is True if it has put its file of the next batch.
    """

    known: int = NO_CHECKPOINT
    read: int = 0
    wrote: bool = False


class FlinkCheckpoint(NamedTuple):
    """A checkpoint. `number` is the last batch before its barrier. `written` is the metadata in the state of its tasks,
    `saved` the state of the coordinator, and `passed` the tasks that the barrier has passed.
    """

    id: int
    number: int = 0
    written: WriteMetadata | None = None
    saved: tuple[WriteMetadata, ...] = ()
    passed: tuple[int, ...] = ()


class Counted(NamedTuple):
    """How many failures of each kind a job has had."""

    job_manager: int = 0
    task_manager: int = 0
    commits: int = 0
    errors: int = 0
    older: int = 0


class FlinkJob(NamedTuple):
    """The state of one job. `step` is the step of the coordinator, which handles one event at a time.

    In the JobManager: `memory` is the metadata in the coordinator. `triggered` is the checkpoint in flight, `notified`
    the id of a complete checkpoint whose notification is not handled yet. `recommits` lists the keys of the instants to
    be recommitted, `renewed` the instants whose heartbeat it renews. `requested`, `completed` and `committed` belong to
    the instant that is being committed.

    In durable storage: `instants` are the pending instants, `checkpoints` the complete checkpoints, without those after
    an older one from which the job started again. `newest` is the id of the newest checkpoint.
    """

    step: str = "idle"
    requested: int = 0
    completed: int = 0
    committed: WriteMetadata | None = None
    conflict: int = 0
    memory: tuple[WriteMetadata, ...] = ()
    tasks: tuple[FlinkTask, ...] = ()
    triggered: FlinkCheckpoint | None = None
    notified: int = 0
    recommits: tuple[int, ...] = ()
    renewed: tuple[int, ...] = ()
    instants: tuple[int, ...] = ()
    checkpoints: tuple[FlinkCheckpoint, ...] = ()
    newest: int = 0
    counted: Counted = Counted()
    records: tuple[Any, ...] = ()


class UndoneInstant(NamedTuple):
    """A rolled back instant of a Flink job. `by_service` is False if its own commit found write errors."""

    requested: int
    by_service: bool = True


@in_shapes("previous", "kind")
class OfCheckpoint(NamedTuple):
    """Marks a commit of a Flink job. `previous` is the id of the checkpoint before the rows, as the commit names it."""

    previous: int = NO_CHECKPOINT
    kind: str = "of a checkpoint"


def started(own: FlinkJob, me: str, world: World) -> tuple[FlinkTask, ...]:
    """Return the tasks of a job. A job has one task for each file of a batch."""
    # Made at the first step only: the initial state of a job is the same in every world, however many tasks it has.
    return own.tasks or (FlinkTask(),) * len(world.files(me, 1))


def metadata_of(memory: Iterable[WriteMetadata], key: int) -> WriteMetadata | None:
    """Return the metadata under a key; None if there is none."""
    return next((each for each in memory if each.key == key), None)


def with_metadata(memory: tuple[WriteMetadata, ...], *changed: WriteMetadata) -> tuple[WriteMetadata, ...]:
    """Return the metadata in ascending order of key, with some entries added or replaced."""
    return tuple(sorted({**{each.key: each for each in memory}, **{each.key: each for each in changed}}.values()))


def without_key(memory: tuple[WriteMetadata, ...], key: int) -> tuple[WriteMetadata, ...]:
    return tuple(each for each in memory if each.key != key)


def handled(own: FlinkJob) -> FlinkJob:
    """Return the job after its coordinator has handled one instant: a notification ends with its last instant."""
    # A notification commits one instant at a time, and stays until the last of them is handled.
    left = any(each.key < own.notified for each in own.memory)
    return own._replace(notified=own.notified if left else 0)


def commit_of(me: str, world: World, own: FlinkJob) -> Write:
    """Return the completed instant of the batch that is being committed, with the files of the tasks whose metadata the
    coordinator has.
    """
    data = own.committed
    assert data is not None, "only an instant that is being committed is published"
    files = world.files(me, data.number)
    held = tuple(files[task] for task in data.tasks)
    return Write(own.requested, own.completed, me, data.number, held, marks(OfCheckpoint(data.key)))


def published_commit(me: str, world: World, own: FlinkJob) -> tuple[FlinkJob, Write]:
    """Return the state of the job after it has published, and the completed instant."""
    write = commit_of(me, world, own)
    return ended(own), write


def ended(own: FlinkJob) -> FlinkJob:
    """Return the job without the instant that it was committing."""
    data = own.committed
    assert data is not None
    return handled(own._replace(
        step="idle", requested=0, completed=0, committed=None, memory=without_key(own.memory, data.key),
        recommits=tuple(key for key in own.recommits if key != data.key),
        renewed=tuple(each for each in own.renewed if each != data.requested),
        instants=tuple(each for each in own.instants if each != data.requested),
    ))  # fmt: skip


# What the promises ask.


def previous_checkpoint(write: Write) -> int:
    """Return the id of the checkpoint before the rows of a commit, as the commit names it."""
    return mark(write, OfCheckpoint).previous


def holders(own: FlinkJob, undone: Iterable[UndoneInstant]) -> Iterator[WriteMetadata]:
    """Yield the metadata from which the job can still commit: in the coordinator, and in the newest checkpoint."""
    # A job does not learn of a rollback: its metadata may still name an instant whose files are deleted.
    gone = {each.requested for each in undone}
    newest = own.checkpoints[-1] if own.checkpoints else FlinkCheckpoint(0)
    for each in (*own.memory, newest.written, *newest.saved):
        if each is not None and each.requested not in gone:
            yield each


def lost_batch(
    own: FlinkJob, me: str, world: World, published: Iterable[Any], undone: Iterable[UndoneInstant]
) -> int | None:
    """Return the first batch of a completed checkpoint of which rows are neither in the table, nor read again, nor held
    by metadata from which they can be committed; None if there is none.
    """
    reported = own.checkpoints[-1].number if own.checkpoints else 0
    done = {(write.number, file) for write in published if isinstance(write, Write) and write.actor == me
            for file in write.files}  # fmt: skip
    held = {(each.number, world.files(me, each.number)[task]) for each in holders(own, undone) for task in each.tasks}
    for number in range(1, reported + 1):
        # A dead job reads nothing again until it restarts from a checkpoint, and then from `reported` on.
        again = own.step != DOWN and any(task.read < number for task in own.tasks)
        if not again and any((number, file) not in done | held for file in world.files(me, number)):
            return number
    return None
