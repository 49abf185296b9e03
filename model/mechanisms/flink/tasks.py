"""The steps of the tasks of a Flink job, and of a checkpoint in flight.

The coordinator saves its state when it triggers a checkpoint. The barrier passes one task after the other. A task that
is past the barrier goes on with the next batch, before the checkpoint is complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...kernel.clock import TakeTime
from ...kernel.timeline import Published
from ...machine.transition import Args, Changes
from ...protocol import Protocol
from ...world import World
from .failover import restart_tasks
from .job import FlinkCheckpoint, FlinkJob, FlinkTask, WriteMetadata, handled, metadata_of, started, with_metadata
from .options import Flink


def batch_is_left(own: FlinkJob, me: str, world: World) -> bool:
    # The slowest task: the others are at most one batch ahead, because a barrier must pass them all.
    return min(task.read for task in started(own, me, world)) < world.writes_per_writer


def asking(own: FlinkJob, me: str, world: World) -> FlinkTask | None:
    """Return a task that has a batch to write and asks for an instant; None if there is none."""
    for task in started(own, me, world):
        if task.read < world.writes_per_writer and not task.wrote and metadata_of(own.memory, task.known) is None:
            return task
    return None


def start_instant(
    own: FlinkJob, me: str, world: World, clock: int, request_time: TakeTime, published: Published
) -> Changes:
    """Put the requested and the inflight instant under the id of the last checkpoint that the task knows."""
    task = asking(own, me, world)
    assert task is not None
    time, clock = request_time(clock, action="deltacommit")
    # Under the id that the task knows, not the newest: after a checkpoint, two tasks may ask under different ids.
    memory = with_metadata(own.memory, WriteMetadata(task.known, time, task.read + 1, len(published)))
    after = own._replace(memory=memory, tasks=started(own, me, world), renewed=(*own.renewed, time),
                         instants=(*own.instants, time))  # fmt: skip
    return {"own": after, "clock": clock}


def next_files(own: FlinkJob, me: str, world: World) -> Iterable[Args]:
    """Yield each task that has an instant for its next batch, with the file that it puts."""
    for number, task in enumerate(own.tasks):
        data = metadata_of(own.memory, task.known)
        # The number is compared because the coordinator may hold the instant of another batch under this id.
        if data is not None and not task.wrote and data.number == task.read + 1:
            group, version = world.files(me, data.number)[number]
            yield (("task", number + 1), ("group", group), ("version", version))


def write_log(own: FlinkJob, *, task: int, group: int, version: int) -> Changes:
    return {"own": own._replace(tasks=changed(own.tasks, task - 1, own.tasks[task - 1]._replace(wrote=True)))}


def meet_error(own: FlinkJob, late: bool, *, task: int, group: int, version: int) -> Changes:
    """Let a task fail to write a record: the task fails at once, or the metadata of the instant says so."""
    own = own._replace(counted=own.counted._replace(errors=own.counted.errors + 1))
    if not late:
        return {"own": restart_tasks(own)}
    this = own.tasks[task - 1]
    data = metadata_of(own.memory, this.known)
    assert data is not None
    # The task goes on as if it had written. The coordinator finds the error only when it would commit.
    memory = with_metadata(own.memory, data._replace(failed=True))
    return {"own": own._replace(memory=memory, tasks=changed(own.tasks, task - 1, this._replace(wrote=True)))}


def changed(tasks: tuple[FlinkTask, ...], number: int, task: FlinkTask) -> tuple[FlinkTask, ...]:
    return (*tasks[:number], task, *tasks[number + 1 :])


def trigger(own: FlinkJob, protocol: Protocol) -> Changes:
    """Save the state of the coordinator, and send a barrier to all tasks."""
    everything = protocol[Flink].coordinator_state == "all"
    # Before the barrier is sent: what tasks report from now on is in their own states, not in the coordinator's.
    saved = tuple(each for each in own.memory if everything or len(each.tasks) == len(own.tasks))
    return {"own": own._replace(triggered=FlinkCheckpoint(own.newest + 1, saved=saved), newest=own.newest + 1)}


def tasks_before_barrier(own: FlinkJob) -> Iterator[Args]:
    """Yield each task that the barrier in flight has not passed, and that has put its file."""
    for number, task in enumerate(own.tasks):
        waits = own.triggered is not None and number not in own.triggered.passed
        if waits and task.wrote and metadata_of(own.memory, task.known) is not None:
            yield (("task", number + 1),)


def pass_barrier(own: FlinkJob, *, task: int) -> Changes:
    """Send the metadata of the task's file, store it in the state of the task, and go on with the next batch."""
    this, flight = own.tasks[task - 1], own.triggered
    data = metadata_of(own.memory, this.known)
    assert flight is not None
    assert data is not None
    data = data._replace(tasks=tuple(sorted({*data.tasks, task - 1})))
    # The state of each task has its own metadata alone; together they have that of all tasks.
    passed = tuple(sorted((*flight.passed, task - 1)))
    flight = flight._replace(passed=passed, number=data.number, written=data._replace(tasks=passed))
    tasks = changed(own.tasks, task - 1, FlinkTask(flight.id, this.read + 1))
    return {"own": own._replace(memory=with_metadata(own.memory, data), triggered=flight, tasks=tasks)}


def has_passed(own: FlinkJob) -> bool:
    return own.triggered is not None and len(own.triggered.passed) == len(own.tasks)


def complete(own: FlinkJob) -> Changes:
    """Complete the checkpoint: the source is never read again before it. The coordinator is to be notified."""
    assert own.triggered is not None
    # Who has passed no longer matters, and states that differ in nothing else must be equal.
    done = own.triggered._replace(passed=())
    after = own._replace(triggered=None, checkpoints=(*own.checkpoints, done), notified=done.id)
    return {"own": handled(after)}
