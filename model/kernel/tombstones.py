"""The tombstone rule: by event time a compaction keeps every delete that wins among the records it merges.

RFC-66 does not specify deletes in a compaction. By event time the record with the greatest ordering value wins, even if
others complete after it. Without a tombstone in the base file, a record with a smaller ordering value that completes
after the compaction would bring the deleted row back. By commit time the last completion wins: no tombstone is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .merge import Fold, Merger


def needs_tombstones(event_time: bool) -> bool:
    """Whether the tables of a merge mode need tombstones: only by event time."""
    return event_time


def keeps_deletes(shape: Fold, merger: Merger) -> bool:
    """Whether a base file has tombstones. One that another engine wrote may lack them (`Fold.drops_deletes`)."""
    return merger.keeps_tombstones and not (shape.base is not None and shape.base.drops_deletes)
