"""Queriers are actors that send as-of, incremental, change-log and read-optimised queries with arbitrary times.

Readers run snapshot queries, and consumers read consecutive incremental windows; queriers run all other queries. Random
histories use queriers to interleave queries with the steps of other actors.

    The module `querier` defines the querying actor.
"""

from __future__ import annotations

from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from ...world import World
from ..lost_locks import LostLocks
from . import querier
from .options import AskedQueries


def compose(composition: Composition) -> None:
    """Add the transitions of every querier to a model."""
    if composition.actors_of("querier"):
        querier.compose(composition)


def check(world: World) -> None:
    """Raise ValueError if locks can be lost: a querier that loses its lock is not modelled."""
    if world.actors.get("querier") and world[LostLocks].lock_losses:
        raise ValueError("world: a querier together with lock_losses is not modelled; leave one of them out")


MECHANISM = Mechanism(
    compose=compose,
    kinds=(querier.QUERIER,),
    limits=AskedQueries,
    after=("cleaning", "restores", "savepoints"),
    check=check,
    actions=(
        Action("querier_asks_as_of", "lists the timeline, to read the table as of a time",
               "{actor} asks for the table as of {at}"),
        Action("querier_asks_window", "lists the timeline, to read what was written in a window",
               "{actor} asks for the window {window}"),
        Action("querier_asks_changes", "lists the timeline, to read what changed in a window",
               "{actor} asks for the changes in {window}"),
        Action("querier_asks_read_optimized", "lists the timeline, to read the newest base files",
               "{actor} asks for the read-optimised table"),
        Action("querier_settles", "takes a time under the lock, so that no instant can complete before it any more",
               "{actor} takes a time, which settles the earlier ones", continues_call=True),
        Action("querier_lists_again", "lists again: everything that completed by the time of the query is there",
               "{actor} lists again", continues_call=True),
        Action("querier_reads", "reads the files; refuses a time that the table does not answer",
               "{actor} reads", continues_call=True),
    ),
)  # fmt: skip
