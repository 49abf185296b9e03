"""A stream is a Spark streaming query that reads the table. The sink of a stream writes each batch exactly once.

For each batch, the stream chooses the next offset, which is a completion time, and Spark stores it in the offset log.
After Spark has stored the offset, the stream reads an incremental window, and the sink writes the rows under the
batch's id. After the sink has written the batch, Spark stores the batch id in the commit log. After a restart, Spark
resends a batch that is in the offset log but not in the commit log.

The Spark checkpoint consists of the offset log, the commit log and the id of the query. After a restart, the Spark
checkpoint may be intact, lost, or replaced by an older copy.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ..kernel.table import Write
from ..kernel.timeline import Published
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, transition
from ..protocol import Protocol
from ..world import World


class Streams(Options):
    """The options that decide how a stream's sink identifies a batch, and how a stream advances its offset."""

    batch_identity: Literal["query_and_number", "number"] = option(
        "query_and_number",
        "what identifies a batch of a stream. query_and_number: the id of its query, which the Spark checkpoint has, "
        "its number and the digest of its rows; number: its number alone, so that a batch of a new query counts as "
        "written",
    )
    empty_trigger: Literal["keeps_offset", "moves_to_now"] = option(
        "keeps_offset",
        "the next offset of a stream. keeps_offset: the newest completed write, so that a trigger without writes keeps "
        "the offset; moves_to_now: the present time, before which a write may still be published",
    )


class StreamLimits(Limits):
    """The limits on the batches, restarts and Spark checkpoints of streams."""

    batches: int = limit(0, "how many batches each stream sends", needs="stream")
    restarts: int = limit(0, "how often each stream restarts", needs="stream")
    lost_checkpoints: int = limit(0, "how many of its restarts begin with a new Spark checkpoint", needs="stream")
    copied_checkpoints: int = limit(0, "how often its Spark checkpoint is copied and later restored", needs="stream")


STREAM_CHOOSES_OFFSET = "stream_chooses_offset"
STREAM_SENDS_BATCH = "stream_sends_batch"
STREAM_IS_REFUSED = "stream_is_refused"
STREAM_COMMITS_BATCH = "stream_commits_batch"


class SparkCheckpoint(NamedTuple):
    """The content of a Spark checkpoint. `query` is the id of the streaming query. `ends` lists the end offsets in the
    offset log, and `committed` is the length of the commit log.
    """

    query: int = 1
    ends: tuple[int, ...] = ()
    committed: int = 0


class SinkBatch(NamedTuple):
    """A batch in the sink: the id of the query, the number of the batch, and the requested times of the writes in it.
    """

    query: int
    number: int
    writes: tuple[int, ...]


class Stream(NamedTuple):
    """The state of one stream. `next_end` is the chosen end offset of the next batch. `sink` lists the batches that the
    sink has written.

    `copy` is a saved copy of the Spark checkpoint, from which the stream may restart. `queries` counts the query ids
    used so far. `sent` is the number of batches that the stream has begun. `restarts` counts all restarts of the
    stream, and `lost` the restarts without a Spark checkpoint. `copies` counts the copies made of the Spark checkpoint.
    """

    step: str = "idle"
    checkpoint: SparkCheckpoint = SparkCheckpoint()
    next_end: int = 0
    sink: tuple[SinkBatch, ...] = ()
    copy: SparkCheckpoint | None = None
    queries: int = 1
    sent: int = 0
    restarts: int = 0
    lost: int = 0
    copies: int = 0
    records: tuple[Any, ...] = ()


NEWEST_OFFSET = "newest_offset"
"""The view of the offset at which a batch ends that is chosen now."""

LOGS, SENDS, COMMITS_BATCH, REFUSED = "logs offset", "sends batch", "commits batch", "refused"

STREAM = Kind(name="stream", prefix="stream", first=Stream(), idle_steps=("idle", REFUSED))


def compose(composition: Composition) -> None:
    """Add the transitions of every stream to a model."""
    streams = composition.actors_of(STREAM)
    if streams:
        settled = composition.protocol[Streams].empty_trigger == "keeps_offset"
        composition.map_view(NEWEST_OFFSET, newest_offset if settled else present_offset)
    for me in streams:
        composition.add(
            transition(STREAM_CHOOSES_OFFSET, me, at="idle", to=LOGS, guards=(BATCH_LEFT, HAS_NEWER),
                       effect=choose_offset),
            transition("stream_logs_offset", me, at=LOGS, to=SENDS, effect=log_offset),
            transition(STREAM_SENDS_BATCH, me, at=SENDS, to=COMMITS_BATCH, guards=(NOT_OTHER_ROWS,),
                       effect=send_batch),
            transition(STREAM_IS_REFUSED, me, at=SENDS, to=REFUSED, guards=(~NOT_OTHER_ROWS,)),
            transition(STREAM_COMMITS_BATCH, me, at=COMMITS_BATCH, to="idle", effect=commit_batch),
            transition("stream_restarts", me, guards=(RUNS, RESTART_LEFT), effect=restart),
            transition("stream_loses_checkpoint", me, guards=(RESTART_LEFT, LOSS_LEFT), effect=lose_checkpoint),
            transition("stream_copies_checkpoint", me, at="idle", guards=(COPY_LEFT,), effect=copy_checkpoint),
            transition("stream_restores_checkpoint", me, guards=(RESTART_LEFT, HAS_COPY), effect=restore_checkpoint),
        )  # fmt: skip


def offset_of(write: Any) -> int:
    """Return a completed write's completion time, which streams use as its offset."""
    time: int = write.completed
    return time


def newest_offset(published: Published) -> int:
    return max((offset_of(entry) for entry in published if isinstance(entry, Write)), default=0)


def present_offset(published: Published, clock: int) -> int:
    """Return the current time, which a faulty stream uses as an offset. A write with an earlier completion time may
    still be published.
    """
    return max(newest_offset(published), clock)


def begin_of(checkpoint: SparkCheckpoint) -> int:
    """Return the start offset of the next batch."""
    return checkpoint.ends[-1] if checkpoint.ends else 0


def window_of(published: Published, checkpoint: SparkCheckpoint) -> tuple[int, ...]:
    """Return the requested times of the writes in the last batch of the offset log."""
    after, until = (0, *checkpoint.ends)[-2:]
    writes = (entry for entry in published if isinstance(entry, Write))
    return tuple(sorted(write.requested for write in writes if after < offset_of(write) <= until))


def written_as(sink: tuple[SinkBatch, ...], query: int, number: int, protocol: Protocol) -> SinkBatch | None:
    """Return the batch that the sink has written under a query id and batch number; None if there is none."""
    by_number = protocol[Streams].batch_identity == "number"
    return next((each for each in sink if each.number == number and (by_number or each.query == query)), None)


def batch_is_left(own: Stream, world: World) -> bool:
    return own.sent < world[StreamLimits].batches


def has_newer(own: Stream, newest_offset: int) -> bool:
    return newest_offset > begin_of(own.checkpoint)


def is_not_other_rows(own: Stream, published: Published, protocol: Protocol) -> bool:
    """False if the sink already contains a batch with the same id but other rows. With `batch_identity = number`, the
    sink skips a repeated id without a check of its rows.
    """
    if protocol[Streams].batch_identity == "number":
        return True
    checkpoint = own.checkpoint
    there = written_as(own.sink, checkpoint.query, len(checkpoint.ends), protocol)
    return there is None or there.writes == window_of(published, checkpoint)


def runs(own: Stream) -> bool:
    return own.step != "idle"


def restart_is_left(own: Stream, world: World) -> bool:
    return own.restarts < world[StreamLimits].restarts


def loss_is_left(own: Stream, world: World) -> bool:
    return own.lost < world[StreamLimits].lost_checkpoints and own.checkpoint != SparkCheckpoint(own.checkpoint.query)


def copy_is_left(own: Stream, world: World) -> bool:
    return own.copies < world[StreamLimits].copied_checkpoints


def has_copy(own: Stream) -> bool:
    return own.copy is not None and own.copy != own.checkpoint


BATCH_LEFT = Guard("{me} must have a batch left", batch_is_left, limit=True)
HAS_NEWER = Guard("a write must have completed since the last offset of {me}", has_newer)
NOT_OTHER_ROWS = Guard("the sink must not have other rows under the id of the batch", is_not_other_rows)
RUNS = Guard("{me} must have begun a batch", runs)
RESTART_LEFT = Guard("{me} must have a restart left", restart_is_left, limit=True)
LOSS_LEFT = Guard("{me} must have a checkpoint that it can still lose", loss_is_left, limit=True)
COPY_LEFT = Guard("a copy of the checkpoint of {me} must be left", copy_is_left, limit=True)
HAS_COPY = Guard("a copy of the checkpoint of {me} must differ from the checkpoint", has_copy)


def choose_offset(own: Stream, newest_offset: int) -> Changes:
    """List the timeline, and choose `newest_offset` as the end offset of the next batch."""
    return {"own": own._replace(next_end=newest_offset, sent=own.sent + 1)}


def log_offset(own: Stream) -> Changes:
    """Store the end offset of the batch in the offset log."""
    checkpoint = own.checkpoint._replace(ends=(*own.checkpoint.ends, own.next_end))
    return {"own": own._replace(checkpoint=checkpoint, next_end=0)}


def send_batch(own: Stream, published: Published, protocol: Protocol) -> Changes:
    """Read the rows of the batch, and let the sink write them unless it has already written the batch."""
    checkpoint = own.checkpoint
    number = len(checkpoint.ends)
    if written_as(own.sink, checkpoint.query, number, protocol) is not None:
        return {"own": own}
    batch = SinkBatch(checkpoint.query, number, window_of(published, checkpoint))
    return {"own": own._replace(sink=tuple(sorted((*own.sink, batch))))}


def commit_batch(own: Stream) -> Changes:
    """Store the number of the batch in the commit log."""
    return {"own": own._replace(checkpoint=own.checkpoint._replace(committed=len(own.checkpoint.ends)))}


def restart(own: Stream) -> Changes:
    """Restart the stream from its Spark checkpoint. A batch that is in the offset log but not in the commit log is sent
    again.
    """
    return resumed(own._replace(restarts=own.restarts + 1), own.checkpoint)


def lose_checkpoint(own: Stream) -> Changes:
    """Restart as a new query without a Spark checkpoint. The restarted query reads from the beginning of the table and
    numbers its batches from 1.
    """
    begun = own._replace(restarts=own.restarts + 1, lost=own.lost + 1, queries=own.queries + 1)
    return resumed(begun, SparkCheckpoint(begun.queries))


def copy_checkpoint(own: Stream) -> Changes:
    """Save a copy of the Spark checkpoint, which a later restart may use."""
    return {"own": own._replace(copy=own.checkpoint, copies=own.copies + 1)}


def restore_checkpoint(own: Stream) -> Changes:
    """Restart from a saved copy of the Spark checkpoint. The query keeps the id stored in the copy."""
    assert own.copy is not None
    return resumed(own._replace(restarts=own.restarts + 1, copy=None), own.copy)


def resumed(own: Stream, checkpoint: SparkCheckpoint) -> Changes:
    """Return the state of the stream after it has started from a Spark checkpoint."""
    step = SENDS if len(checkpoint.ends) > checkpoint.committed else "idle"
    return {"own": own._replace(step=step, checkpoint=checkpoint, next_end=0)}


def check(world: World) -> None:
    """Raise ValueError if `lost_checkpoints` or `copied_checkpoints` is greater than `restarts`."""
    limits = world[StreamLimits]
    if max(limits.lost_checkpoints, limits.copied_checkpoints) > limits.restarts:
        raise ValueError("world: lost_checkpoints and copied_checkpoints are at most restarts")


MECHANISM = Mechanism(
    compose=compose,
    kinds=(STREAM,),
    options=Streams,
    limits=StreamLimits,
    check=check,
    actions=(
        Action(STREAM_CHOOSES_OFFSET, "lists the timeline; its next batch ends at the newest completed write",
               "{actor} chooses its next offset"),
        Action("stream_logs_offset", "stores the end of its batch in Spark's offset log",
               "{actor} stores the offset in its offset log"),
        Action(STREAM_SENDS_BATCH, "reads the window; the sink writes the batch, or has it already",
               "{actor} reads its window and sends the batch to its sink"),
        Action(STREAM_IS_REFUSED, "the sink has other rows under the id of its batch: raises an error",
               "{actor} is refused: its sink has other rows under the id of the batch"),
        Action(STREAM_COMMITS_BATCH, "stores the number of its batch in Spark's commit log",
               "{actor} stores the batch in its commit log"),
        Action("stream_restarts", "stops and starts again from its Spark checkpoint", "{actor} restarts"),
        Action("stream_loses_checkpoint", "starts again without a Spark checkpoint, as a new query from the beginning",
               "{actor} restarts without its checkpoint, as a new query"),
        Action("stream_copies_checkpoint", "copies its Spark checkpoint", "{actor} copies its checkpoint"),
        Action("stream_restores_checkpoint", "starts again from the copy of its Spark checkpoint",
               "{actor} restarts from the copy of its checkpoint"),
    ),
)  # fmt: skip
