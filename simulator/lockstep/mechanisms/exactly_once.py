"""Batches that are sent again."""

from __future__ import annotations

from ..mechanism import Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("exactly-once",
            about="A batch carries an id and a digest. A batch that has committed is not written again; other rows "
                  "under its id raise an error.",
            source="docs/contract.md, ONCE; HoodieStreamingSink, checkpoints in commits",
            engine=("collect", "writes.idempotency:repeated", "writes.idempotency:claim_batch",
                    "writes.idempotency:resolve_repeated", "data.digest:digest_of"),
            hudi_impossible="Hudi's streaming sink has batches, the client of this peer does not",
            mutants=("batch-written-by-another", "batch-known-by-its-newest", "batch-not-claimed",
                     "batch-digest-not-compared"),
            verdicts=("batch-ids-at-request", "batch-ids-ignored", "batch-known-by-its-id"), promises=("ONCE",),
            trace="25-sent-again", boundary="Batch ids"),
    ),
    rows=(
        # a batch that was sent again, and was committed before it begins or while it writes
        MappingRow("writer_skips_batch", "upsert", starts=True),
        MappingRow("writer_finds_batch", "upsert", ends_after="lock.release"),
        MappingRow("writer_takes_back_repeat", "upsert"),
        # other rows are committed under the id of the batch
        MappingRow("writer_refuses_batch", "upsert", starts=True, raises="Conflict", always=True),
        MappingRow("writer_takes_back_other_rows", "upsert", raises="Conflict", always=True),
    ),
    hudi_cannot="only Hudi's streaming sink knows batches, not the client of the peer",
    traceless="no segment has a repeated batch",
)  # fmt: skip
