"""Data files that appear after their writer has died."""

from __future__ import annotations

from ..mechanism import FAULT, Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("late-files",
            about="A task can outlive its driver: its file appears before, during or after the rollback of its write, "
                  "and no commit lists it.",
            source="RFC-22, inline rollback; HUDI markers, docs/hudi-format.md, Data files",
            engine=("writes.attempts:files_of_other_attempts", "writes.attempts:delete_other_attempts",
                    "writes.attempts:marked_files", "repair.orphans:orphan_files"),
            hudi_impossible="`data` of this peer returns after every task of it, and the protocol has no rule for late"
                            " files; tests/interop puts one back before and after a rollback",
            mutants=("rollback-leaves-files",), verdicts=("archived-by-absence",), promises=("ATOM", "QUIET"),
            trace="26-late-file", boundary="Late files"),
    ),
    rows=(MappingRow("late_file_lands", FAULT),),
    hudi_cannot="`data` returns when all its tasks have ended; findings show what Hudi makes of a late file",
)  # fmt: skip
