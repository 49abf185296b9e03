"""Optimistic concurrency control. The objects that a listing names never change, so reading them later is safe."""

from __future__ import annotations

from nbcc.model.mechanisms.occ.conflicts import Occ
from nbcc.model.mechanisms.occ.mechanism import WRITER_ABORTS, WRITER_PASSES_CHECK

from ..mechanism import LOOKS_FOR_ROLLBACKS, Feature, Lockstep, MappingRow, calls, impossible, no_call

CHECKS = (*LOOKS_FOR_ROLLBACKS, "get file")
"""Under the lock it first checks its heartbeat and its rollback. If the newest resize may be archived, it reads in the
table's properties whether the table was ever resized (`engine/writes/mapping.py`).
"""

ABORTS = (*CHECKS, "get deltacommit", "get commit", "lock.release")

LOCKSTEP = Lockstep(
    features=(
        Feature("isolation",
            about="The anomalies that each mode allows; an optimistic write that declares its reads aborts if they "
                  "have changed.",
            source="RFC-22, fundamentals: levels of isolation and their anomalies",
            model=(WRITER_PASSES_CHECK, WRITER_ABORTS), options=("conflict_reads",),
            engine=("writes.conflicts:ReadSet",),
            hudi_impossible="Hudi's strategies compare what is written; a write cannot declare what it read",
            mutants=("occ-forgets-reads", "occ-never-asks-what-was-read"), verdicts=("occ-reads-ignored",),
            promises=("ISO",), trace="46-write-skew", boundary="Isolation"),
        Feature("occ",
            about="A writer checks for conflicts under the lock with which it publishes; if a conflicting write "
                  "completed since it began, it undoes its own.",
            source="RFC-22, concurrency control, option 1, steps 1 to 4; RFC-56, early conflict detection",
            model=(WRITER_PASSES_CHECK, WRITER_ABORTS, "writer_takes_back_write", "writer_retries",
                   "writer_meets_marker", "overwriter_passes_check", "overwriter_aborts",
                   "overwriter_takes_back_replace"),
            options=("concurrency", "conflict_check", "conflict_window", "conflict_by", "timeline", "priority",
                     "early_detection", "world.retries"),
            engine=("writes.conflicts:conflict_of", "insert_overwrite"), hudi=("start", "data", "commit"),
            mutants=("occ-never-looks", "occ-check-outside-lock", "occ-forgets-partition", "occ-compares-file-ids",
                     "occ-check-goes-stale", "occ-replace-never-looks", "occ-undone-not-noticed"),
            verdicts=("occ-check-before-lock", "occ-by-start-time", "occ-by-file-id", "occ-timeline-reloaded",
                      "occ-services-first", "occ-early-detection", "single-writer"),
            promises=("FIRST", "KEY"), trace="40-occ-aborts", boundary="Optimistic concurrency control"),
    ),
    rows=(
        MappingRow(WRITER_PASSES_CHECK, "upsert", ends_after="list.end timeline", also=CHECKS,
                   hudi=no_call("`commit` takes the lock, looks for conflicts, and publishes")),
        MappingRow(WRITER_ABORTS, "upsert", ends_after="list.end timeline", also=ABORTS, hudi=calls("commit")),
        MappingRow("writer_meets_marker", "upsert", ends_after="list.end marker",
                   hudi=impossible("early conflict detection is off")),
        MappingRow("writer_takes_back_write", "upsert", raises="Conflict",
                   ends_after=("delete deltacommit.requested", "delete commit.requested"), also=("lock.release",),
                   hudi=impossible("Hudi leaves it pending until a rollback")),
        MappingRow("writer_retries", "upsert", ends_after="lock.release",
                   hudi=impossible("Hudi's data source retries, not its client")),
    ),
    refuses={
        Occ(timeline="reloaded"): "a writer lists the timeline once before it writes",
        Occ(timeline="at_start"): "a writer lists the timeline with its request",
        Occ(early_detection="on"): "a writer compares itself with completed instants only",
    },
)  # fmt: skip
