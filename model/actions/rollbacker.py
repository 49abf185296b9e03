"""Rollback of failed writes: planned under the lock, carried out apart, by anybody, twice, by another after a death.

RFC-22, "Inline rollback": a cleaner looks at the pending writes on the timeline and rolls back those whose heartbeat
has expired (LAZY); a single writer rolls back whatever is pending (EAGER). Data files go first, then the instant, so
that what is left of a failed write can be recognised; the plan stays on the timeline, for whoever goes on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..files.shared_log import LOGS, Block, Blocks, appended, is_shared
from ..services.restoring import is_gone
from ..step import Action, Args, Guard, Row
from ..table import Instant, Restore, Rollback, RolledBack, Write, is_undone
from ..timeline.decisions import ALL_PUBLISHED, caught_up, undecided
from ..timeline.publication import (
    READY,
    UNDER_LOCK,
    Check,
    given_back,
    publication_actions,
    publication_rows,
    put_by_another,
)
from ..timeline.waiting import reading
from . import Setting
from .writer import Writer, beating, state_on_timeline

KIND, PREFIX = "rollbacker", "b"
CHOOSES = ("completion_time",)
IN_RANDOM_WORLDS = 2
SERVICE = True
ACTIONS = (
    Action("rollbacker_chooses_write", "looks at timeline and heartbeats without the lock",
           "{actor} chooses a failed write"),
    Action("rollbacker_plans_rollback", "under the lock: finds a failed write, takes a requested time, puts the plan",
           "{actor} plans the rollback of a failed write"),
    Action("rollbacker_takes_time", "under a lock that can be lost: finds a failed write, takes a requested time",
           "{actor} finds a failed write"),
    Action("rollbacker_puts_plan", "puts the plan for that write, or finds that something was decided meanwhile",
           "{actor} puts its plan to roll back"),
    Action("rollbacker_starts_rollback", "puts the inflight instant of its rollback and looks for the write's files",
           "{actor} starts its rollback"),
    Action("rollbacker_resumes_rollback", "takes up a pending rollback that another has planned",
           "{actor} takes up a pending rollback"),
    Action("rollbacker_deletes_log", "deletes one log file", "{actor} deletes log version {version} of group {group}",
           joins=True),
    Action("rollbacker_appends_rollback_block", "appends a block that names the failed write behind a log of others",
           "{actor} appends a rollback block to the log of group {group}", joins=True),
    Action("rollbacker_removes_instant", "under the lock: takes the failed write's instant off the timeline",
           "{actor} takes the failed write off the timeline", joins=True),
    Action("rollbacker_finds_it_done", "sees that another has completed the rollback",
           "{actor} finds its rollback completed"),
    *publication_actions(KIND, within_call=True),
)  # fmt: skip


TIMED = "given a time for its rollback"
PLANNED = "about to start its rollback"


class Rollbacker(NamedTuple):
    """`rollback` is the requested time of the one it works on, `target` the write's.

    `files` are those of the write that it found, from number `first` on; `done` counts those it has deleted.
    `seen` (decision log only): how many decisions there were when it looked.
    """

    step: str = "idle"
    rollback: int = 0
    target: int = 0
    first: int = 0
    files: tuple[tuple[int, int], ...] = ()
    done: int = 0
    completed: int = 0
    dead: bool = False
    seen: int = 0
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    mine = setting.of(KIND)
    return {"rollbacks": (), **{me: Rollbacker() for me in mine}} if mine else {}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _planning(me, setting)
        yield from _taking_up(me, setting)
        yield from _undoing(me, setting)
        yield from _completing(me, setting)


def failed(
    setting: Setting,
    published: tuple[Any, ...],
    rollbacks: tuple[Rollback, ...],
    writers: tuple[Writer, ...],
    restores: tuple[Restore, ...] = (),
) -> int | None:
    """The oldest pending write that may be rolled back and is not being so; None if there is none."""
    done = {entry.requested for entry in published}
    at_work = {rollback.target for rollback in rollbacks if rollback.requested not in done}
    found = (
        writer.requested
        for writer in writers
        if (writer.expired or setting.protocol.failed_writes == "eager")
        and writer.requested not in at_work | done
        and state_on_timeline(writer, rollbacks)
        and not is_undone(restores, writer.requested)
    )
    return min(found, default=None)


def _planning(me: str, setting: Setting) -> Iterator[Row]:
    if setting.protocol.rollback_check == "before_lock":
        yield from _planning_by_an_early_look(me, setting)
        return
    world, writers = setting.world, beating(setting)
    log = ("decisions",) if setting.protocol.decision == "log" else ()
    restores, fence = setting.if_any("restores"), put_by_another(setting)

    def target(published: Any, rollbacks: tuple[Rollback, ...], more: tuple[Any, ...]) -> int | None:
        others = more[len(log) :]
        return failed(setting, published, rollbacks, others[len(restores) :], *others[: len(restores)])

    def plans(own: Rollbacker, lock: None, clock: int, published: Any, rollbacks: Any, *more: Any) -> tuple[Any, ...]:
        found = _planned(clock + 1, target(published, rollbacks, more))
        return found, clock + 1, *_with_plan(me, found, rollbacks, more[: len(log)])

    def takes_time(own: Rollbacker, lock: None, clock: int, published: Any, rollbacks: Any, *more: Any) -> Any:
        found = _planned(clock + 1, target(published, rollbacks, more))
        return found._replace(step=TIMED, seen=len(more[0]) if log else 0), me, clock + 1, *((),) * len(fence)

    guards = [
        lock_is_free(),
        Guard("a rollback must be left", lambda *v: len(v[4]) < world.rollbacks, budget=True),
        Guard("a write must be pending whose heartbeat has expired", lambda *v: target(v[3], v[4], v[5:]) is not None),
    ]
    if log:
        guards.append(Guard(ALL_PUBLISHED, lambda *v: not undecided(v[5], v[3])))
    reads = (me, "lock", "clock", "published", "rollbacks", *log, *restores, *writers)
    if world.lock_losses:
        yield reading(setting, Row("rollbacker_takes_time", me, reads, (me, "lock", "clock", *fence),
                                   (at(me, "idle"),), takes_time, tuple(guards)))  # fmt: skip
        yield _putting(me, log)
    else:
        yield Row("rollbacker_plans_rollback", me, reads, (me, "clock", "rollbacks", *log), (at(me, "idle"),), plans,
                  tuple(guards))  # fmt: skip


def _putting(me: str, log: tuple[str, ...]) -> Row:
    """The plan for a write that had failed when it looked, under a lock that may be another's by now."""

    def puts(own: Rollbacker, lock: str | None, rollbacks: tuple[Rollback, ...], *decisions: Any) -> tuple[Any, ...]:
        there = any(each.requested == own.rollback for each in rollbacks)  # put by another who read the same time
        if there or (log and len(decisions[0]) > own.seen):  # perhaps by a commit of that very write
            return Rollbacker(), given_back(me, lock), rollbacks, *decisions
        new = own._replace(step=PLANNED, seen=0)
        return new, given_back(me, lock), *_with_plan(me, new, rollbacks, decisions)

    reads = (me, "lock", "rollbacks", *log)
    return Row("rollbacker_puts_plan", me, reads, reads, (at(me, TIMED),), puts)


def _planning_by_an_early_look(me: str, setting: Setting) -> Iterator[Row]:
    most, writers, restores = setting.world.rollbacks, beating(setting), setting.if_any("restores")
    begin = 1 + len(restores)
    left = Guard("a rollback must be left", lambda *values: len(values[-1]) < most, budget=True)
    there = Guard("a write must be pending whose heartbeat has expired",
                  lambda *v: failed(setting, v[-2], v[-1], v[begin:-2], *v[1:begin]) is not None)  # fmt: skip

    def chooses(own: Rollbacker, *values: Any) -> tuple[Any, ...]:
        *others, published, rollbacks = values
        found = failed(setting, published, rollbacks, tuple(others[len(restores) :]), *others[: len(restores)])
        return (_planned(0, found)._replace(step="about to plan"),)

    def plans(own: Rollbacker, lock: None, clock: int, rollbacks: tuple[Rollback, ...]) -> tuple[Any, ...]:
        new = _planned(clock + 1, own.target)
        return new, clock + 1, *_with_plan(me, new, rollbacks, ())

    reads = (me, *restores, *writers, "published", "rollbacks")
    yield Row("rollbacker_chooses_write", me, reads, (me,), (at(me, "idle"),), chooses, (left, there))
    yield Row("rollbacker_plans_rollback", me, (me, "lock", "clock", "rollbacks"), (me, "clock", "rollbacks"),
              (at(me, "about to plan"),), plans, (lock_is_free(), left))  # fmt: skip


def _planned(requested: int, target: int | None) -> Rollbacker:
    assert target is not None, "the guard saw the same writers"
    return Rollbacker(PLANNED, requested, target)


def _with_plan(me: str, own: Rollbacker, rollbacks: tuple[Rollback, ...], log: tuple[Any, ...]) -> tuple[Any, ...]:
    """All plans with its own; where decisions are logged it has taken a number as well."""
    return (*rollbacks, Rollback(own.rollback, own.target, me)), *((*decisions, own.rollback) for decisions in log)


def _taking_up(me: str, setting: Setting) -> Iterator[Row]:
    world, writers, restores = setting.world, beating(setting), setting.if_any("restores")

    def files_of(target: int, published: tuple[Any, ...], theirs: tuple[Writer, ...]) -> tuple[tuple[int, int], ...]:
        completed = next((e.files for e in published if isinstance(e, Write) and e.requested == target), ())
        pending = (
            world.files(name, writer.number)[: writer.files]
            for name, writer in zip(writers, theirs, strict=True)
            if writer.requested == target
        )
        return completed or next(pending, ())

    def started(found: Rollback, published: Any, rollbacks: tuple[Rollback, ...], *others: Any) -> tuple[Any, ...]:
        theirs = others[len(restores) :]
        first = max(each.forgotten for each in rollbacks if each.target == found.target)
        files = files_of(found.target, published, theirs)[first:]
        if restores and is_gone(others[0], found.target):
            files = ()
        if is_shared(setting):
            files = tuple({group: (group, version) for group, version in files}.values())
        own = Rollbacker("undoing" if files else "undone", found.requested, found.target, first, files)
        return own, tuple(r._replace(inflight=True) if r == found else r for r in rollbacks)

    def starts(own: Rollbacker, published: Any, rollbacks: tuple[Rollback, ...], *others: Any) -> tuple[Any, ...]:
        return started(_of(own, rollbacks), published, rollbacks, *others)

    def pending_one(published: tuple[Any, ...], rollbacks: tuple[Rollback, ...]) -> Rollback | None:
        done = {entry.requested for entry in published}
        return next((rollback for rollback in rollbacks if rollback.requested not in done), None)

    def resumes(own: Rollbacker, published: Any, rollbacks: tuple[Rollback, ...], *others: Any) -> tuple[Any, ...]:
        found = pending_one(published, rollbacks)
        assert found is not None, "the guard saw the same rollbacks"
        return started(found, published, rollbacks, *others)

    there = Guard("a rollback must be pending", lambda own, done, made, *_: pending_one(done, made) is not None)
    reads = (me, "published", "rollbacks", *restores, *writers)
    alone = Guard("nobody else may have completed its rollback",
                  lambda own, done, *_: all(entry.requested != own.rollback for entry in done))  # fmt: skip
    yield Row("rollbacker_starts_rollback", me, reads, (me, "rollbacks"), (at(me, PLANNED),), starts, (alone,))
    yield Row("rollbacker_resumes_rollback", me, reads, (me, "rollbacks"), (at(me, "idle"),), resumes,
              (there,))  # fmt: skip


def _undoing(me: str, setting: Setting) -> Iterator[Row]:
    writers = beating(setting)

    def next_file(own: Rollbacker, *_: Any) -> Iterable[Args]:
        group, version = own.files[own.done]
        return ((("group", group), ("version", version)),)

    def deletes(own: Rollbacker, rollbacks: tuple[Rollback, ...], group: int, version: int) -> tuple[Any, ...]:
        own = own._replace(step="undone" if own.done + 1 == len(own.files) else "undoing", done=own.done + 1)
        return own, _changed(own, rollbacks, lambda r: r._replace(deleted=max(r.deleted, own.first + own.done)))

    def next_log(own: Rollbacker, *_: Any) -> Iterable[Args]:
        return ((("group", own.files[own.done][0]),),)

    def appends(own: Rollbacker, logs: tuple[Blocks, ...], group: int) -> tuple[Any, ...]:
        block = Block(own.rollback, 0, own.target)
        own = own._replace(step="undone" if own.done + 1 == len(own.files) else "undoing", done=own.done + 1)
        return own, appended(logs, group, block)

    def removes(own: Rollbacker, lock: None, rollbacks: tuple[Rollback, ...], *theirs: Writer) -> tuple[Any, ...]:
        state = next((w.state for w in theirs if w.requested == own.target), "inflight")
        last = 0 if is_shared(setting) else own.first + len(own.files)
        changed = _changed(own, rollbacks, lambda r: r._replace(removed=state, forgotten=max(r.forgotten, last)))
        return own._replace(step="removed"), changed

    if is_shared(setting):
        yield Row("rollbacker_appends_rollback_block", me, (me, LOGS), (me, LOGS), (at(me, "undoing"),), appends,
                  choices=next_log)  # fmt: skip
    else:
        yield Row("rollbacker_deletes_log", me, (me, "rollbacks"), (me, "rollbacks"), (at(me, "undoing"),), deletes,
                  choices=next_file)  # fmt: skip
    yield Row("rollbacker_removes_instant", me, (me, "lock", "rollbacks", *writers), (me, "rollbacks"),
              (at(me, "undone"),), removes, (lock_is_free(),))  # fmt: skip


def _completing(me: str, setting: Setting) -> Iterator[Row]:
    def completed(own: Rollbacker, published: tuple[Any, ...]) -> bool:
        return any(entry.requested == own.rollback for entry in published)

    def publish(own: Rollbacker) -> tuple[Rollbacker, RolledBack]:
        return Rollbacker(), RolledBack(own.rollback, own.completed, me)

    # Whoever took its time before the lock looks under it; where a log decides, the lock may have been another's while
    # it looked, so that it looks again for each number.
    logged, outside = (setting.protocol.decision == "log", setting.protocol_of(me).completion_time == "outside_lock")
    last = UNDER_LOCK if logged else READY if outside else "removed"
    looks = Guard(f"{me} must be about to start or to complete its rollback", lambda own: own.step in (PLANNED, last))
    free = Guard("the lock must be free, unless it starts or has it",
                 lambda own, lock, *_: lock in (None, me) or own.step in (PLANNED, UNDER_LOCK))  # fmt: skip
    found = Guard("another must have completed its rollback",
                  lambda own, lock, published, *_: completed(own, published))  # fmt: skip
    writes = (me, "lock") if logged or outside else (me,)
    finds = Row("rollbacker_finds_it_done", me, (me, "lock", "published"), writes, (looks,),
                lambda own, lock, *_: (Rollbacker(), given_back(me, lock))[: len(writes)], (free, found))  # fmt: skip
    yield caught_up(finds, setting, lambda own: own.step == PLANNED)
    alone = "nobody else may have completed its rollback"
    under_lock = logged or outside
    check = Check(alone, ("published",), lambda own, published: not completed(own, published), under_lock)
    yield from publication_rows(KIND, me, "removed", setting, publish, check=check,
                                requested=lambda own: own.rollback, undone=lambda own: own.target)  # fmt: skip


def _of(own: Rollbacker, rollbacks: tuple[Rollback, ...]) -> Rollback:
    return next(rollback for rollback in rollbacks if rollback.requested == own.rollback)


def _changed(own: Rollbacker, rollbacks: tuple[Rollback, ...], change: Any) -> tuple[Rollback, ...]:
    return tuple(change(rollback) if rollback.requested == own.rollback else rollback for rollback in rollbacks)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"]}
    for each in values.get("rollbacks", ()):
        if each.requested not in done:
            yield Instant(each.requested, "rollback", "inflight" if each.inflight else "requested", None)
