"""Replaces of file groups."""

from __future__ import annotations

from nbcc.model.mechanisms.insert_overwrite import OVERWRITER, InsertOverwrite

from ..mechanism import Feature, Lockstep, MappingRow, Runs, ServiceLabel
from .occ import ABORTS, CHECKS

LOCKSTEP = Lockstep(
    features=(
        Feature("insert-overwrite",
            about="New rows, or none, replace all that completed in a partition before; a write that completes later "
                  "survives.",
            source="docs/contract.md, SNAP: a replacing write has a barrier K; Apache Hudi's insert_overwrite and "
                   "delete_partition",
            model=("overwriter_schedules_replace", "overwriter_starts_replace", "overwriter_writes_base",
                   "overwriter_takes_lock", "overwriter_takes_completion_time", "overwriter_publishes_instant"),
            engine=("insert_overwrite", "delete_partition", "replaced"),
            hudi_impossible="Hudi 1.2.0 refuses insert_overwrite under NBCC; its delete_partition permanently hides "
                            "the file ids that it replaces (finding delete-partition-hides-later-inserts)",
            mutants=("replaced-for-good", "replace-leaves-empty-groups", "window-forgets-replace"),
            verdicts=("replaced-file-ids",), promises=("SNAP", "INCR", "CDC", "ATOM"),
            trace="63-a-write-outlives-a-replace", boundary="Insert overwrite and delete partition"),
    ),
    service=ServiceLabel("replace", barrier=True),
    runs=Runs(
        OVERWRITER,
        # under the lock: list the timeline, read its pending plans, take K, put the plan
        begins=MappingRow("overwriter_schedules_replace", "insert_overwrite", ends_after="lock.release", starts=True,
                          arguments=(("partitions", "partitions"),)),
        inflight=MappingRow("overwriter_starts_replace", "insert_overwrite", ends_after="put compaction.inflight"),
        publishes="insert_overwrite",
    ),
    rows=(
        MappingRow("overwriter_writes_base", "insert_overwrite", ends_after="put base"),
        # an optimistic overwriter, as an optimistic writer
        MappingRow("overwriter_passes_check", "insert_overwrite", ends_after="list.end timeline", also=CHECKS),
        MappingRow("overwriter_aborts", "insert_overwrite", ends_after="list.end timeline", also=ABORTS),
        MappingRow("overwriter_takes_back_replace", "insert_overwrite", raises="Conflict"),
    ),
    hudi_cannot="Hudi refuses insert_overwrite under non-blocking concurrency control",
    refuses={InsertOverwrite(replacing="file_ids"): "a replace is a plan that takes no files"},
)  # fmt: skip
