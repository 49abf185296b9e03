"""Cleaning."""

from __future__ import annotations

from nbcc.model import World
from nbcc.model.mechanisms.cleaning.mechanism import CLEANER
from nbcc.model.mechanisms.cleaning.rules import Cleaning, Cleans

from ..mechanism import INSTANT, Feature, Lockstep, MappingRow, Runs, ServiceLabel


def retained(world: World, actor: str) -> int:
    """Return how many commits a cleaner retains."""
    return world.limits_of(actor, Cleans).commits_retained


LOCKSTEP = Lockstep(
    features=(
        Feature("cleaning",
            about="A plan publishes the horizon, then the clean deletes files that no later read needs; a read of an "
                  "older state is refused.",
            source="RFC-66, file slices by completion time; docs/contract.md, CLEAN",
            engine=("schedule_clean", "run_clean", "clean", "maintain", "services.cleaning:horizon_of",
                    "files.slices:kept_since", "reads.retention:refuse_cleaned"),
            hudi=("clean",),
            mutants=("clean-counts-planned-base", "clean-by-requested-time", "clean-without-horizon",
                     "horizon-refused-itself", "clean-horizon-counts-services", "clean-keeps-newest-slice-alone",
                     "clean-takes-slice-of-base", "clean-time-not-new", "cleaner-never-plans", "clean-deletes-nothing",
                     "clean-forgets-planned-inputs"),
            verdicts=("clean-by-requested-time", "clean-behind-pending-plan", "late-horizon"),
            promises=("CLEAN", "QUIET", "TRAVEL", "RETAIN", "ANSWER", "PART", "USEFUL"), trace="52-cleaning",
            boundary="**Cleaning**"),
    ),
    service=ServiceLabel("clean"),
    runs=Runs(
        CLEANER,
        begins=MappingRow("cleaner_schedules_clean", "schedule_clean", starts=True,
                          arguments=(("retained", retained),)),
        inflight=MappingRow("cleaner_starts_clean", "run_clean", ends_after="put clean.inflight", starts=True,
                            arguments=((INSTANT, "clean"),)),
        publishes="run_clean",
    ),
    rows=(MappingRow("cleaner_deletes_files", "run_clean", ends_after="delete.all"),),
    hudi_cannot="Hudi's clean also rolls back failed writes, and counts requests",
    refuses={Cleaning(horizon="after_delete"): "a clean publishes its horizon with its plan"},
    traceless="no segment has a clean",
    examples=(("plan-checked-early", "cleaning_crash"),),
)  # fmt: skip
