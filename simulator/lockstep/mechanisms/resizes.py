"""Resizes: another number of file groups, while writers go on."""

from __future__ import annotations

from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.model.mechanisms.resizes.rules import ResizeLimits, Resizing

from ..mechanism import Feature, Lockstep, MappingRow, Runs, ServiceLabel

NOT_PLAYED = "histories with resizes are not played on it yet"
CUT_OVER = "a writer that finds another mapping under the lock moves its logs"

LOCKSTEP = Lockstep(
    features=(
        Feature("resize",
            about="The keys of each partition are given to another number of file groups while writers go on: no "
                  "write is refused or lost.",
            source="RFC-66, new file slicing; RFC-42; RFC-89; apache/hudi #12699; docs/contract.md, KEY, PART",
            engine=("resize", "cancel_resize", "schedule_resize", "run_resize", "writes.mapping:complete_in_groups"),
            hudi_impossible="Hudi 1.2.0 rescales a bucket index only while no writer runs (RFC-89)",
            mutants=("resize-last-round-unchecked", "resize-old-logs-kept", "resize-late-logs-left",
                     "resize-early-logs-left", "resize-late-base-wins", "resize-replaced-group-shown",
                     "resize-builds-on-pending-base", "resize-beside-new-compactions", "resize-planned-twice",
                     "resize-input-cleaned", "resize-window-takes-every-log", "resize-window-lists-open-groups",
                     "resize-newest-mapping-only", "resize-cancelled-range-forgotten"),
            verdicts=("resize-unchecked", "resize-by-range", "rfc-42-dual-write"),
            promises=("SNAP", "PART", "KEY", "INCR"), trace="76-resize-hides-a-write",
            boundary="**Resizes**"),
    ),
    service=ServiceLabel("resize", barrier=True),
    # the engine has no operation of its own yet: a resize is published as a compaction is
    runs=Runs(
        RESIZER,
        begins=MappingRow("resizer_schedules_resize", "schedule_compaction", starts=True),
        inflight=MappingRow("resizer_starts_resize", "run_compaction", starts=True),
        publishes="run_compaction",
    ),
    rows=(
        MappingRow("resizer_resumes_plan", "run_compaction", starts=True),
        MappingRow("resizer_finds_it_done", "run_compaction"),
        MappingRow("resizer_writes_base", "run_compaction"),
        MappingRow("resizer_copies_logs", "run_compaction"),
        MappingRow("resizer_finds_late_logs", "run_compaction"),
        MappingRow("resizer_cancels_resize", "run_compaction"),
        MappingRow("writer_finds_another_mapping", "upsert"),
    ),
    hudi_cannot="Hudi rescales a bucket index only while no writer runs",
    refuses={
        ResizeLimits(resizes=1): NOT_PLAYED,
        Resizing(resizing="by_range"): CUT_OVER,
        Resizing(resizing="dual_write"): CUT_OVER,
        Resizing(mapping_check="at_open"): CUT_OVER,
    },
    examples=(("default", "resized"), ("default", "resized_crash"), ("default", "resized_cancelled")),
)  # fmt: skip
