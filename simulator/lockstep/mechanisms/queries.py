"""Queries at any time."""

from __future__ import annotations

from nbcc.model.machine.options import names_of
from nbcc.model.variants.order import Order

from ..mechanism import AFTER_LISTING, Feature, Lockstep, MappingRow
from .reader import IN_ONE_CALL

REFUSES = ("BadInput", "Cleaned")
"""The classes of the errors by which the engine refuses a read."""

WINDOW = (("after", "after"), ("until", "until"))

LOCKSTEP = Lockstep(
    features=(
        Feature("changes",
            about="The change log of a window is the difference of its two snapshots: one row per key, before and "
                  "after.",
            source="RFC-66, incremental and CDC queries", model=(),
            options=("as_of_axis", "as_of_bound", "tombstones", *names_of(Order)), engine=("changes",),
            hudi_impossible="Hudi writes change logs only if hoodie.table.cdc.enabled is set, which these tables do "
                            "not set",
            mutants=("delete-without-ordering-value", "change-log-of-what-stayed", "change-log-of-an-earlier-state"),
            verdicts=("tombstones-dropped", "requested-merge-order"), promises=("CDC",), trace="11-tombstones-dropped",
            boundary="change logs"),
        Feature("queries",
            about="A querier lists, settles the time of its query under the lock if it must, lists again and reads; "
                  "other times are refused by class.",
            source="docs/contract.md, TRAVEL, INCR, CDC, RO and ANSWER; RFC-66, time travel queries",
            engine=("as_of", "incremental", "changes", "read_optimized", "reads.travel:settled_at"),
            hudi_impossible="Hudi's reader lists and reads in one call; the queries themselves are compared at the end"
                            " of a history",
            mutants=("as-of-settled-without-lock", "as-of-requested-time-answered", "window-ends-unsettled",
                     "read-optimized-merges-logs", "changes-of-the-first-record", "refusal-of-another-class"),
            verdicts=("unsettled-read",), promises=("TRAVEL", "INCR", "CDC", "RO", "ANSWER"),
            trace="93-a-query-settles-its-time", boundary="**Queriers**"),
    ),
    rows=(
        # The first listing shows whether the time is settled, the second what completed by it.
        MappingRow("querier_asks_as_of", "as_of", ends_after="list.end timeline", also=AFTER_LISTING, starts=True,
                   arguments=(("time", "until"),)),
        MappingRow("querier_asks_window", "incremental", ends_after="list.end timeline", also=AFTER_LISTING,
                   starts=True, arguments=WINDOW),
        MappingRow("querier_asks_changes", "changes", ends_after="list.end timeline", also=AFTER_LISTING, starts=True,
                   arguments=WINDOW),
        MappingRow("querier_asks_read_optimized", "read_optimized", ends_after="list.end timeline", also=AFTER_LISTING,
                   starts=True),
        MappingRow("querier_settles", "as_of", ends_after="lock.release", raises="BadInput"),
        MappingRow("querier_lists_again", "as_of", ends_after="list.end timeline", also=AFTER_LISTING, raises=REFUSES),
        MappingRow("querier_reads", "as_of", raises=REFUSES),
    ),
    hudi_cannot=IN_ONE_CALL,
)  # fmt: skip
