"""Restorers: back to a savepoint. A plan made under the lock undoes at once, for all who look; then the files go.

The plan names what completed after the savepoint's instant and whatever is pending. Writers that are under way find so
before they publish and take their files back; others begin anew and need not wait. Whoever takes up the restore of a
dead restorer goes through the same list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..publication import publication_actions, publication_rows
from ..restoring import is_undone, newest, undo
from ..step import Action, Args, Guard, Row
from ..table import Instant, Restore, Restored
from . import Setting
from .writer import state_on_timeline

KIND, PREFIX = "restorer", "u"
ACTIONS = (
    Action("restorer_plans_restore", "under the lock: puts the plan, from which on nobody sees what it undoes",
           "{actor} plans the restore to the newest savepoint"),
    Action("restorer_starts_restore", "puts the inflight instant of its restore", "{actor} starts its restore"),
    Action("restorer_resumes_restore", "takes up the restore of a restorer that died",
           "{actor} takes up the restore of a dead restorer"),
    Action("restorer_undoes_instant", "deletes the files of one instant, then its files on the timeline",
           "{actor} undoes {instant}"),
    *publication_actions(KIND),
)  # fmt: skip

class Restorer(NamedTuple):
    """`restore`: the requested time of the one it runs; `undone`: what it undoes, `done` how many of them it has."""

    step: str = "idle"
    restore: int = 0
    undone: tuple[int, ...] = ()
    done: int = 0
    completed: int = 0
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    mine = setting.of(KIND)
    return {"restores": (), **{me: Restorer() for me in mine}} if mine else {}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _planning(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _planning(me: str, setting: Setting) -> Row:
    world, protocol, writers = setting.world, setting.protocol, setting.of("writer")
    rolled_back = ("rollbacks",) if "rollbacks" in setting.first else ()
    log_plans = ("log_plans",) if "log_plans" in setting.first else ()

    def planned(savepoints: Any, restores: Any, published: Any, plans: Any, others: tuple[Any, ...]) -> Any:
        saved = newest(savepoints)
        if saved is None:
            return None, None
        done = {entry.requested for entry in published}
        rollbacks, theirs = others[0] if rolled_back else (), others[len(rolled_back) :]
        there = (w for w in theirs if w.requested and state_on_timeline(w, rollbacks))
        pending = (w.requested for w in there if w.requested not in done)
        writing = (each for each in pending if not is_undone(restores, each))
        return saved, undo(saved, published, plans, writing, protocol)

    def plans_it(own: Restorer, lock: None, clock: int, restores: tuple[Restore, ...], *seen: Any) -> tuple[Any, ...]:
        published, plans, savepoints, *others = seen
        known = (plans, *others[: len(log_plans)])
        saved, found = planned(savepoints, restores, published, sum(known, ()), tuple(others[len(log_plans) :]))
        gone = tuple(plan for plan in sum(known, ()) if plan.requested in found.order)
        plan = Restore(clock + 1, saved.at, me, False, found.order, saved.writes, gone)
        left = tuple(each for each in savepoints if each.requested not in found.order)
        started = Restorer("about to start its restore", clock + 1, found.order)
        kept = [tuple(plan for plan in some if plan in found.plans) for some in known]
        return started, clock + 1, (*restores, plan), found.published, kept[0], left, *kept[1:]

    def something(savepoints: Any, restores: Any, published: Any, plans: Any, others: tuple[Any, ...]) -> bool:
        known, others = sum(others[: len(log_plans)], plans), others[len(log_plans) :]
        saved, found = planned(savepoints, restores, published, known, others)
        return saved is not None and bool(found.order)

    guards = (
        lock_is_free(),
        Guard("a restore must be left", lambda *v: len(v[3]) < world.restores, budget=True),
        Guard("no restore may be pending", lambda *v: {r.requested for r in v[3]} <= {e.requested for e in v[4]}),
        Guard("there must be a savepoint, and something to undo", lambda *v: something(v[6], v[3], v[4], v[5], v[7:])),
    )
    shared = (me, "clock", "restores", "published", "plans", "savepoints", *log_plans)
    reads = (me, "lock", *shared[1:], *rolled_back, *writers)
    return Row("restorer_plans_restore", me, reads, shared, (at(me, "idle"),), plans_it, guards)


def _resuming(me: str, setting: Setting) -> Row:
    others = tuple(name for name in setting.of(KIND) if name != me)

    def orphan(published: Any, restores: tuple[Restore, ...], peers: tuple[Restorer, ...]) -> Restore | None:
        done = {entry.requested for entry in published}
        dead = {name for name, peer in zip(others, peers, strict=True) if peer.dead}
        return next((each for each in restores if each.requested not in done and each.runner in dead), None)

    def resumes(own: Restorer, published: Any, restores: tuple[Restore, ...], *peers: Restorer) -> tuple[Any, ...]:
        found = orphan(published, restores, peers)
        assert found is not None, "the guard saw the same restores"
        return _started(me, found, restores)

    guard = Guard("a restore must be pending whose runner died", lambda own, done, rs, *p: bool(orphan(done, rs, p)))
    reads = (me, "published", "restores", *others)
    return Row("restorer_resumes_restore", me, reads, (me, "restores"), (at(me, "idle"),), resumes, (guard,))


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
    yield Row("restorer_starts_restore", me, both, both, (at(me, "about to start its restore"),), starts)
    yield Row("restorer_undoes_instant", me, both, both, (at(me, "undoing"),), undoes, choices=next_instant)
    yield from publication_rows(KIND, me, "undone", setting, publish, requested=lambda own: own.restore)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"]}
    for each in values.get("restores", ()):
        if each.requested not in done:
            yield Instant(each.requested, "restore", "inflight" if each.inflight else "requested", None)
