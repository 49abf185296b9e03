"""Partial updates."""

from __future__ import annotations

from nbcc.model.kernel.writer import WRITER_WRITES_LOG
from nbcc.model.mechanisms.partial_updates import PartialUpdates

from ..mechanism import Feature, Lockstep

BY_COLUMN = "each column keeps the ordering value with which it was set"

LOCKSTEP = Lockstep(
    features=(
        Feature("partial-updates",
            about="Each stream sets some columns; each column has the value of the highest write that set it, above "
                  "the greatest delete.",
            source="Blog, wide-table joins; RFC-66, partial table schema fields; docs/contract.md, SNAP",
            model=(WRITER_WRITES_LOG,),
            engine=("data.partial:merge_columns", "data.partial:split", "data.partial:contributing",
                    "data.partial:in_window", "writes.batch:columns_to_set"),
            hudi_impossible="its client writes whole rows; partial ones come from MERGE INTO of Spark SQL only. How "
                            "its readers read ours is a finding",
            mutants=("partial-row-says-all", "partial-loser-is-dropped", "partial-join-forgets-the-delete",
                     "partial-late-column-is-lost"),
            verdicts=("partial-by-row", "partial-rows-in-base"), promises=("SNAP", "INCR", "LAWS", "QUIET"),
            trace="62-partial-updates", boundary="**Partial updates**"),
    ),
    refuses={
        PartialUpdates(column_merge="by_row"): BY_COLUMN,
        PartialUpdates(column_merge="by_row_in_base"): BY_COLUMN,
    },
    traceless="times, plans and file names do not depend on the rows",
)  # fmt: skip
