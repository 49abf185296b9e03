"""A consumer reads consecutive incremental windows, and stores the start of the next window as a checkpoint.

RFC-22, "Incremental reads", discusses three ways for a checkpoint to advance past pending writers. With option 1 of
RFC-22, a consumer reads all completed writes, but its checkpoint stays before the oldest pending write. With option 2
of RFC-22, the incremental window also ends before the requested time of the oldest pending write. With option 3 of
RFC-22, completion times bound the incremental windows.

    The module `consumer` defines the consuming actor. The module `cleaned` defines how a consumer handles deleted
    files.
"""

from __future__ import annotations

from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from . import cleaned, consumer
from .options import ConsumedWindows, Consumers


def compose(composition: Composition) -> None:
    """Add the transitions of every consumer to a model."""
    if composition.actors_of("consumer"):
        consumer.compose(composition)
        if composition.actors_of("cleaner"):
            cleaned.compose(composition)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(consumer.CONSUMER,),
    options=Consumers,
    limits=ConsumedWindows,
    after=("cleaning",),
    actions=(
        Action("consumer_takes_window", "lists the timeline; its window ends at the newest that it sees",
               "{actor} takes a window"),
        Action("consumer_lists_window", "lists again, and finds every write that completed in the window",
               "{actor} lists its window"),
        Action("consumer_reads_window", "reads the window and stores, with what it read, its new checkpoint",
               "{actor} reads its window and stores the checkpoint"),
    ),
)  # fmt: skip
