"""A rollbacker (rollback actor) plans a rollback under the lock, runs it without the lock, and publishes it.

RFC-22, "Inline rollback", describes a lazy and an eager policy for failed writes. Under `failed_writes = lazy`, pending
writes whose heartbeat has expired are rolled back. Under `failed_writes = eager`, all pending writes are rolled back,
because the table has only one writer process. A rollback deletes data files first and then the instant, so that an
interrupted rollback can be resumed. Any rollbacker may resume a planned rollback, and several may do so at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import TakeTime
from ...kernel.compactor import PLANS
from ...kernel.lock import LOCK_IS_FREE, release_lock
from ...kernel.publication import (
    BEGINS,
    COMMITS,
    READY,
    UNDER_LOCK,
    Publication,
    publication,
    publication_actions,
)
from ...kernel.table import Write
from ...kernel.timeline import Published, add_pending_plans
from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.plans import STARTS_PLAN, Planner
from ...machine.transition import DEAD, Action, Args, Changes, Guard, become, limit_left, preset, record_of, transition
from ...protocol import Protocol
from ...variants.completion import Completion
from ...world import World
from ..decision_log import ALL_PUBLISHED, DecisionLog, Decisions, is_caught_up
from ..restores.rules import Restore, is_gone, is_undone
from .heartbeat import Heartbeat, renewing
from .rules import Failures, Rollback, Rollbacks, RolledBack, is_on_timeline

ROLLBACKER_STARTS_ROLLBACK = "rollbacker_starts_rollback"
ROLLBACKER_RESUMES_ROLLBACK = "rollbacker_resumes_rollback"
ROLLBACKER_REMOVES_INSTANT = "rollbacker_removes_instant"

Plans = tuple[Rollback, ...]
Restores = tuple[Restore, ...]
Writers = Mapping[str, Writer]

CHOSEN, PLANNED, UNDOING = "about to plan", "about to start its rollback", "undoing"


class Rollbacker(NamedTuple):
    """The state of one rollbacker (rollback actor). `rollback` is the requested time of the rollback, and `target` that
    of the failed write.

    `files` contains the files that the rollbacker must delete: the failed write's files without the first `first`,
    which an earlier rollback has deleted. `done` counts the files that the rollbacker has deleted.
    """

    step: str = "idle"
    rollback: int = 0
    target: int = 0
    first: int = 0
    files: tuple[tuple[int, int], ...] = ()
    done: int = 0
    completed: int = 0
    records: tuple[Any, ...] = ()


ROLLBACKER = Kind(name="rollbacker", prefix="roll", first=Rollbacker(), in_random_worlds=(0, 0, 0, 1, 2), service=True)


class Undoing(NamedTuple):
    """Marks an actor that undoes writes. `target` is the name of the field that contains the requested time of the
    write to undo.
    """

    actor: str
    target: str


def compose(composition: Composition) -> None:
    """Add the transitions of every rollbacker (rollback actor) to a model."""
    # Without heartbeats a rollbacker finds no failed write, so it need not read the writers: a preset mapping without
    # writers keeps them out of its footprint. A step of a writer that no other actor reads is private, and the search
    # combines it with the writer's next visible step.
    unread: dict[str, Writers] = {} if renewing(composition) else {"every_writer": {}}
    pending = Guard("a rollback must be pending", pending_rollback)
    exclusive = composition.protocol[Rollbacks].rollback_plans == "exclusive"
    resumes = (pending, NOT_RUN_BY_ANOTHER) if exclusive else (pending,)
    for me in composition.actors_of(ROLLBACKER):
        _plans(composition, me, unread)
        composition.add(
            transition(ROLLBACKER_STARTS_ROLLBACK, me, at=PLANNED, guards=(NOT_COMPLETED,),
                       effect=preset(start_own, **unread), changes=("own", "rollbacks"), tags=(STARTS_PLAN,)),
            transition(ROLLBACKER_RESUMES_ROLLBACK, me, at="idle", guards=resumes,
                       effect=preset(resume, **unread), changes=("own", "rollbacks")),
            transition("rollbacker_deletes_log", me, at=UNDOING, effect=delete_log, arguments=next_file,
                       changes=("own", "rollbacks")),
            transition(ROLLBACKER_REMOVES_INSTANT, me, at="undone", to="removed", guards=(LOCK_IS_FREE,),
                       effect=preset(remove_instant, **unread), changes=("own", "rollbacks")),
        )  # fmt: skip
        _completes(composition, me)
    add_pending_plans(composition, "rollbacks", "rollback", lambda entry: True)


def _plans(composition: Composition, me: str, unread: Mapping[str, Writers]) -> None:
    protocol = composition.protocol
    parameters = {**unread, "table_protocol": protocol}
    there = Guard("a write must be pending whose heartbeat has expired", preset(failed_write, **parameters))
    action, changes = "rollbacker_plans_rollback", ("own", "clock")
    if protocol[Rollbacks].rollback_check == "before_lock":
        composition.add(
            transition("rollbacker_chooses_write", me, at="idle", to=CHOSEN, guards=(ROLLBACK_LEFT, there),
                       effect=preset(choose_write, **parameters)),
            transition(action, me, at=CHOSEN, guards=(LOCK_IS_FREE, ROLLBACK_LEFT), effect=take_time,
                       changes=changes).extend(put_plan, "rollbacks"),
        )  # fmt: skip
        return
    plans = transition(action, me, at="idle", to=PLANNED, guards=(LOCK_IS_FREE, ROLLBACK_LEFT, there),
                       effect=preset(choose_and_take_time, **parameters), changes=changes, tags=(PLANS,))  # fmt: skip
    composition.add(plans.extend(put_plan, "rollbacks"))
    composition.register(Planner("rollbacker", me, action, "rollbacks", "rollback", become(Rollbacker())))


def _completes(composition: Composition, me: str) -> None:
    logged = composition.protocol[DecisionLog].decision == "log"
    outside = composition.protocol_of(me)[Completion].completion_time == "outside_lock"
    last = UNDER_LOCK if logged else READY if outside else "removed"
    looks = Guard("{me} must be about to start or to complete its rollback", preset(is_about_to, last=last))
    free = Guard("the lock must be free, unless it starts or has it", lock_is_not_in_the_way)
    finds = transition("rollbacker_finds_it_done", me, guards=(looks, free, IS_COMPLETED), effect=become(Rollbacker()))
    finds = finds.extend(release_lock, "lock") if logged or outside else finds
    composition.add(finds.require(CAUGHT_UP) if logged else finds)
    publish = partial(published_rollback, me)
    publication(composition, Publication("rollbacker", me, "removed", publish, "rollback"))
    composition.select(COMMITS if logged or outside else BEGINS, actors=[me]).require(NOT_COMPLETED)
    composition.register(Undoing(me, "target"))


ROLLBACK_LEFT = limit_left("a rollback must be left", "rollbacks", lambda world: world[Failures].rollbacks)


def failed_write(
    published: Published, rollbacks: Plans, every_writer: Writers, table_protocol: Protocol, restores: Restores = ()
) -> int | None:
    """Return the requested time of the oldest failed write without a pending rollback; None if there is none."""
    done = {entry.requested for entry in published}
    at_work = {rollback.target for rollback in rollbacks if rollback.requested not in done}
    if table_protocol[Rollbacks].rollback_plans == "several":
        at_work = set()
    found = (
        writer.requested
        for writer in every_writer.values()
        if (record_of(writer, Heartbeat).expired or table_protocol[Rollbacks].failed_writes == "eager")
        and writer.requested not in at_work | done
        and is_on_timeline(writer, rollbacks)
        and not is_undone(restores, writer.requested)
    )
    return min(found, default=None)


def choose_write(
    published: Published, rollbacks: Plans, every_writer: Writers, table_protocol: Protocol, restores: Restores = ()
) -> Changes:
    """Choose the oldest failed write without a pending rollback."""
    return {"own": Rollbacker(target=failed_write(published, rollbacks, every_writer, table_protocol, restores) or 0)}


def choose_and_take_time(
    clock: int, request_time: TakeTime, published: Published, rollbacks: Plans, every_writer: Writers,
    table_protocol: Protocol, restores: Restores = (),
) -> Changes:  # fmt: skip
    """Choose the oldest failed write without a pending rollback, and obtain a requested time for its rollback."""
    target = failed_write(published, rollbacks, every_writer, table_protocol, restores) or 0
    time, clock = request_time(clock, action="rollback")
    return {"own": Rollbacker(rollback=time, target=target), "clock": clock}


def take_time(own: Rollbacker, clock: int, request_time: TakeTime) -> Changes:
    time, clock = request_time(clock, action="rollback")
    return {"own": own._replace(rollback=time), "clock": clock}


def put_plan(own: Rollbacker, me: str, rollbacks: Plans) -> Changes:
    return {"own": own._replace(step=PLANNED), "rollbacks": (*rollbacks, Rollback(own.rollback, own.target, me))}


def pending_rollback(published: Published, rollbacks: Plans) -> Rollback | None:
    """Return the oldest planned rollback that has not completed; None if all have completed."""
    done = {entry.requested for entry in published}
    return next((rollback for rollback in rollbacks if rollback.requested not in done), None)


def is_run(published: Published, rollbacks: Plans, every_rollbacker: Mapping[str, Rollbacker]) -> bool:
    """True if a live rollbacker runs the oldest pending rollback, or is about to. Hudi reads its heartbeat."""
    found = pending_rollback(published, rollbacks)
    alive = (each for each in every_rollbacker.values() if each.step != DEAD)
    return found is not None and any(each.rollback == found.requested for each in alive)


NOT_RUN_BY_ANOTHER = Guard("no live rollbacker may run the oldest pending rollback", is_run, negated=True)


def start_own(
    own: Rollbacker, world: World, published: Published, rollbacks: Plans, every_writer: Writers,
    restores: Restores = (),
) -> Changes:  # fmt: skip
    """Put the inflight instant of the rollback on the timeline, and list the files of the failed write."""
    mine = next(each for each in rollbacks if each.requested == own.rollback)
    return started(mine, world, published, rollbacks, every_writer, restores)


def resume(
    world: World, published: Published, rollbacks: Plans, every_writer: Writers, restores: Restores = ()
) -> Changes:
    """Resume a pending rollback, possibly one planned by another rollbacker."""
    found = pending_rollback(published, rollbacks)
    assert found is not None, "the guard saw the same rollbacks"
    return started(found, world, published, rollbacks, every_writer, restores)


def started(
    found: Rollback, world: World, published: Published, rollbacks: Plans, writers: Writers, restores: Restores
) -> Changes:
    """Start or resume a rollback: list the files of the failed write, and make the rollback's instant inflight."""
    # A write can be rolled back twice, if its writer puts its instant again. Files deleted the first time are not
    # counted again.
    first = max(each.forgotten for each in rollbacks if each.target == found.target)
    # A restore has deleted the files already.
    files = () if is_gone(restores, found.target) else files_of(found.target, world, published, writers)[first:]
    own = Rollbacker(UNDOING if files else "undone", found.requested, found.target, first, files)
    return {"own": own, "rollbacks": tuple(r._replace(inflight=True) if r == found else r for r in rollbacks)}


def files_of(target: int, world: World, published: Published, writers: Writers) -> tuple[tuple[int, int], ...]:
    """Return the files that the write requested at `target` has put, whether or not it is published."""
    completed = next((e.files for e in published if isinstance(e, Write) and e.requested == target), ())
    pending = (
        world.files(name, writer.number)[: writer.files]
        for name, writer in writers.items()
        if writer.requested == target
    )
    return completed or next(pending, ())


def next_file(own: Rollbacker) -> Iterable[Args]:
    group, version = own.files[own.done]
    return ((("group", group), ("version", version)),)


def one_more(own: Rollbacker) -> Rollbacker:
    return own._replace(step="undone" if own.done + 1 == len(own.files) else UNDOING, done=own.done + 1)


def delete_log(own: Rollbacker, rollbacks: Plans) -> Changes:
    """Delete one log file of the failed write."""
    own = one_more(own)
    deleted = own.first + own.done
    return {"own": own, "rollbacks": tuple(
        each._replace(deleted=max(each.deleted, deleted)) if each.requested == own.rollback else each
        for each in rollbacks
    )}  # fmt: skip


def remove_instant(own: Rollbacker, rollbacks: Plans, every_writer: Writers) -> Changes:
    """Under the lock, remove the instant of the failed write from the timeline. If the write must be rolled back again,
    the next rollback skips the files that this rollback has deleted.
    """
    # A writer that has given up or begun another write no longer shows the state of this one.
    state = next((w.state for w in every_writer.values() if w.requested == own.target), "inflight")
    last = own.first + len(own.files)
    return {"rollbacks": tuple(
        each._replace(removed=state, forgotten=max(each.forgotten, last)) if each.requested == own.rollback else each
        for each in rollbacks
    )}  # fmt: skip


def is_completed(own: Rollbacker, published: Published) -> bool:
    return any(entry.requested == own.rollback for entry in published)


IS_COMPLETED = Guard("another rollbacker must have completed its rollback", is_completed)
NOT_COMPLETED = Guard("no other rollbacker may have completed its rollback", is_completed, negated=True)


def is_about_to(own: Rollbacker, last: str) -> bool:
    return own.step in (PLANNED, last)


def lock_is_not_in_the_way(own: Rollbacker, me: str, lock: str | None) -> bool:
    return lock in (None, me) or own.step in (PLANNED, UNDER_LOCK)


def starts_or_is_caught_up(own: Rollbacker, decisions: Decisions, published: Published) -> bool:
    return own.step == PLANNED or is_caught_up(decisions, published)


CAUGHT_UP = Guard(ALL_PUBLISHED.reason, starts_or_is_caught_up)


def published_rollback(me: str, own: Rollbacker) -> tuple[Rollbacker, RolledBack]:
    return Rollbacker(), RolledBack(own.rollback, own.completed, me)


ACTIONS = (
    Action("rollbacker_chooses_write", "reads the timeline and the heartbeats without the lock",
           "{actor} chooses a failed write"),
    Action("rollbacker_plans_rollback", "under the lock: finds a failed write, takes a requested time, puts the plan",
           "{actor} plans the rollback of a failed write"),
    Action(ROLLBACKER_STARTS_ROLLBACK, "puts the inflight instant of its rollback and lists the write's files",
           "{actor} starts its rollback"),
    Action(ROLLBACKER_RESUMES_ROLLBACK, "resumes a pending rollback of another rollbacker",
           "{actor} resumes a pending rollback"),
    Action("rollbacker_deletes_log", "deletes one log file", "{actor} deletes log version {version} of group {group}",
           continues_call=True, data_phase=True),
    Action(ROLLBACKER_REMOVES_INSTANT, "under the lock: takes the failed write's instant off the timeline",
           "{actor} takes the failed write off the timeline", continues_call=True),
    Action("rollbacker_finds_it_done", "finds that another rollbacker has completed the rollback",
           "{actor} finds its rollback completed"),
    *publication_actions("rollbacker", within_call=True),
)  # fmt: skip
