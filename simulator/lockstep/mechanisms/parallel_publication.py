"""Instants of one entry that are published in any order."""

from __future__ import annotations

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms.parallel_publication import PUBLISHERS, PublicationOrder

from ..mechanism import Feature, Lockstep, MappingRow
from .announcements import GOES_ON
from .decision_log import NOT_IN_HUDI

OPERATIONS = ("upsert", "run_compaction", "run_rollback")

LOCKSTEP = Lockstep(
    features=(
        Feature("parallel-publication",
            about="The instants of one entry are published at the same time, and readers ignore those behind a missing "
                  "one.",
            source="docs/contract.md, MONO and TRAVEL; RFC-66, reader expectations",
            options=names_of(PublicationOrder),
            includes=("announcements",),
            engine=("writes.deciding:publish_entry", "settled", "convert"),
            hudi_impossible="its readers refuse the version of such a table",
            mutants=("returned-behind-a-missing-instant", "next-entry-behind-a-missing-instant",
                     "newest-listed-instant-read"),
            verdicts=("parallel-commits", "parallel-commits-newest-listed"),
            promises=("SNAP", "TRAVEL", "ATOM", "FRESH"),
            trace="115-newest-listed-instant",
            boundary="**Parallel publication**"),
    ),
    rows=tuple(
        MappingRow(f"{kind.name}_learns_newer_tail", operation, before=GOES_ON)
        for kind, operation in zip(PUBLISHERS, OPERATIONS, strict=True)
    ),
    refuses={PublicationOrder(settled_by="listing"): "its readers read the last entry of the decision log"},
    hudi_cannot=NOT_IN_HUDI,
)  # fmt: skip
