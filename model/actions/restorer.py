"""Restorers: back to a savepoint. A plan made under the lock undoes at once, for all who look; then the files go.

The plan names what completed after the savepoint's instant and whatever is pending. Writers that are under way find so
before they publish and take their files back; others begin anew and need not wait. Whoever takes up the restore of a
dead restorer goes through the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at
from ..services.restoring import newest, still_there, taken_off, undone_by
from ..step import Action, Args, Guard, Row, one_way
from ..table import Instant, Restore, Restored, is_undone
from ..timeline.plans_by_log import planning_rows
from ..timeline.publication import publication_actions, publication_rows
from ..timeline.resuming import resuming
from . import Setting
from .writer import state_on_timeline

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


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _planning(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _planning(me: str, setting: Setting) -> Iterator[Row]:
    world, protocol, writers = setting.world, setting.protocol, setting.of("writer")
    log_plans = setting.if_any("log_plans")
    rolled_back = setting.if_any("rollbacks")
    read_meanwhile = bool(setting.of("reader") or setting.of("consumer"))

    def planned(restores: Any, published: Any, plans: Any, savepoints: Any, *more: Any) -> Any:
        saved = newest(savepoints)
        if saved is None:
            return None, ()
        plans, others = sum(more[: len(log_plans)], plans), more[len(log_plans) :]
        rollbacks, theirs = others[0] if rolled_back else (), others[len(rolled_back) :][: len(writers)]
        done = {entry.requested for entry in published}
        there = (w for w in theirs if w.requested and state_on_timeline(w, rollbacks))
        pending = (w.requested for w in there if w.requested not in done)
        writing = (each for each in pending if not is_undone(restores, each))
        return saved, undone_by(saved, published, plans, writing, protocol)

    def look(own: Restorer, clock: int, last: int, *seen: Any) -> tuple[Restorer, int]:
        time = max(clock, last) + 1
        saved, order = planned(*seen)
        return Restorer(PLANNED, time, order, to=saved.at, kept=saved.writes), time

    def put(own: Restorer, restores: Any, published: Any, plans: Any, savepoints: Any, *logs: Any) -> tuple[Any, ...]:
        gone = tuple(plan for plan in sum(logs, plans) if plan.requested in own.undone)
        entries = taken_off(published, own.undone) if read_meanwhile else ()
        plan = Restore(own.restore, own.to, me, False, own.undone, own.kept, gone, entries=entries)
        left = tuple(each for each in savepoints if each.requested not in own.undone)
        kept = [tuple(plan for plan in some if plan not in gone) for some in (plans, *logs)]
        after = (*restores, plan), still_there(published, own.undone), kept[0], left, *kept[1:]
        return Restorer(PLANNED, own.restore, own.undone), *after

    guards = (
        Guard("a restore must be left", lambda *v: len(v[3]) < world.restores, budget=True),
        Guard("no restore may be pending", lambda *v: {r.requested for r in v[3]} <= {e.requested for e in v[4]}),
        Guard("there must be a savepoint, and something to undo", lambda *v: bool(planned(*v[3:])[1])),
    )
    shared = ("restores", "published", "plans", "savepoints", *log_plans)
    names = ("restorer_plans_restore", "restorer_takes_time", "restorer_puts_plan")
    yield from planning_rows(me, setting, actions=names, reads=(*shared, *rolled_back, *writers), changes=shared,
                             guards=guards, look=look, put=put, requested=lambda own: own.restore,
                             too_late=Restorer(), choices=one_way)  # fmt: skip


def _resuming(me: str, setting: Setting) -> Row:
    # What is decided needs no runner any more: whoever decides next publishes it.
    known = "decisions" if setting.protocol.decision == "log" else "published"
    return resuming("restorer_resumes_restore", me, setting.of(KIND), known=known, plans="restores", finished=Restored,
                    take_up=lambda own, restore, restores: _started(me, restore, restores), what="restore")  # fmt: skip


def _started(me: str, started: Restore, restores: tuple[Restore, ...]) -> tuple[Any, ...]:
    own = Restorer("undoing", started.requested, started.undone)
    return own, tuple(r._replace(runner=me, inflight=True) if r == started else r for r in restores)


def _running(me: str, setting: Setting) -> Iterator[Row]:
    def starts(own: Restorer, restores: tuple[Restore, ...]) -> tuple[Any, ...]:
        return _started(me, next(each for each in restores if each.requested == own.restore), restores)

    def next_instant(own: Restorer, restores: Any) -> Iterable[Args]:
        return ((("instant", own.undone[own.done]),),)

    def undoes(own: Restorer, restores: tuple[Restore, ...], instant: int) -> tuple[Any, ...]:
        own = own._replace(step="undone" if own.done + 1 == len(own.undone) else "undoing", done=own.done + 1)
        mine = (r._replace(gone=max(r.gone, own.done)) if r.requested == own.restore else r for r in restores)
        return own, tuple(mine)

    def publish(own: Restorer) -> tuple[Restorer, Restored]:
        return Restorer(), Restored(own.restore, own.completed, me)

    both = (me, "restores")
    yield Row("restorer_starts_restore", me, both, both, (at(me, PLANNED),), starts)
    yield Row("restorer_undoes_instant", me, both, both, (at(me, "undoing"),), undoes, choices=next_instant)
    yield from publication_rows(KIND, me, "undone", setting, publish, requested=lambda own: own.restore)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"] if isinstance(entry, Restored)}
    for each in values.get("restores", ()):
        if each.requested not in done:
            yield Instant(each.requested, "restore", "inflight" if each.inflight else "requested", None)
