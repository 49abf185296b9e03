"""Savepoints, which Hudi makes in one call (`restores.IN_ONE_CALL`)."""

from __future__ import annotations

from nbcc.model.mechanisms.savepoints import SAVEPOINTER_PINS_INSTANT, SAVEPOINTER_PUBLISHES_SAVEPOINT

from ..mechanism import Feature, Lockstep, MappingRow
from .restores import IN_ONE_CALL

LOCKSTEP = Lockstep(
    features=(
        Feature("savepoints",
            about="A savepoint keeps the files of a state until it is deleted; a restore returns to it while writers "
                  "run. The plan of a restore hides undone writes at once and refuses writes in flight.",
            source="Apache Hudi 1.x, savepoint and restore actions; docs/contract.md, CLEAN, REC",
            includes=("restores",),
            engine=("savepoint", "delete_savepoint", "restore", "schedule_restore", "run_restore",
                    "services.savepoints:pinned_files", "writes.restoring:plan_restore",
                    "reads.retention:refuse_undone"),
            hudi=("procedure",),
            mutants=("savepoint-without-logs", "restore-by-request", "restore-leaves-pending", "restore-seen-when-done",
                     "restore-forgets-log-compactions", "restore-leaves-logs-of-a-slice", "undone-replace-not-noticed",
                     "reader-lists-no-third-time", "consumer-goes-on-past-a-restore", "restore-hides-all-earlier-times",
                     "undone-range-answered", "savepoint-without-covered-logs", "restore-to-the-oldest-savepoint"),
            verdicts=("savepoints-ignored", "savepoints-without-logs", "restore-by-request", "restore-leaves-pending"),
            promises=("CLEAN", "REC", "TRAVEL", "ANSWER", "SAVED"), trace="58-restore-beside-a-writer",
            boundary="**Savepoints and restore**"),
    ),
    rows=(
        # under one lock: list the timeline, put the inflight instant; take the time, put the completed instant
        MappingRow(SAVEPOINTER_PINS_INSTANT, "savepoint", ends_after="put savepoint.inflight", starts=True),
        MappingRow(SAVEPOINTER_PUBLISHES_SAVEPOINT, "savepoint"),
        MappingRow("savepointer_drops_savepoint", "delete_savepoint", starts=True),
    ),
    hudi_cannot=IN_ONE_CALL,
    traceless="no segment has a clean, from which a savepoint would keep files",
)  # fmt: skip
