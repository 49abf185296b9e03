"""The options of the metadata table."""

from __future__ import annotations

from typing import Literal

from ...machine.options import Limits, Options, limit, option


class MetadataOptions(Options):
    """The options that decide when the metadata table is written and how readers use it."""

    metadata_commit: Literal["before_data", "after_data"] = option(
        "before_data",
        "before_data: an instant is committed to the metadata table before it completes in the data table; after_data: "
        "afterwards",
    )
    metadata_lock: Literal["under_lock", "outside_lock"] = option(
        "under_lock",
        "under_lock: the metadata table is written under the lock that also covers publication; outside_lock: before "
        "that lock is taken, so that two actors may write it at once",
    )
    metadata_again: Literal["applied", "refused"] = option(
        "applied",
        "applied: an instant that the metadata table has already is applied again, which changes nothing; refused: it "
        "is an error",
    )
    metadata_read: Literal["after_timeline", "before_timeline"] = option(
        "after_timeline",
        "after_timeline: a reader lists files through the metadata table after it has listed the timeline; "
        "before_timeline: it uses files that it listed earlier",
    )
    metadata_trust: Literal["completed", "listed"] = option(
        "completed",
        "completed: a reader uses only files whose instant is complete in the data table; listed: it uses every file "
        "that the metadata table lists",
    )


class HasMetadataTable(Limits):
    """The setting of a world (bounded configuration) that decides whether the table has a metadata table."""

    metadata_table: int = limit(
        0, "1: readers list files through a metadata table; 0: they list the store", section="table"
    )
