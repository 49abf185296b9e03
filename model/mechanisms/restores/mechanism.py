"""A restore returns the table to a savepoint: it undoes every write that completed after the savepoint's instant.

    The module `restorer` defines the restoring actor.
    The module `undone` defines how an actor detects that a restore has undone the actor's instant.
    The module `listing` defines how a reader lists a timeline from which instants are removed.
    The module `windows` defines which incremental windows a consumer refuses because of a restore.
"""

from __future__ import annotations

from ...kernel.publication import publication_actions
from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from ...world import World
from . import listing, restorer, undone, windows
from .options import RestoreLimits, Restores

WITH_READS = ("writer", "compactor", "savepointer", "restorer", "overwriter", "reader", "consumer", "querier")
OTHERS = ("cleaner", "archiver", "rollbacker", "log_compactor", "checkpointer")
"""The kinds of actors that a world with a restorer may have: with a reader or consumer, and without."""


def compose(composition: Composition) -> None:
    """Add restorers to the model, and let other actors detect restores."""
    if composition.actors_of("restorer"):
        restorer.compose(composition)
        undone.compose(composition)
        listing.compose(composition)
        windows.compose(composition)


def check(world: World) -> None:
    """Raise ValueError if the world combines a restorer with unsupported kinds of actors."""
    there = {kind for kind, count in world.actors.items() if count}
    if "restorer" not in there:
        return
    for others, allowed in (("", (*WITH_READS, *OTHERS)), ("reader", WITH_READS), ("consumer", WITH_READS)):
        if (not others or others in there) and (refused := sorted(there - {*allowed})):
            met = "restorer" + (f" and a {others}" if others else "")
            raise ValueError(f"world: a {refused[0]} together with a {met} is not modelled; leave one of them out")


MECHANISM = Mechanism(
    compose=compose,
    after=("cleaning", "consumers", "log_compaction", "occ", "insert_overwrite", "rollback", "savepoints"),
    check=check,
    kinds=(restorer.RESTORER,),
    options=Restores,
    limits=RestoreLimits,
    actions=(
        Action("restorer_plans_restore", "under the lock: puts the plan; from then on no actor sees what it undoes",
               "{actor} plans the restore to the newest savepoint"),
        Action("restorer_starts_restore", "puts the inflight instant of its restore", "{actor} starts its restore"),
        Action("restorer_undoes_instant", "deletes the files of one instant, then its files on the timeline",
               "{actor} undoes {instant}", data_phase=True),
        *publication_actions("restorer"),
        *undone.actions(),
    ),
)  # fmt: skip
