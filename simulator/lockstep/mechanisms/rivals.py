"""Two live runners of one plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.mechanisms.rivals import PlanCheck

from ..mechanism import Feature, Lockstep, MappingRow, PeerStep, Runs, calls, impossible

ROLLS_BACK = "a second compactor of Hudi's first rolls back the first one's run and deletes its files"


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the rows of an actor that resumes the plan of another, finds it completed, or finds that another actor has
    deleted files of the plan.
    """
    compacts = runs.kind is COMPACTOR
    hudi = impossible(ROLLS_BACK) if compacts else None

    def row(step: str, raises: str = "", always: bool = False) -> MappingRow:
        return MappingRow(f"{runs.kind.name}_{step}", runs.publishes, raises=raises, always=always, hudi=hudi)

    yield replace(runs.inflight, action=runs.inflight.action.replace("_starts_", "_resumes_"), hudi=resumed(compacts))
    # Before it starts its plan it has made no call. Otherwise it deletes its files under the lock.
    yield row("finds_it_done")
    # only under options that the engine does not support
    yield row("checks_plan")
    # A file of its plan is deleted. It deletes its files without the lock.
    yield row("finds_input_cleaned")
    # under the lock: another runner has deleted its files, and has not completed the plan
    yield row("misses_files", raises="Conflict", always=True)


def resumed(compacts: bool) -> PeerStep | None:
    return calls("compact") if compacts else None


LOCKSTEP = Lockstep(
    features=(
        Feature("rivals",
            about="An idle runner may take up any pending plan; the runner that publishes first completes it, and the "
                  "others give way.",
            source="RFC-66, non-serial compaction plan schedule; apache/hudi #18012 (HUDI-7503)",
            engine=("services.resume:completed", "services.resume:files_or_completed",
                    "writes.attempts:files_of_other_attempts"),
            hudi=("compact",),
            mutants=("plan-completed-twice", "completed-by-another-unseen", "loser-deletes-listed-files",
                     "loser-deletes-base-file"),
            verdicts=("plan-checked-early",), promises=("MONO", "CLEAN", "QUIET", "PROGRESS"),
            trace="91-two-compactors-one-plan", boundary="**Rivals**"),
    ),
    refines=refined,
    refuses={PlanCheck(plan_check="before_lock"): "a runner checks under the lock whether its plan is completed"},
    examples=(("plan-checked-early", "rivals"),),
)  # fmt: skip
