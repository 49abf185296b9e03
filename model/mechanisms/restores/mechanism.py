"""A restore returns the table to a savepoint: it undoes every write that completed after the savepoint's instant.

While the lock is free, a restorer puts the plan of a restore to the newest savepoint on the timeline, in one atomic
step that stands for taking the lock, planning and releasing the lock. (If locks can be lost, the mechanism `lost_locks`
divides the step.) The plan lists the instants that completed after the savepoint's instant, and the pending instants.
Once the plan is on the timeline, all actors ignore the listed instants, which the restorer then undoes one by one. A
running writer detects the restore before publishing; new writers may begin. A restorer that resumes the plan of
another restorer undoes the instants listed in the plan.

    The module `rules` decides which instants a restore undoes.
    The module `undone` defines how an actor detects that a restore has undone the actor's instant.
    The module `listing` defines how a reader lists a timeline from which instants are removed.
    The module `windows` defines which incremental windows a consumer refuses because of a restore.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import COMPACTOR, PLANS
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication, publication_actions
from ...kernel.reader import READER
from ...kernel.table import Instant, Plans
from ...kernel.timeline import PENDING, SETTLED, Published, add_pending_plans
from ...kernel.writer import WRITER, Writer
from ...machine.composition import Composition
from ...machine.mechanism import Kind, Mechanism, Together
from ...machine.plans import Runner, none_pending, plans_and_runs
from ...machine.transition import Action, Args, Changes, Component, Guard, limit_left, preset, transition
from ...protocol import Protocol
from ...variants.listing import ReaderListing
from ..cleaning.mechanism import CLEANER
from ..consumers import CONSUMER
from ..insert_overwrite import OVERWRITER
from ..log_compaction.mechanism import LOG_COMPACTOR
from ..queries import QUERIER
from ..rollback.rules import Rollback, is_on_timeline
from ..savepoints import SAVEPOINTER, SavepointList
from . import listing, undone, windows
from .rules import (
    Restore,
    Restored,
    RestoreLimits,
    Restores,
    is_undone,
    newest_savepoint,
    still_there,
    taken_off,
    undone_by,
)

Planned = tuple[Restore, ...]
Writers = Mapping[str, Writer]

RESTORER_PLANS_RESTORE = "restorer_plans_restore"
PLANNED = "about to start its restore"


class Restorer(NamedTuple):
    """The state of one restorer. `restore` is the requested time of the actor's restore. `undone` lists the instants to
    undo, and `done` counts those already undone.

    `to` is the completion time of the savepoint's instant, and `saved_writes` contains the writes that the savepoint
    retains. Both fields are used only until the plan is on the timeline.
    """

    step: str = "idle"
    restore: int = 0
    undone: tuple[int, ...] = ()
    done: int = 0
    completed: int = 0
    to: int = 0
    saved_writes: tuple[int, ...] = ()
    records: tuple[Any, ...] = ()


# No `service=True`: a restore is meant to change the results of reads, so promise QUIET does not judge it.
RESTORER = Kind(name="restorer", prefix="rest", first=Restorer())


def compose(composition: Composition) -> None:
    """Add restorers to the model, and let other actors detect restores."""
    if not composition.actors_of(RESTORER):
        return
    composition.add_component("restores", ())
    composition.map_view(PENDING, without_undone)
    add_pending_plans(composition, "restores", "restore", lambda entry: isinstance(entry, Restored))
    # Under `read_time = clock` a reader takes its time from the clock, not from the view.
    if composition.protocol[ReaderListing].read_time != "clock":
        composition.map_view(SETTLED, settled_time)
    rule = {"table_protocol": composition.protocol}
    # Only a read that began before the restore may still use undone instants. Without readers and consumers the plan
    # does not store them, so that the search meets fewer states.
    read_meanwhile = bool(composition.actors_of(READER) or composition.actors_of(CONSUMER))
    put = preset(put_plan, read_meanwhile=read_meanwhile)
    logs = ("log_plans",) if "log_plans" in composition.components else ()
    something = Guard("there must be a savepoint, and something to undo", preset(to_undo, **rule))
    for me in composition.actors_of(RESTORER):
        action = RESTORER_PLANS_RESTORE
        guards = (LOCK_IS_FREE, RESTORE_LEFT, NO_RESTORE_PENDING, something)
        plans = transition(action, me, at="idle", guards=guards, effect=preset(find_undone, **rule),
                           changes=("own", "clock"), tags=(PLANS, READS_CLOCK))  # fmt: skip
        composition.add(
            plans.extend(put, "own", "restores", "published", "plans", "savepoints", *logs),
            transition("restorer_undoes_instant", me, at="undoing", effect=undo_instant, arguments=next_instant,
                       changes=("own", "restores")),
        )  # fmt: skip
        runs = Runner(kind="restorer", actor=me, plans="restores", requested="restore", start=start, completes=Restored,
                      resumes="restorer_resumes_restore", what="restore")  # fmt: skip
        plans_and_runs(composition, action, "restorer_starts_restore", Restorer(), runs, at=PLANNED)
        publication(composition, Publication("restorer", me, "undone", partial(published_restore, me), "restore"))
    for module in (undone, listing, windows):
        module.compose(composition)


RESTORE_LEFT = limit_left("a restore must be left", "restores", lambda world: world[RestoreLimits].restores)
NO_RESTORE_PENDING = Guard("no restore may be pending", preset(none_pending, plans=Component("restores")))


def to_undo(
    table_protocol: Protocol, restores: Planned, published: Published, plans: Plans, savepoints: SavepointList,
    every_writer: Writers, log_plans: Plans = (), rollbacks: tuple[Rollback, ...] = (),
) -> tuple[int, ...]:  # fmt: skip
    """Return the requested times of the instants that a restore to the newest savepoint undoes, in removal order; ()
    without a savepoint.
    """
    # The guard and the effect both compute this, because a guard may not change the state.
    saved = newest_savepoint(savepoints)
    if saved is None:
        return ()
    # A writer that has published is still in the state with its requested time until its next write.
    completed = {entry.requested for entry in published}
    pending = (own.requested for own in every_writer.values() if is_on_timeline(own, rollbacks))
    writing = (each for each in pending if each not in completed and not is_undone(restores, each))
    return undone_by(saved, published, (*plans, *log_plans), writing, table_protocol)


def find_undone(
    clock: int, request_time: TakeTime, table_protocol: Protocol, restores: Planned, published: Published,
    plans: Plans, savepoints: SavepointList, every_writer: Writers, log_plans: Plans = (),
    rollbacks: tuple[Rollback, ...] = (),
) -> Changes:  # fmt: skip
    """Find the instants to undo, and obtain a requested time for the restore."""
    (time, clock), saved = request_time(clock, action="restore"), newest_savepoint(savepoints)
    assert saved is not None, "the guard saw the same savepoints"
    order = to_undo(table_protocol, restores, published, plans, savepoints, every_writer, log_plans, rollbacks)
    return {"own": Restorer(PLANNED, time, order, to=saved.at, saved_writes=saved.writes), "clock": clock}


def put_plan(
    own: Restorer, me: str, restores: Planned, published: Published, plans: Plans, savepoints: SavepointList,
    read_meanwhile: bool, log_plans: Plans | None = None,
) -> Changes:  # fmt: skip
    """Put the plan of the restore on the timeline. After this step, no actor sees the instants listed in the plan."""
    # Kept in the restore: a runner that started one of them must still find out which files it takes.
    undone_plans = tuple(plan for plan in (*plans, *(log_plans or ())) if plan.requested in own.undone)
    entries = taken_off(published, own.undone) if read_meanwhile else ()
    plan = Restore(requested=own.restore, at=own.to, runner=me, inflight=False, undone=own.undone,
                   saved_writes=own.saved_writes, plans=undone_plans, entries=entries)  # fmt: skip
    logs = {} if log_plans is None else {"log_plans": tuple(each for each in log_plans if each not in undone_plans)}
    return {
        "own": own._replace(step=PLANNED, to=0, saved_writes=()),
        "restores": (*restores, plan),
        "published": still_there(published, own.undone),
        "plans": tuple(each for each in plans if each not in undone_plans),
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
    # The greatest: a dead restorer's plan is resumed from its beginning, and what is deleted stays deleted.
    mine = (r._replace(gone=max(r.gone, own.done)) if r.requested == own.restore else r for r in restores)
    return {"own": own, "restores": tuple(mine)}


def published_restore(me: str, own: Restorer) -> tuple[Restorer, Restored]:
    return Restorer(), Restored(own.restore, own.completed, me)


def without_undone(pending_instants: Iterable[Instant], restores: Planned) -> Iterator[Instant]:
    """Redefine the view `pending_instants` to omit undone writes."""
    for instant in pending_instants:
        # Undone plans are already gone from the component `plans`, on which the other entries of the view rest.
        if instant.action != "deltacommit" or not is_undone(restores, instant.requested):
            yield instant


def settled_time(settled_time: int, restores: Planned) -> int:
    """Redefine the view `settled_time` to be no earlier than the requested time of the newest restore. A read as of a
    time that a restore has undone is refused (`rules.hides`), so the view must not
    choose such a time.
    """
    return max(settled_time, *(each.requested for each in restores), 0)


ALLOWED_WITH_READS = (WRITER, COMPACTOR, SAVEPOINTER, RESTORER, OVERWRITER, READER, CONSUMER, QUERIER)
# Names where the mechanism of the kind imports this module.
ALLOWED_WITHOUT_READS = (CLEANER, "archiver", "rollbacker", LOG_COMPACTOR, "checkpointer")
"""The kinds of actors that a world with a restorer may have. A world that also has a reader or a consumer may have only
the kinds in `ALLOWED_WITH_READS`.
"""


MECHANISM = Mechanism(
    compose=compose,
    after=("cleaning", "consumers", "log_compaction", "occ", "insert_overwrite", "rollback", "savepoints"),
    together=(
        Together((RESTORER,), (*ALLOWED_WITH_READS, *ALLOWED_WITHOUT_READS)),
        Together((RESTORER, READER), ALLOWED_WITH_READS),
        Together((RESTORER, CONSUMER), ALLOWED_WITH_READS),
    ),
    kinds=(RESTORER,),
    options=Restores,
    limits=RestoreLimits,
    actions=(
        Action(RESTORER_PLANS_RESTORE, "under the lock: puts the plan; from then on no actor sees what it undoes",
               "{actor} plans the restore to the newest savepoint"),
        Action("restorer_starts_restore", "puts the inflight instant of its restore", "{actor} starts its restore"),
        Action("restorer_undoes_instant", "deletes the files of one instant, then its files on the timeline",
               "{actor} undoes {instant}", data_phase=True),
        *publication_actions("restorer"),
        *undone.actions(),
    ),
)  # fmt: skip
