"""Readers."""

from __future__ import annotations

from nbcc.model.machine.options import names_of
from nbcc.model.variants.listing import ReaderListing
from nbcc.model.variants.visibility import Visibility

from ..mechanism import Feature, Lockstep, MappingRow

IN_ONE_CALL = "Hudi's reader lists and reads in one call"

LOCKSTEP = Lockstep(
    features=(
        Feature("snapshot",
            about="A reader lists the timeline twice, keeps what completed at or before its time, and reads files by "
                  "slices.",
            source="RFC-66, reader expectations; object stores: a listing is a sequence of pages",
            options=(*names_of(ReaderListing), *names_of(Visibility)),
            engine=("snapshot", "read_optimized", "settled", "timeline"), hudi=("snapshot", "read_optimized"),
            mutants=("snapshot-with-uncompleted-write", "groups-read-apart", "log-rollover-forgotten",
                     "reader-takes-second-newest-time", "settled-at-second-newest", "listing-from-a-cache",
                     "base-file-skipped-though-a-log-matches", "skipped-rows-hide-nothing"),
            verdicts=("single-listing", "unsettled-read"), promises=("SNAP", "ATOM", "TRAVEL", "FRESH"),
            trace="12-one-listing", boundary="snapshot, as-of, incremental and change reads"),
    ),
    rows=(
        MappingRow("reader_starts_listing", "snapshot", ends_after="list.begin timeline", starts=True),
        MappingRow("reader_ends_listing", "snapshot", ends_after="list.end timeline"),
        MappingRow("reader_starts_listing_again", "snapshot", ends_after="list.begin timeline"),
        MappingRow("reader_ends_listing_again", "snapshot", ends_after="list.end timeline"),
        MappingRow("reader_reads", "snapshot", raises="Cleaned"),
    ),
    hudi_cannot=IN_ONE_CALL,
)  # fmt: skip
