"""Resizes: another number of file groups, while writers go on."""

from __future__ import annotations

from dataclasses import replace

from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.model.mechanisms.resizes.rules import ResizeLimits, Resizing

from ..mechanism import INSTANT, Feature, Lockstep, MappingRow, Runs, ServiceLabel

CUT_OVER = "a writer that finds another mapping under the lock moves its logs"
SORTS = "the engine sorts only within file groups, and finds the file group of a key by its hash"

# On disk a resize is a pending clustering, which completes as a replacecommit.
STARTS = MappingRow("resizer_starts_resize", "run_resize", ends_after="put clustering.inflight", starts=True,
                    arguments=((INSTANT, "plan"),))  # fmt: skip

LOCKSTEP = Lockstep(
    features=(
        Feature("resize",
            about="The keys of each partition are given to another number of file groups while writers go on: no "
                  "write is refused or lost.",
            source="RFC-66, new file slicing; RFC-42; RFC-89; apache/hudi #12699; docs/contract.md, KEY, PART",
            engine=("resize", "cancel_resize", "schedule_resize", "run_resize",
                    "writes.mapping:complete_in_current_groups"),
            hudi_impossible="Hudi 1.2.0 rescales a bucket index only while no writer runs (RFC-89)",
            mutants=("resize-last-round-unchecked", "resize-old-logs-kept", "resize-late-logs-left",
                     "resize-early-logs-left", "resize-late-base-wins", "resize-replaced-group-shown",
                     "resize-builds-on-pending-base", "resize-beside-new-compactions", "resize-planned-twice",
                     "resize-input-cleaned", "resize-window-takes-every-log", "resize-window-lists-open-groups",
                     "resize-newest-mapping-only", "resize-cancelled-range-forgotten", "resize-mapping-unchecked",
                     "resize-late-files-unseen", "resize-moves-no-record", "resize-copies-every-key",
                     "resize-base-of-now", "resize-compaction-planned-meanwhile", "resize-takes-newest-slices",
                     "resize-merged-files-deleted", "resize-planned-groups-deleted",
                     "resize-replaced-files-deleted-early", "resize-old-slices-kept", "sort-late-insert-by-order",
                     "sort-late-log-by-hash", "sort-heir-at-read", "sort-holder-unread"),
            verdicts=("resize-unchecked", "resize-by-range", "rfc-42-dual-write", "sort-by-value"),
            promises=("SNAP", "PART", "KEY", "INCR"), trace="76-resize-hides-a-write",
            boundary="**Resizes**"),
    ),
    service=ServiceLabel("resize", barrier=True),
    # Under the lock it looks whether another runner has completed the resize, and for logs that it has not copied.
    runs=Runs(
        RESIZER,
        begins=MappingRow("resizer_schedules_resize", "schedule_resize", starts=True),
        inflight=STARTS,
        publishes="run_resize",
    ),
    rows=(
        replace(STARTS, action="resizer_resumes_plan"),
        MappingRow("resizer_finds_it_done", "run_resize"),
        # The log holds the deletes that the resize keeps.
        MappingRow("resizer_writes_base", "run_resize", ends_after="put base", also=("put marker", "put log")),
        # If its rounds no longer shrink, the engine copies the last logs under the lock (`run_resize`). The model has
        # no such step.
        MappingRow("resizer_finds_late_logs", "run_resize", ends_after="lock.release"),
        MappingRow("resizer_copies_logs", "run_resize", before=("lock.acquire",)),
        MappingRow("resizer_cancels_resize", "cancel_resize", starts=True),
        MappingRow("writer_finds_another_mapping", "upsert", ends_after="lock.release"),
    ),
    hudi_cannot="Hudi rescales a bucket index only while no writer runs",
    refuses={
        Resizing(resizing="by_range"): CUT_OVER,
        Resizing(resizing="dual_write"): CUT_OVER,
        Resizing(mapping_check="at_open"): CUT_OVER,
        Resizing(sorted_home="value"): SORTS,
        ResizeLimits(sort_order=1): SORTS,
    },
    examples=(("default", "resized"), ("default", "resized_crash"), ("default", "resized_cancelled")),
)  # fmt: skip
