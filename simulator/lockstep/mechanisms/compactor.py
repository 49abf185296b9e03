"""Compactors."""

from __future__ import annotations

from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.machine.options import names_of
from nbcc.model.variants.merging import Merging
from nbcc.model.variants.scheduling import Scheduling

from ..mechanism import INSTANT, Feature, Lockstep, MappingRow, Runs, ServiceLabel, calls, no_call

COMMITS = "`commit_compaction` takes the lock, the time, and publishes"

LOCKSTEP = Lockstep(
    features=(
        Feature("compaction",
            about="A compactor plans under the lock while writers continue; any compactor runs the plan and writes "
                  "base files from the logs that completed before it.",
            source="RFC-66, non-serial compaction plan schedule",
            options=(*names_of(Scheduling), *names_of(Merging), "world.compactions"),
            engine=("schedule_compaction", "run_compaction", "compact"), hudi=("plan", "compact", "commit_compaction"),
            mutants=("plan-takes-inflight-log", "compaction-drops-log", "planner-lists-after-unlock",
                     "completion-not-found-by-planner", "plan-leaves-a-gap", "tombstone-stamped-now",
                     "read-optimized-with-logs", "read-optimized-empty-beside-logs", "read-optimized-of-pending-base",
                     "read-optimized-of-first-base", "compactor-never-plans", "compaction-leaves-out-a-group",
                     "compactor-waits-for-writers", "compactor-goes-on-without-input"),
            verdicts=("tombstones-dropped", "hudi-1.2.0", "hudi-rs-0.5.0"),
            promises=("QUIET", "PART", "SNAP", "LAWS", "RO", "USEFUL"), trace="03-compaction-beside-writers",
            boundary="compaction"),
    ),
    service=ServiceLabel("compaction", barrier=True),
    runs=Runs(
        COMPACTOR,
        begins=MappingRow(
            "compactor_schedules_plan", "schedule_compaction", starts=True, hudi=calls("plan", takes=True)
        ),
        inflight=MappingRow(
            "compactor_starts_plan", "run_compaction", ends_after="put compaction.inflight", starts=True,
            arguments=((INSTANT, "plan"),), hudi=calls("compact"),
        ),
        # Under the lock it checks whether another compactor has completed the plan.
        publishes="run_compaction",
        hudi=(no_call(COMMITS), no_call(COMMITS, takes=True), calls("commit_compaction")),
    ),
    rows=(
        # The log holds the deletes that the compaction keeps.
        MappingRow(
            "compactor_writes_base", "run_compaction", ends_after="put base", also=("put marker", "put log"),
            hudi=no_call("`compact` has put the inflight instant and every base file"),
        ),
    ),
)  # fmt: skip
