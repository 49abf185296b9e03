"""Restorers: back to a savepoint. A plan made under the lock undoes at once, for all who look; then the files go.

The plan names what completed after the savepoint's instant and whatever is pending. Writers that are under way find so
before they publish and take their files back; others begin anew and need not wait. Whoever takes up the restore of a
dead restorer goes through the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ..kernel.table import Instant, Plan
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.restores import Restore, Restored, is_undone, newest, still_there, taken_off, undone_by
from ..mechanisms.rollback import Rollback
from ..mechanisms.savepoints import Savepoint
from ..timeline.decisions import last_time
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import publication, publication_actions
from ..timeline.resuming import resuming, starting
from ..world import World
from . import Setting
from .writer import Writer, state_on_timeline

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]
Restores = tuple[Restore, ...]
Savepoints = tuple[Savepoint, ...]
Writers = Mapping[str, Writer]

KIND, PREFIX = "restorer", "u"
CHOOSES = ("completion_time",)
ACTIONS = (
    Action("restorer_plans_restore", "under the lock: puts the plan, from which on nobody sees what it undoes",
           "{actor} plans the restore to the newest savepoint"),
    Action("restorer_takes_time", "under a lock that can be lost: finds what is to be undone, takes a requested time",
           "{actor} finds what a restore would undo"),
    Action("restorer_puts_plan", "puts the plan of that restore, or finds that something was decided meanwhile",
           "{actor} puts the plan of its restore"),
    Action("restorer_starts_restore", "puts the inflight instant of its restore", "{actor} starts its restore"),
    Action("restorer_resumes_restore", "takes up the restore of a restorer that died",
           "{actor} takes up the restore of a dead restorer"),
    Action("restorer_undoes_instant", "deletes the files of one instant, then its files on the timeline",
           "{actor} undoes {instant}"),
    *publication_actions(KIND),
)  # fmt: skip


PLANNED = "about to start its restore"


class Restorer(NamedTuple):
    """`restore`: the requested time of the one it runs; `undone`: what it undoes, `done` how many of them it has.

    `to`, `kept`: the completion time to which it goes back, and the writes of the savepoint, until its plan is there.
    `seen` (decision log only): how many decisions there were when it looked.
    """

    step: str = "idle"
    restore: int = 0
    undone: tuple[int, ...] = ()
    done: int = 0
    completed: int = 0
    dead: bool = False
    to: int = 0
    kept: tuple[int, ...] = ()
    seen: int = 0
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    mine = setting.of(KIND)
    return {"restores": (), **{me: Restorer() for me in mine}} if mine else {}


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from planning(me, setting, Planning(
            actions=("restorer_plans_restore", "restorer_takes_time", "restorer_puts_plan"),
            guards=(RESTORE_LEFT, NO_RESTORE_PENDING, SOMETHING_TO_UNDO),
            look=look, put=put, plans="restores", requested="restore", too_late=become_idle, arguments=None,
            changes=("published", "plans", "savepoints", *setting.if_any("log_plans")),
        ))  # fmt: skip
        yield resuming("restorer_resumes_restore", KIND, me, setting, plans="restores", finished=Restored,
                       start=started, what="restore")  # fmt: skip
        yield starting("restorer_starts_restore", me, at=PLANNED, plans="restores", field="restore", start=started)
        yield transition("restorer_undoes_instant", me, at="undoing", effect=undo_instant, arguments=next_instant,
                         changes=("own", "restores"))  # fmt: skip
        yield from publication(KIND, me, "undone", setting, partial(published_restore, me), requested="restore")


def restore_is_left(restores: Restores, world: World) -> bool:
    return len(restores) < world.restores


def no_restore_is_pending(restores: Restores, published: Published) -> bool:
    return {restore.requested for restore in restores} <= {entry.requested for entry in published}


def to_undo(
    setting: Setting, restores: Restores, published: Published, plans: Plans, savepoints: Savepoints,
    every_writer: Writers, log_plans: Plans = (), rollbacks: tuple[Rollback, ...] = (),
) -> tuple[int, ...]:  # fmt: skip
    """The requested times of what a restore to the newest savepoint undoes now, in the order in which it goes."""
    saved = newest(savepoints)
    if saved is None:
        return ()
    done = {entry.requested for entry in published}
    there = (w for w in every_writer.values() if w.requested and state_on_timeline(w, rollbacks))
    pending = (w.requested for w in there if w.requested not in done)
    writing = (each for each in pending if not is_undone(restores, each))
    return undone_by(saved, published, (*plans, *log_plans), writing, setting.protocol)


RESTORE_LEFT = Guard("a restore must be left", restore_is_left, limit=True)
NO_RESTORE_PENDING = Guard("no restore may be pending", no_restore_is_pending)
SOMETHING_TO_UNDO = Guard("there must be a savepoint, and something to undo", to_undo)


def look(
    setting: Setting, clock: int, restores: Restores, published: Published, plans: Plans, savepoints: Savepoints,
    every_writer: Writers, log_plans: Plans = (), rollbacks: tuple[Rollback, ...] = (),
    decisions: tuple[Any, ...] = (),
) -> Changes:  # fmt: skip
    """Find what is to be undone, and take a requested time."""
    time, saved = max(clock, last_time(decisions)) + 1, newest(savepoints)
    assert saved is not None, "the guard saw the same savepoints"
    order = to_undo(setting, restores, published, plans, savepoints, every_writer, log_plans, rollbacks)
    return {"own": Restorer(PLANNED, time, order, to=saved.at, kept=saved.writes), "clock": time}


def put(
    own: Restorer, me: str, setting: Setting, restores: Restores, published: Published, plans: Plans,
    savepoints: Savepoints, log_plans: Plans | None = None,
) -> Changes:  # fmt: skip
    """Put the plan: from now on no reader sees what it undoes."""
    gone = tuple(plan for plan in (*plans, *(log_plans or ())) if plan.requested in own.undone)
    read_meanwhile = bool(setting.of("reader") or setting.of("consumer"))
    entries = taken_off(published, own.undone) if read_meanwhile else ()
    plan = Restore(own.restore, own.to, me, False, own.undone, own.kept, gone, entries=entries)
    logs = {} if log_plans is None else {"log_plans": tuple(each for each in log_plans if each not in gone)}
    return {
        "own": Restorer(PLANNED, own.restore, own.undone),
        "restores": (*restores, plan),
        "published": still_there(published, own.undone),
        "plans": tuple(each for each in plans if each not in gone),
        "savepoints": tuple(each for each in savepoints if each.requested not in own.undone),
        **logs,
    }


def become_idle() -> Changes:
    return {"own": Restorer()}


def started(own: Restorer, me: str, restore: Restore, restores: Restores) -> tuple[Restorer, Restores]:
    """The restorer at work on a restore."""
    own = Restorer("undoing", restore.requested, restore.undone)
    return own, tuple(r._replace(runner=me, inflight=True) if r == restore else r for r in restores)


def next_instant(own: Restorer) -> Iterable[Args]:
    return ((("instant", own.undone[own.done]),),)


def undo_instant(own: Restorer, restores: Restores) -> Changes:
    """Delete the files of one instant, then its files on the timeline."""
    own = own._replace(step="undone" if own.done + 1 == len(own.undone) else "undoing", done=own.done + 1)
    mine = (r._replace(gone=max(r.gone, own.done)) if r.requested == own.restore else r for r in restores)
    return {"own": own, "restores": tuple(mine)}


def published_restore(me: str, own: Restorer) -> tuple[Restorer, Restored]:
    """The restorer after its restore is published, and the entry."""
    return Restorer(), Restored(own.restore, own.completed, me)


def pending(published: tuple[Any, ...], restores: tuple[Restore, ...] = ()) -> Iterator[Instant]:
    """The pending restores."""
    done = {entry.requested for entry in published if isinstance(entry, Restored)} if restores else ()
    for each in restores:
        if each.requested not in done:
            yield Instant(each.requested, "restore", "inflight" if each.inflight else "requested", None)
