"""A stream is a Spark streaming query that reads the table and writes each batch into a sink; it can restart from its
Spark checkpoint.

The module `stream` defines the streaming actor.
"""

from __future__ import annotations

from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.transition import Action
from ...world import World
from . import stream
from .options import StreamLimits, Streams


def compose(composition: Composition) -> None:
    """Add the transitions of every stream to a model."""
    if composition.actors_of("stream"):
        settled = composition.protocol[Streams].empty_trigger == "keeps_offset"
        composition.map_view(stream.NEWEST_OFFSET, stream.newest_offset if settled else stream.present_offset)
        stream.compose(composition)


def check(world: World) -> None:
    """Raise ValueError if `lost_checkpoints` or `copied_checkpoints` is greater than `restarts`."""
    limits = world[StreamLimits]
    if max(limits.lost_checkpoints, limits.copied_checkpoints) > limits.restarts:
        raise ValueError("world: lost_checkpoints and copied_checkpoints are at most restarts")


MECHANISM = Mechanism(
    compose=compose,
    kinds=(stream.STREAM,),
    options=Streams,
    limits=StreamLimits,
    check=check,
    actions=(
        Action("stream_chooses_offset", "lists the timeline; its next batch ends at the newest completed write",
               "{actor} chooses its next offset"),
        Action("stream_logs_offset", "stores the end of its batch in Spark's offset log",
               "{actor} stores the offset in its offset log"),
        Action("stream_sends_batch", "reads the window; the sink writes the batch, or has it already",
               "{actor} reads its window and sends the batch to its sink"),
        Action("stream_is_refused", "the sink has other rows under the id of its batch: raises an error",
               "{actor} is refused: its sink has other rows under the id of the batch"),
        Action("stream_commits_batch", "stores the number of its batch in Spark's commit log",
               "{actor} stores the batch in its commit log"),
        Action("stream_restarts", "stops and starts again from its Spark checkpoint", "{actor} restarts"),
        Action("stream_loses_checkpoint", "starts again without a Spark checkpoint, as a new query from the beginning",
               "{actor} restarts without its checkpoint, as a new query"),
        Action("stream_copies_checkpoint", "copies its Spark checkpoint", "{actor} copies its checkpoint"),
        Action("stream_restores_checkpoint", "starts again from the copy of its Spark checkpoint",
               "{actor} restarts from the copy of its checkpoint"),
    ),
)  # fmt: skip
