"""The steps by which the coordinator of a Flink job commits an instant or refuses it, and rolls instants back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ...kernel.table import Instant, Write
from ...kernel.timeline import Published
from ...machine.transition import Args, Changes
from ...protocol import Protocol
from ...world import World
from .failover import Undones, is_abandoned, restart_all
from .job import COMMITTING, FlinkJob, UndoneInstant, WriteMetadata, handled
from .options import Flink

Jobs = Mapping[str, FlinkJob]


def next_is(own: FlinkJob, *, with_tasks: bool) -> bool:
    first = next(iter(to_handle(own)), None)
    return first is not None and bool(first.tasks) == with_tasks and not (with_tasks and first.failed)


def begin_commit(own: FlinkJob) -> Changes:
    """Begin to commit the next instant. A recommit renews the heartbeat of the instant again."""
    [first, *_] = to_handle(own)
    # Without duplicates: the job may renew the heartbeat of this instant already.
    renewed = tuple(dict.fromkeys((*own.renewed, first.requested)))
    return {"own": own._replace(step=COMMITTING, requested=first.requested, committed=first, renewed=renewed)}


def conflict_of(own: FlinkJob, me: str, world: World, protocol: Protocol, published: Published) -> int | None:
    """Return the requested time of the first completed write that conflicts with the instant that is being committed;
    None if there is none.
    """
    data = own.committed
    if data is None:
        return None
    everything = data.key in own.recommits and protocol[Flink].recommit_check == "since_beginning"
    groups = set(world.groups_of(me, data.number))
    for entry in published[0 if everything else data.sealed :]:
        if isinstance(entry, Write) and (everything or entry.actor != me) and groups & set(entry.groups):
            return entry.requested
    return None


def abort(own: FlinkJob, me: str, world: World, protocol: Protocol, published: Published) -> Changes:
    return {"own": own._replace(conflict=conflict_of(own, me, world, protocol, published) or 0)}


def has_no_conflict(own: FlinkJob, me: str, world: World, protocol: Protocol, published: Published) -> bool:
    return conflict_of(own, me, world, protocol, published) is None


def has_failed(own: FlinkJob) -> bool:
    return any(each.failed for each in to_handle(own)[:1])


def instants_to_undo(every_flink_job: Jobs, own: FlinkJob, undone: Undones, by_owner: bool) -> Iterator[Args]:
    """Yield the pending instants that a job may roll back: its own that it will never commit, or those of any job whose
    heartbeat no live JobManager renews.
    """
    gone = {each.requested for each in undone}
    for job in (own,) if by_owner else every_flink_job.values():
        for instant in job.instants:
            # A heartbeat that nothing renews is the only sign of death that another job has.
            if instant not in gone and (is_abandoned(job, instant) if by_owner else instant not in job.renewed):
                yield (("instant", (instant,)),)


def pending_instants_of_jobs(
    pending_instants: Iterable[Instant], every_flink_job: Jobs, undone: Undones
) -> Iterator[Instant]:
    """Add the pending instants of Flink jobs to the view `pending_instants`."""
    yield from pending_instants
    gone = {each.requested for each in undone}
    for job in every_flink_job.values():
        yield from (Instant(each, "deltacommit", "inflight", None) for each in job.instants if each not in gone)


def undo(undone: Undones, *, instant: tuple[int, ...]) -> Changes:
    """Roll back a pending instant: delete its files, then the instant."""
    return {"undone": (*undone, UndoneInstant(instant[0]))}


def undo_failed(own: FlinkJob, undone: Undones) -> Changes:
    """Roll back an instant with write errors, and fail the job. The coordinator keeps the metadata."""
    # Another job may have rolled the instant back already. The job fails all the same.
    found = next(each for each in to_handle(own) if each.failed)
    known = {each.requested for each in undone}
    more = () if found.requested in known else (UndoneInstant(found.requested, by_service=False),)
    return {"own": restart_all(own), "undone": (*undone, *more)}


def to_handle(own: FlinkJob) -> tuple[WriteMetadata, ...]:
    """Return the instants that the coordinator handles next, first those that it recommits."""
    # First: they are of earlier batches than what a notification commits.
    recommitted = tuple(each for each in own.memory if each.key in own.recommits)
    return recommitted or tuple(each for each in own.memory if each.key < own.notified)


def drop(own: FlinkJob) -> Changes:
    """Forget an instant without metadata. Its heartbeat stops."""
    [first, *_] = to_handle(own)
    left = tuple(each for each in own.memory if each.key != first.key)
    renewed = tuple(each for each in own.renewed if each != first.requested)
    return {"own": handled(own._replace(memory=left, renewed=renewed))}
