"""Inserts under a record index. The engine's upserts refuse all other keys, or move their records to the home."""

from __future__ import annotations

from nbcc.model.mechanisms.record_index.mechanism import INDEX_COMPACTOR
from nbcc.model.mechanisms.record_index.rules import Inserts

from ..mechanism import Feature, Lockstep, MappingRow, Runs, ServiceLabel

FIRST_COMPLETED = "its readers merge no record in another partition"

LOCKSTEP = Lockstep(
    features=(
        Feature("record-index",
            about="Writers insert, update and delete keys under a record index: the location that completes first is "
                  "the home of a key, and records elsewhere are merged at home. In the engine, a bulk insert alone "
                  "inserts keys, or every write, which moves its record to the home.",
            source="RFC-66, new file slicing; apache/hudi HUDI-8300; docs/contract.md, KEY, SNAP",
            engine=("index", "writes.locations:with_known_keys", "writes.locations:Homes",
                    "data.known_keys:unknown_keys"),
            hudi_impossible="Hudi 1.2.0 admits NBCC only with a simple bucket index",
            mutants=("record-index-own-logs-alone", "record-index-others-show", "record-index-first-requested",
                     "record-index-failed-write-found", "record-index-base-alone", "record-index-home-alone-kept",
                     "record-index-pending-taken", "record-index-forwarded-log-cleaned",
                     "record-index-moved-unchecked", "record-index-unread", "record-index-other-bucket",
                     "record-index-built-files-unread", "record-index-failed-insert-counted",
                     "record-index-inserts-unchecked", "record-index-not-moved", "record-index-moved-to-newest",
                     "record-index-pending-counted"),
            verdicts=("inserts-unchecked", "inserts-by-newest-location", "inserts-moved", "inserts-refused"),
            promises=("KEY", "SNAP", "PART", "CLEAN"), trace="105-key-inserted-twice",
            boundary="**Inserts under a record index**"),
    ),
    service=ServiceLabel("index compaction"),
    # the engine has no operation of its own: the model's plan is published as a compaction is
    runs=Runs(
        INDEX_COMPACTOR,
        begins=MappingRow("index_compactor_schedules_plan", "schedule_compaction", starts=True),
        inflight=MappingRow("index_compactor_starts_plan", "run_compaction", starts=True),
        publishes="run_compaction",
    ),
    rows=(
        MappingRow("index_compactor_resumes_plan", "run_compaction", starts=True),
        MappingRow("index_compactor_finds_it_done", "run_compaction"),
        MappingRow("writer_finds_keys", "upsert", before=("put marker",)),
        MappingRow("writer_inserts_keys", "upsert", before=("put marker",)),
        MappingRow("writer_refuses_insert", "upsert", raises="UnknownKey", always=True),
        MappingRow("writer_finds_keys_inserted", "upsert", ends_after="lock.release"),
    ),
    hudi_cannot="Hudi admits NBCC only with a simple bucket index",
    without_actors="it compacts no record index",
    refuses={
        Inserts(inserts="newest"): FIRST_COMPLETED,
        Inserts(inserts="unchecked"): FIRST_COMPLETED,
    },
    examples=(("default", "record_index"), ("default", "record_index_compacted"),
              ("inserts-moved", "record_index"), ("inserts-refused", "record_index")),
)  # fmt: skip
