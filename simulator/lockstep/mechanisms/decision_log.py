"""The decision log."""

from __future__ import annotations

from collections.abc import Iterator

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms.clock_waits import Claims
from nbcc.model.mechanisms.decision_log import DecisionLog
from nbcc.model.mechanisms.fencing import Fencing

from ..mechanism import Feature, Lockstep, MappingRow, Runs

DECIDED = ("put deltacommit", "put commit", "put rollback", "put clean", "put restore")
"""The completed instants that a decision log decides."""

CHECKS_CUT = ("list.begin cut", "list.end cut")
"""The calls by which the creator of an entry checks that its number was not used before. Then it publishes."""

PUT_DECISION = "put decision"

NOT_IN_HUDI = "Hudi publishes under a lock and has no log of decisions"


def refined(runs: Runs) -> Iterator[MappingRow]:
    """Yield the rows of an actor that decides its instant by an entry of the log, after it has published the instants
    that earlier entries decide.
    """
    kind = runs.kind.name
    yield MappingRow(f"{kind}_publishes_decided", runs.publishes, ends_after=DECIDED)
    yield MappingRow(f"{kind}_decides_instant", runs.publishes, ends_after=PUT_DECISION, also=CHECKS_CUT)
    # A service first publishes what dead actors have decided.
    yield MappingRow(f"{kind}_finishes_decided", "publish_decided", starts=True)


LOCKSTEP = Lockstep(
    features=(
        Feature("decision-log",
            about="A lock can be lost while its holder is alive: with the lock alone that loses rows, with a log of "
                  "numbered decisions it costs a retry.",
            source="RFC-66, 'Assumption On Locks'; docs/contract.md, Assumptions",
            includes=("clock_waits", "lost_locks"),
            options=(*names_of(DecisionLog), *names_of(Claims), "tombstone_logs", *names_of(Fencing),
                     "world.lock_losses"),
            engine=("writes.decision_log:catch_up", "writes.decision_log:decide", "writes.decided_plans:put_plan",
                    "writes.decision_log:withdraw", "timeline.decisions:put_decision", "writes.claims:new_time",
                    "files.slices:holds_tombstones", "publish_decided"),
            hudi_impossible="its client decides by its lock alone, and cannot lose it between two of its own accesses",
            mutants=("decision-taken-twice", "decision-left-unpublished", "rollback-plan-takes-no-number",
                     "clean-plan-takes-no-number", "time-not-claimed", "log-taken-for-tombstones",
                     "restore-plan-takes-no-number", "replace-plan-takes-no-number",
                     "log-compaction-plan-takes-no-number"),
            verdicts=("decision-log", "unclaimed-times", "fenced-store"),
            promises=("MONO", "SNAP", "TRAVEL", "FREE", "REC"), trace="32-decision-log", boundary="**Decision log**"),
    ),
    refines=refined, hudi_cannot=NOT_IN_HUDI, examples=(("decision-log", "answer_lost"),),
    traceless="times, plans and file names do not depend on what decides",
)  # fmt: skip
