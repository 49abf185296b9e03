"""Crashes and locks that expire."""

from __future__ import annotations

from ..mechanism import CRASH, FAULT, Feature, Lockstep, MappingRow, no_call

LOCKSTEP = Lockstep(
    features=(
        Feature("crashes",
            about="An actor may die between any two steps, and its lock expires.",
            source="RFC-22, failed writers; RFC-66, assumption on locks", engine=("run_compaction", "lock:held"),
            hudi=("compact",), mutants=("plan-of-the-dead-stays", "ends-are-not-judged"),
            verdicts=("lock-never-expires",), promises=("QUIET", "ATOM", "MONO", "PROGRESS"), trace="04-dead-compactor",
            boundary="**Crashes** inside a step"),
    ),
    rows=(
        MappingRow("actor_crashes", CRASH, hudi=no_call("`crash` ends the client and its heartbeat")),
        MappingRow("lock_expires", FAULT,
                   hudi=no_call("Hudi holds its lock inside one call, so a dead client holds none")),
    ),
    traceless="no segment has a crash",
)  # fmt: skip
