"""Writers that delete or update the rows that match a condition. In histories, the condition is true of every row."""

from __future__ import annotations

from nbcc.model.mechanisms.conditions import DELETE, FINDS, UPDATE

from ..mechanism import Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("change-by-condition",
            about="`delete(where)`, `update` and `merge` compute their rows from the newest settled state; an "
                  "optimistic writer aborts if what it read has changed.",
            source="docs/change-rows.md; RFC-22, fundamentals: anomalies; Berenson et al., 1995, phantoms",
            engine=("delete", "update", "writes.conflicts:ReadSet"),
            hudi_impossible="Hudi's client has no verb with a condition; Spark SQL computes the rows before it writes",
            mutants=("delete-begins-at-its-request", "delete-of-an-older-state", "delete-reads-its-own-groups"),
            verdicts=("occ-reads-ignored", "occ-check-before-lock"), promises=("ERASED", "ISO"),
            trace="113-row-survives-delete",
            boundary="**Changes by condition**"),
    ),
    rows=(
        # It takes T from its first listing of the timeline. What it lists later does not matter.
        MappingRow(FINDS[DELETE], "delete", before=("lock.acquire",), starts=True),
        MappingRow(FINDS[UPDATE], "update", before=("lock.acquire",), starts=True),
        MappingRow("writer_requests_change", "upsert", ends_after="lock.release"),
    ),
    hudi_cannot="Hudi's client has no verb with a condition",
    traceless="a table does not record what a write has read",
    examples=(("default", "conditional_changes"),),
)  # fmt: skip
