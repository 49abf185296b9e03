"""What a Flink job does after a failure.

If a TaskManager dies, all tasks restore the newest checkpoint. The coordinator lives, and forgets the metadata that
the tasks will send again. If a commit fails, the coordinator also restores the state that it saved in the checkpoint.
If the JobManager dies, all that is in memory is lost. A new JobManager restores a checkpoint: its coordinator recommits
the pending instants whose metadata is in the states of the coordinator and of the tasks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...kernel.lock import released
from ...machine.transition import Args, Changes
from ...protocol import Protocol
from ...world import World
from .job import (
    DOWN,
    NO_CHECKPOINT,
    FlinkCheckpoint,
    FlinkJob,
    FlinkTask,
    UndoneInstant,
    WriteMetadata,
    with_metadata,
)
from .options import Flink, FlinkLimits

Undones = tuple[UndoneInstant, ...]


def newest_checkpoint(own: FlinkJob) -> FlinkCheckpoint:
    return own.checkpoints[-1] if own.checkpoints else FlinkCheckpoint(NO_CHECKPOINT)


def restored(checkpoint: FlinkCheckpoint, own: FlinkJob, known: int) -> tuple[FlinkTask, ...]:
    """Return the tasks after they have restored a checkpoint."""
    return (FlinkTask(known, checkpoint.number),) * len(own.tasks)


def restart_tasks(own: FlinkJob) -> FlinkJob:
    """Let all tasks restore the newest checkpoint. The coordinator forgets the metadata under its id and later ids,
    because the tasks will send it again. It keeps the metadata under earlier ids, which the checkpoint covers.
    """
    newest = newest_checkpoint(own)
    # The instant stays, and only its metadata goes: the tasks put their files again under the same instant.
    memory = tuple(each._replace(tasks=(), failed=False) if each.key >= newest.id else each for each in own.memory)
    tasks = restored(newest, own, newest.id)
    return own._replace(memory=memory, tasks=tasks, triggered=None)


def restart_all(own: FlinkJob) -> FlinkJob:
    """Let the coordinator and the tasks restore the newest checkpoint in a JobManager that lives. What the coordinator
    saved replaces what it has in memory. The notification of the checkpoint does not come again.
    """
    # Metadata that came after the checkpoint survives, because this JobManager did not die.
    memory = with_metadata(own.memory, *newest_checkpoint(own).saved)
    stopped = own._replace(step="idle", requested=0, completed=0, committed=None, conflict=0, notified=0)
    return restart_tasks(stopped._replace(memory=memory, recommits=()))


def task_manager_dies(own: FlinkJob) -> Changes:
    counted = own.counted._replace(task_manager=own.counted.task_manager + 1)
    return {"own": restart_tasks(own._replace(counted=counted))}


def commit_fails(own: FlinkJob, me: str, lock: str | None) -> Changes:
    """Let the store fail under the lock. The coordinator releases the lock and fails the job."""
    counted = own.counted._replace(commits=own.counted.commits + 1)
    return {"own": restart_all(own._replace(counted=counted)), "lock": released(lock, me)}


def fail_over(own: FlinkJob) -> Changes:
    return {"own": restart_all(own)}


def job_manager_dies(own: FlinkJob, me: str, lock: str | None) -> Changes:
    """Let the JobManager die, and its tasks with it. Its lock expires in the same step."""
    counted = own.counted._replace(job_manager=own.counted.job_manager + 1)
    # The tasks stay for their number alone; `job_restarts` replaces their states.
    kept = FlinkJob(DOWN, tasks=own.tasks, instants=own.instants, checkpoints=own.checkpoints, newest=own.newest,
                    counted=counted, records=own.records)  # fmt: skip
    return {"own": kept, "lock": released(lock, me)}


def usable_checkpoints(
    own: FlinkJob, me: str, world: World, protocol: Protocol, published: tuple[object, ...]
) -> Iterable[Args]:
    """Yield the id of each checkpoint that a new JobManager may restore; 0 if it starts without one."""
    newest = newest_checkpoint(own)
    yield (("checkpoint", newest.id),)
    # An older checkpoint is what an operator may choose by hand, for example a savepoint of Flink.
    accepted = protocol[Flink].older_checkpoint == "accepted"
    if accepted and own.counted.older < world.limits_of(me, FlinkLimits).older_restarts:
        yield from ((("checkpoint", each.id),) for each in own.checkpoints[:-1])


def job_restarts(own: FlinkJob, protocol: Protocol, undone: Undones, *, checkpoint: int) -> Changes:
    """Start a new JobManager from a checkpoint. It recommits the pending instants whose metadata was saved. A job that
    starts from an older checkpoint forgets the later ones.
    """
    lineage = tuple(each for each in own.checkpoints if each.id <= checkpoint)
    found = lineage[-1] if lineage else FlinkCheckpoint(NO_CHECKPOINT)
    pending = pending_of(own, undone)
    # An instant that was completed or rolled back since the checkpoint must not be committed from it again.
    usable = (each for each in saved_metadata(found) if each.tasks and each.requested in pending)
    memory = with_metadata((), *usable)
    known = found.id if protocol[Flink].restored_id == "of_checkpoint" else NO_CHECKPOINT
    counted = own.counted._replace(older=own.counted.older + (found.id < newest_checkpoint(own).id))
    return {"own": own._replace(step="idle", memory=memory, recommits=tuple(each.key for each in memory),
                                tasks=restored(found, own, known), checkpoints=lineage, counted=counted)}  # fmt: skip


def pending_of(own: FlinkJob, undone: Undones) -> set[int]:
    """Return the instants of a job that are on the timeline and not complete."""
    return {*own.instants} - {each.requested for each in undone}


def saved_metadata(checkpoint: FlinkCheckpoint) -> Iterator[WriteMetadata]:
    """Yield the metadata in the states of the coordinator and of the tasks."""
    yield from checkpoint.saved
    if checkpoint.written is not None:
        yield checkpoint.written


def is_abandoned(own: FlinkJob, requested: int) -> bool:
    """True if a live job will never commit a pending instant of its own."""
    # A job that is down may still find the metadata in a checkpoint when it restarts.
    return own.step != DOWN and all(each.requested != requested for each in own.memory)
