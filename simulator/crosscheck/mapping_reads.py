"""Maps the actions of reading actors (readers, consumers, queriers, streams) to engine calls."""

from __future__ import annotations

from typing import Final

from .mapping_row import SPARK, MappingRow

AFTER_LISTING: Final = ("get version", "get archive", "get restore.requested")
"""The calls that complete a listing of the timeline: the archive, and the plans of restores that it shows."""

REFUSES: Final = ("BadInput", "Cleaned")
"""The classes of the errors by which the engine refuses a read."""

# fmt: off
READS: Final[tuple[MappingRow, ...]] = (
    MappingRow("reader_starts_listing",           "snapshot", ends_after="list.begin timeline", starts=True),
    MappingRow("reader_ends_listing",             "snapshot", ends_after="list.end timeline"),
    MappingRow("reader_starts_listing_again",     "snapshot", ends_after="list.begin timeline"),
    MappingRow("reader_ends_listing_again",       "snapshot", ends_after="list.end timeline"),
    # The files of a manifest exist before it and never change, so reading them later is safe.
    MappingRow("reader_looks_into_archive",       "snapshot", ends_after="get version"),
    # only under options that the engine does not support
    MappingRow("reader_opens_archive",            "snapshot", ends_after="get version", starts=True),
    MappingRow("reader_reads",                    "snapshot", raises="Cleaned"),

    # The first listing determines the window's end, the second finds the writes that completed in it.
    MappingRow("consumer_takes_window",           "incremental", ends_after="list.end timeline", also=AFTER_LISTING,
        starts=True, arguments=(("after", "after"),)),
    MappingRow("consumer_lists_window",           "incremental", ends_after="list.end timeline", also=AFTER_LISTING,
        raises="Cleaned"),
    MappingRow("consumer_reads_window",           "incremental", raises="Cleaned"),

    # The first listing shows whether the time is settled, the second what completed by it.
    MappingRow("querier_asks_as_of", "as_of", ends_after="list.end timeline", also=AFTER_LISTING, starts=True,
        arguments=(("time", "until"),)),
    MappingRow("querier_asks_window", "incremental", ends_after="list.end timeline", also=AFTER_LISTING, starts=True,
        arguments=(("after", "after"), ("until", "until"))),
    MappingRow("querier_asks_changes", "changes", ends_after="list.end timeline", also=AFTER_LISTING, starts=True,
        arguments=(("after", "after"), ("until", "until"))),
    MappingRow("querier_asks_read_optimized", "read_optimized", ends_after="list.end timeline", also=AFTER_LISTING,
        starts=True),
    MappingRow("querier_settles",                 "as_of", ends_after="lock.release", raises="BadInput"),
    MappingRow("querier_lists_again",             "as_of", ends_after="list.end timeline", also=AFTER_LISTING,
        raises=REFUSES),
    MappingRow("querier_reads",                   "as_of", raises=REFUSES),

    *(MappingRow(f"stream_{action}", SPARK) for action in (
        "chooses_offset", "logs_offset", "sends_batch", "is_refused", "commits_batch", "restarts", "loses_checkpoint",
        "copies_checkpoint", "restores_checkpoint")),
)
# fmt: on
