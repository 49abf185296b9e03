"""The options and limits of streams."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


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
