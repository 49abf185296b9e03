"""Merge functions of users."""

from __future__ import annotations

from nbcc.model.kernel.writer import WRITER_WRITES_LOG

from ..mechanism import Feature, Lockstep

LOCKSTEP = Lockstep(
    features=(
        Feature("merge-function",
            about="A function merges two rows into one; its laws are tested before a table is created with it, so that"
                  " no service changes a row.",
            source="Hudi, hoodie.record.merge.mode=CUSTOM; docs/contract.md, LAWS", model=(WRITER_WRITES_LOG,),
            engine=("data.function:merge_by_function", "data.function_laws:check_laws"),
            hudi_impossible="a CUSTOM merger is a Java class, which this peer does not have; its readers refuse our "
                            "file slices with logs",
            mutants=("merge-function-untried", "merge-function-forgets-the-delete", "merge-function-keeps-the-newest"),
            verdicts=("function-not-associative", "function-not-commutative", "function-not-idempotent"),
            promises=("LAWS", "QUIET", "SNAP"), trace="84-average", boundary="**A merge function of the user**"),
    ),
    traceless="times, plans and file names do not depend on the rows",
)  # fmt: skip
