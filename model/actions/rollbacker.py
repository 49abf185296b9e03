"""Rollback of failed writes: planned under the lock, carried out apart, by anybody, twice, by another after a death.

RFC-22, "Inline rollback": a cleaner looks at the pending writes on the timeline and rolls back those whose heartbeat
has expired (LAZY); a single writer rolls back whatever is pending (EAGER). Data files go first, then the instant, so
that what is left of a failed write can be recognised; the plan stays on the timeline, for whoever goes on with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..kernel.lock import LOCK_IS_FREE
from ..kernel.table import Instant, Write
from ..machine.transition import Action, Args, Changes, Guard, Transition, given, transition
from ..mechanisms.restores import Restore, is_gone, is_undone
from ..mechanisms.rollback import Rollback, RolledBack
from ..mechanisms.shared_logs import LOGS, Block, Blocks, appended, is_shared
from ..timeline.decisions import ALL_PUBLISHED, Decisions, is_caught_up
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import READY, UNDER_LOCK, Check, publication, publication_actions, release_lock
from ..world import World
from . import Setting
from .writer import Writer, beating, state_on_timeline

Published = tuple[Any, ...]
Rollbacks = tuple[Rollback, ...]
Restores = tuple[Restore, ...]
Writers = Mapping[str, Writer]

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


def transitions(setting: Setting) -> Iterator[Transition]:
    # Where no writer has a heartbeat no writer is read, so that its private steps stay private.
    unread: dict[str, Any] = {} if beating(setting) else {"every_writer": {}}
    for me in setting.of(KIND):
        yield from _planning(me, setting, unread)
        yield transition("rollbacker_starts_rollback", me, at=PLANNED, guards=(NOT_COMPLETED,),
                         effect=given(start_own, **unread), changes=("own", "rollbacks"))  # fmt: skip
        pending = Guard("a rollback must be pending", pending_rollback)
        yield transition("rollbacker_resumes_rollback", me, at="idle", guards=(pending,),
                         effect=given(resume, **unread), changes=("own", "rollbacks"))  # fmt: skip
        yield from _undoing(me, setting, unread)
        yield from _completing(me, setting)


def failed(
    setting: Setting, published: Published, rollbacks: Rollbacks, every_writer: Writers, restores: Restores = ()
) -> int | None:
    """The oldest pending write that may be rolled back and is not being so; None if there is none."""
    done = {entry.requested for entry in published}
    at_work = {rollback.target for rollback in rollbacks if rollback.requested not in done}
    found = (
        writer.requested
        for writer in every_writer.values()
        if (writer.expired or setting.protocol.failed_writes == "eager")
        and writer.requested not in at_work | done
        and state_on_timeline(writer, rollbacks)
        and not is_undone(restores, writer.requested)
    )
    return min(found, default=None)


def rollback_is_left(rollbacks: Rollbacks, world: World) -> bool:
    return len(rollbacks) < world.rollbacks


ROLLBACK_LEFT = Guard("a rollback must be left", rollback_is_left, limit=True)


def _planning(me: str, setting: Setting, unread: dict[str, Any]) -> Iterator[Transition]:
    there = Guard("a write must be pending whose heartbeat has expired", given(failed, **unread))
    if setting.protocol.rollback_check == "before_lock":
        yield transition("rollbacker_chooses_write", me, at="idle", to="about to plan", guards=(ROLLBACK_LEFT, there),
                         effect=given(choose_write, **unread))  # fmt: skip
        plans = transition("rollbacker_plans_rollback", me, at="about to plan", guards=(LOCK_IS_FREE, ROLLBACK_LEFT),
                           effect=take_time, changes=("own", "clock"))  # fmt: skip
        yield plans.extend(put, "rollbacks")
        return
    yield from planning(me, setting, Planning(
        actions=("rollbacker_plans_rollback", "rollbacker_takes_time", "rollbacker_puts_plan"),
        guards=(ROLLBACK_LEFT, there), look=given(look, **unread), put=put, plans="rollbacks", requested="rollback",
        too_late=become_idle, arguments=None, timed=TIMED,
    ))  # fmt: skip


def choose_write(
    setting: Setting, published: Published, rollbacks: Rollbacks, every_writer: Writers, restores: Restores = ()
) -> Changes:
    """Find a failed write without the lock."""
    return {"own": Rollbacker(target=failed(setting, published, rollbacks, every_writer, restores) or 0)}


def take_time(own: Rollbacker, clock: int) -> Changes:
    return {"own": own._replace(rollback=clock + 1), "clock": clock + 1}


def look(
    setting: Setting, clock: int, published: Published, rollbacks: Rollbacks, every_writer: Writers,
    restores: Restores = (),
) -> Changes:  # fmt: skip
    """Find a failed write, and take a requested time."""
    target = failed(setting, published, rollbacks, every_writer, restores) or 0
    return {"own": Rollbacker(PLANNED, clock + 1, target), "clock": clock + 1}


def put(own: Rollbacker, me: str, rollbacks: Rollbacks) -> Changes:
    """Put the plan."""
    return {"own": own._replace(step=PLANNED), "rollbacks": (*rollbacks, Rollback(own.rollback, own.target, me))}


def become_idle() -> Changes:
    return {"own": Rollbacker()}


def pending_rollback(published: Published, rollbacks: Rollbacks) -> Rollback | None:
    """The first rollback that is not completed."""
    done = {entry.requested for entry in published}
    return next((rollback for rollback in rollbacks if rollback.requested not in done), None)


def start_own(
    own: Rollbacker, setting: Setting, published: Published, rollbacks: Rollbacks, every_writer: Writers,
    restores: Restores = (),
) -> Changes:  # fmt: skip
    """Put the inflight instant and look for the files of the write."""
    return started(_of(own, rollbacks), setting, published, rollbacks, every_writer, restores)


def resume(
    setting: Setting, published: Published, rollbacks: Rollbacks, every_writer: Writers, restores: Restores = ()
) -> Changes:
    """Take over a pending rollback that another actor has planned."""
    found = pending_rollback(published, rollbacks)
    assert found is not None, "the guard saw the same rollbacks"
    return started(found, setting, published, rollbacks, every_writer, restores)


def started(
    found: Rollback, setting: Setting, published: Published, rollbacks: Rollbacks, writers: Writers, restores: Restores
) -> Changes:
    """The rollbacker at work on a rollback."""
    first = max(each.forgotten for each in rollbacks if each.target == found.target)
    files = files_of(found.target, setting.world, published, writers)[first:]
    if is_gone(restores, found.target):
        files = ()
    if is_shared(setting):
        files = tuple({group: (group, version) for group, version in files}.values())
    own = Rollbacker("undoing" if files else "undone", found.requested, found.target, first, files)
    return {"own": own, "rollbacks": tuple(r._replace(inflight=True) if r == found else r for r in rollbacks)}


def files_of(target: int, world: World, published: Published, writers: Writers) -> tuple[tuple[int, int], ...]:
    """The files of a write, published or not, that were put."""
    completed = next((e.files for e in published if isinstance(e, Write) and e.requested == target), ())
    pending = (
        world.files(name, writer.number)[: writer.files]
        for name, writer in writers.items()
        if writer.requested == target
    )
    return completed or next(pending, ())


def _undoing(me: str, setting: Setting, unread: dict[str, Any]) -> Iterator[Transition]:
    if is_shared(setting):
        yield transition("rollbacker_appends_rollback_block", me, at="undoing", effect=append_block,
                         arguments=next_log, changes=("own", LOGS))  # fmt: skip
    else:
        yield transition("rollbacker_deletes_log", me, at="undoing", effect=delete_log, arguments=next_file,
                         changes=("own", "rollbacks"))  # fmt: skip
    yield transition("rollbacker_removes_instant", me, at="undone", to="removed", guards=(LOCK_IS_FREE,),
                     effect=given(remove_instant, **unread), changes=("own", "rollbacks"))  # fmt: skip


def next_file(own: Rollbacker) -> Iterable[Args]:
    group, version = own.files[own.done]
    return ((("group", group), ("version", version)),)


def next_log(own: Rollbacker) -> Iterable[Args]:
    return ((("group", own.files[own.done][0]),),)


def delete_log(own: Rollbacker, rollbacks: Rollbacks) -> Changes:
    """Delete one log file."""
    own = _one_more(own)
    return {
        "own": own,
        "rollbacks": _changed(own, rollbacks, lambda r: r._replace(deleted=max(r.deleted, own.first + own.done))),
    }


def append_block(own: Rollbacker, shared_logs: tuple[Blocks, ...], *, group: int) -> Changes:
    """Append a block that names the failed write behind a log of others."""
    return {"own": _one_more(own), LOGS: appended(shared_logs, group, Block(own.rollback, 0, own.target))}


def remove_instant(own: Rollbacker, setting: Setting, rollbacks: Rollbacks, every_writer: Writers) -> Changes:
    """Under the lock: take the instant of the failed write off the timeline."""
    state = next((w.state for w in every_writer.values() if w.requested == own.target), "inflight")
    last = 0 if is_shared(setting) else own.first + len(own.files)
    after = _changed(own, rollbacks, lambda r: r._replace(removed=state, forgotten=max(r.forgotten, last)))
    return {"rollbacks": after}


def is_completed(own: Rollbacker, published: Published) -> bool:
    return any(entry.requested == own.rollback for entry in published)


NOT_COMPLETED = Guard("nobody else may have completed its rollback", is_completed, negated=True)
IS_COMPLETED = Guard("another must have completed its rollback", is_completed)


def is_about_to(own: Rollbacker, last: str) -> bool:
    return own.step in (PLANNED, last)


def lock_is_not_in_the_way(own: Rollbacker, me: str, lock: str | None) -> bool:
    return lock in (None, me) or own.step in (PLANNED, UNDER_LOCK)


def starts_or_is_caught_up(own: Rollbacker, decisions: Decisions, published: Published) -> bool:
    return own.step == PLANNED or is_caught_up(decisions, published)


def _completing(me: str, setting: Setting) -> Iterator[Transition]:
    # A rollbacker that took its time before the lock looks under it. Where a log decides, the lock may have been
    # another's while it looked, so that it looks again for each number.
    logged, outside = (setting.protocol.decision == "log", setting.protocol_of(me).completion_time == "outside_lock")
    last = UNDER_LOCK if logged else READY if outside else "removed"
    looks = Guard("{me} must be about to start or to complete its rollback", given(is_about_to, last=last))
    free = Guard("the lock must be free, unless it starts or has it", lock_is_not_in_the_way)
    finds = transition("rollbacker_finds_it_done", me, guards=(looks, free, IS_COMPLETED), effect=become_idle)
    finds = finds.extend(release_lock, "lock") if logged or outside else finds
    yield finds.require(Guard(ALL_PUBLISHED.reason, starts_or_is_caught_up)) if logged else finds
    yield from publication(KIND, me, "removed", setting, partial(published_rollback, me), requested="rollback",
                           undone="target", check=Check(NOT_COMPLETED, under_lock=logged or outside))  # fmt: skip


def published_rollback(me: str, own: Rollbacker) -> tuple[Rollbacker, RolledBack]:
    """The rollbacker after its rollback is published, and the entry."""
    return Rollbacker(), RolledBack(own.rollback, own.completed, me)


def _one_more(own: Rollbacker) -> Rollbacker:
    return own._replace(step="undone" if own.done + 1 == len(own.files) else "undoing", done=own.done + 1)


def _of(own: Rollbacker, rollbacks: tuple[Rollback, ...]) -> Rollback:
    return next(rollback for rollback in rollbacks if rollback.requested == own.rollback)


def _changed(own: Rollbacker, rollbacks: tuple[Rollback, ...], change: Any) -> tuple[Rollback, ...]:
    return tuple(change(rollback) if rollback.requested == own.rollback else rollback for rollback in rollbacks)


def pending(published: tuple[Any, ...], rollbacks: tuple[Rollback, ...] = ()) -> Iterator[Instant]:
    """The pending rollbacks."""
    done = {entry.requested for entry in published} if rollbacks else ()
    for each in rollbacks:
        if each.requested not in done:
            yield Instant(each.requested, "rollback", "inflight" if each.inflight else "requested", None)
