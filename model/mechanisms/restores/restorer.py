"""A restorer plans a restore to the newest savepoint, and then undoes the planned instants one by one.

Holding the lock, the restorer puts the plan on the timeline. The plan lists the instants that completed after the
savepoint's instant, and the pending instants. Once the plan is on the timeline, all actors ignore the listed instants.
A running writer detects the restore before publishing; new writers may begin. A restorer that resumes the plan of
another restorer undoes the instants listed in the plan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import PLANS
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication
from ...kernel.table import Instant, Plans, pending_plans
from ...kernel.timeline import PENDING, SETTLED, Published
from ...kernel.writer import Writer
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.plans import Planner, Runner, runner
from ...machine.transition import Args, Changes, Guard, become, preset, transition
from ...protocol import Protocol
from ...variants.listing import Listing
from ...world import World
from ..rollback.removed import is_on_timeline
from ..rollback.rules import Rollback
from ..savepoints import Savepoint
from .options import RestoreLimits
from .rules import Restore, Restored, is_undone, newest, still_there, taken_off, undone_by

Planned = tuple[Restore, ...]
Savepoints = tuple[Savepoint, ...]
Writers = Mapping[str, Writer]

PLANNED = "about to start its restore"


class Restorer(NamedTuple):
    """The state of one restorer. `restore` is the requested time of the actor's restore. `undone` lists the instants to
    undo, and `done` counts those already undone.

    `to` is the completion time of the savepoint's instant, and `kept` contains the writes that the savepoint retains.
    Both fields are used only until the plan is on the timeline.
    """

    step: str = "idle"
    restore: int = 0
    undone: tuple[int, ...] = ()
    done: int = 0
    completed: int = 0
    to: int = 0
    kept: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()


RESTORER = Kind(name="restorer", prefix="rest", first=Restorer())


def compose(composition: Composition) -> None:
    """Add the component (state variable), views and transitions of every restorer to a model."""
    composition.add_component("restores", ())
    composition.withdraw("published")
    composition.map_view(PENDING, pending_restores)
    if composition.protocol[Listing].read_time != "clock":
        composition.map_view(SETTLED, settled_time)
    rule = {"table_protocol": composition.protocol}
    read_meanwhile = bool(composition.actors_of("reader") or composition.actors_of("consumer"))
    put = preset(put_plan, read_meanwhile=read_meanwhile)
    logs = ("log_plans",) if "log_plans" in composition.components else ()
    something = Guard("there must be a savepoint, and something to undo", preset(to_undo, **rule))
    for me in composition.actors_of("restorer"):
        action = "restorer_plans_restore"
        guards = (LOCK_IS_FREE, RESTORE_LEFT, NO_RESTORE_PENDING, something)
        plans = transition(action, me, at="idle", guards=guards, effect=preset(find_undone, **rule),
                           changes=("own", "clock"), tags=(PLANS, READS_CLOCK))  # fmt: skip
        composition.add(
            plans.extend(put, "own", "restores", "published", "plans", "savepoints", *logs),
            transition("restorer_undoes_instant", me, at="undoing", effect=undo_instant, arguments=next_instant,
                       changes=("own", "restores")),
        )  # fmt: skip
        composition.register(Planner("restorer", me, action, "restores", "restore", become(Restorer())))
        runs = Runner("restorer", me, "restores", "restore", start, Restored, "restorer_resumes_restore", "restore")
        runner(composition, "restorer_starts_restore", PLANNED, runs)
        publication(composition, Publication("restorer", me, "undone", partial(published_restore, me), "restore"))


def restore_is_left(restores: Planned, world: World) -> bool:
    return len(restores) < world[RestoreLimits].restores


def no_restore_is_pending(restores: Planned, published: Published) -> bool:
    return {restore.requested for restore in restores} <= {entry.requested for entry in published}


RESTORE_LEFT = Guard("a restore must be left", restore_is_left, limit=True)
NO_RESTORE_PENDING = Guard("no restore may be pending", no_restore_is_pending)


def to_undo(
    table_protocol: Protocol, restores: Planned, published: Published, plans: Plans, savepoints: Savepoints,
    every_writer: Writers, log_plans: Plans = (), rollbacks: tuple[Rollback, ...] = (),
) -> tuple[int, ...]:  # fmt: skip
    """Return the requested times of the instants that a restore to the newest savepoint undoes, in removal order; ()
    without a savepoint.
    """
    saved = newest(savepoints)
    if saved is None:
        return ()
    done = {entry.requested for entry in published}
    pending = (own.requested for own in every_writer.values() if is_on_timeline(own, rollbacks))
    writing = (each for each in pending if each not in done and not is_undone(restores, each))
    return undone_by(saved, published, (*plans, *log_plans), writing, table_protocol)


def find_undone(
    clock: int, request_time: TakeTime, table_protocol: Protocol, restores: Planned, published: Published,
    plans: Plans, savepoints: Savepoints, every_writer: Writers, log_plans: Plans = (),
    rollbacks: tuple[Rollback, ...] = (),
) -> Changes:  # fmt: skip
    """Find the instants to undo, and obtain a requested time for the restore."""
    (time, clock), saved = request_time(clock, action="restore"), newest(savepoints)
    assert saved is not None, "the guard saw the same savepoints"
    order = to_undo(table_protocol, restores, published, plans, savepoints, every_writer, log_plans, rollbacks)
    return {"own": Restorer(PLANNED, time, order, to=saved.at, kept=saved.writes), "clock": clock}


def put_plan(
    own: Restorer, me: str, restores: Planned, published: Published, plans: Plans, savepoints: Savepoints,
    read_meanwhile: bool, log_plans: Plans | None = None,
) -> Changes:  # fmt: skip
    """Put the plan of the restore on the timeline. After this step, no actor sees the instants listed in the plan."""
    gone = tuple(plan for plan in (*plans, *(log_plans or ())) if plan.requested in own.undone)
    entries = taken_off(published, own.undone) if read_meanwhile else ()
    plan = Restore(own.restore, own.to, me, False, own.undone, own.kept, gone, entries=entries)
    logs = {} if log_plans is None else {"log_plans": tuple(each for each in log_plans if each not in gone)}
    return {
        "own": own._replace(step=PLANNED, to=0, kept=()),
        "restores": (*restores, plan),
        "published": still_there(published, own.undone),
        "plans": tuple(each for each in plans if each not in gone),
        "savepoints": tuple(each for each in savepoints if each.requested not in own.undone),
        **logs,
    }


def start(own: Restorer, restore: Restore) -> Restorer:
    return Restorer("undoing", restore.requested, restore.undone)


def next_instant(own: Restorer) -> Iterable[Args]:
    return ((("instant", own.undone[own.done]),),)


def undo_instant(own: Restorer, restores: Planned) -> Changes:
    """Delete the data files of one undone instant, and then its timeline files."""
    own = own._replace(step="undone" if own.done + 1 == len(own.undone) else "undoing", done=own.done + 1)
    mine = (r._replace(gone=max(r.gone, own.done)) if r.requested == own.restore else r for r in restores)
    return {"own": own, "restores": tuple(mine)}


def published_restore(me: str, own: Restorer) -> tuple[Restorer, Restored]:
    return Restorer(), Restored(own.restore, own.completed, me)


def pending_restores(
    pending_instants: Iterable[Instant], restores: Planned, published: Published
) -> Iterator[Instant]:
    """Redefine the view `pending_instants` to omit undone writes and to include pending restores."""
    for instant in pending_instants:
        if instant.action != "deltacommit" or not is_undone(restores, instant.requested):
            yield instant
    done = {entry.requested for entry in published if isinstance(entry, Restored)} if restores else ()
    yield from pending_plans(restores, "restore", done)


def settled_time(settled_time: int, restores: Planned) -> int:
    """Redefine the view `settled_time` to be no earlier than the requested time of the newest restore."""
    return max(settled_time, *(each.requested for each in restores), 0)
