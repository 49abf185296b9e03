"""Puts that succeed although the writer receives another answer."""

from __future__ import annotations

from nbcc.model.mechanisms.lost_answers import LostAnswers

from ..mechanism import Feature, Lockstep, MappingRow
from .decision_log import CHECKS_CUT, PUT_DECISION

LOCKSTEP = Lockstep(
    features=(
        Feature("lost-answers",
            about="The put that commits a write succeeds and its answer is lost; the writer then finds the file and "
                  "compares it with its own.",
            source="conditional puts of object stores; docs/contract.md, Assumptions: fault set F0",
            engine=("timeline.publish:put_completed", "timeline.decisions:put_decision"),
            hudi_impossible="Hudi's own storage layer answers this peer; no put of it is lost",
            mutants=("own-commit-not-recognised", "own-commit-taken-for-older", "own-commit-by-wrong-time",
                     "own-decision-not-recognised", "own-decision-decided-again"),
            verdicts=("lost-answer-is-failure",), promises=("ACK",), trace="24-lost-answer",
            boundary="Maybe committed"),
    ),
    rows=(
        # the put succeeds, and its answer is "exists"
        MappingRow("answer_is_lost", "upsert", ends_after="put deltacommit"),
        MappingRow("writer_recognises_instant", "upsert"),
        MappingRow("answer_to_decision_is_lost", "upsert", ends_after=PUT_DECISION, also=CHECKS_CUT),
        MappingRow("writer_recognises_decision", "upsert"),
        # only under options that the engine does not support
        MappingRow("writer_reports_failure", "upsert"),
    ),
    hudi_cannot="Hudi's own storage layer answers this peer; no answer is lost",
    refuses={LostAnswers(lost_answer="reported_failed"): "a writer reads the completed instant that it finds"},
    traceless="no segment has a lost answer",
    examples=(("lost-answer-is-failure", "answer_lost"),),
)  # fmt: skip
