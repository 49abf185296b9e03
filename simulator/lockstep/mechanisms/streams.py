"""Structured Streaming queries."""

from __future__ import annotations

from nbcc.model.mechanisms.streams import MECHANISM, Streams

from ..mechanism import SPARK, Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("streams",
            about="A query follows the table by completion times and sends each batch once; it restarts from, without "
                  "or from a copy of its checkpoint.",
            source="RFC-22, incremental reads and restarts; Spark Structured Streaming, offset log and commit log; "
                   "docs/contract.md, ONCE",
            engine=("stream_source:StreamSource", "stream:StreamSink", "data_source.stream_write:StreamWriter",
                    "data_source.stream_read:StreamReader", "writes.shared_request:shared_request",
                    "services.consumers:waits_for_consumers"),
            hudi_impossible="Hudi's streaming source and sink run inside a Spark query",
            mutants=("stream-batch-known-by-its-number", "stream-offset-is-a-requested-time",
                     "stream-offset-stored-before-the-sink", "stream-skips-an-empty-trigger",
                     "sink-knows-a-batch-by-its-number", "source-offset-is-a-requested-time",
                     "source-publishes-before-the-sink", "source-skips-an-empty-trigger"),
            verdicts=("batch-known-by-its-number",), promises=("ONCE",), trace="87-a-number-is-no-batch",
            boundary="**Streams**"),
    ),
    rows=tuple(MappingRow(action.name, SPARK) for action in MECHANISM.actions),
    hudi_cannot="Hudi's streaming source and sink run inside a Spark query",
    refuses={
        Streams(batch_identity="number"): "the id of a query and a number identify a batch",
        Streams(empty_trigger="moves_to_now"): "an offset is the completion time of a write",
    },
)  # fmt: skip
