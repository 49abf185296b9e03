"""The tombstone rule: in event time, a compaction keeps every delete that wins among the records that it merges.

RFC-66 does not specify deletes in a compaction. In event time the record with the greatest ordering value wins, even if
others complete later. Consider a record with a smaller ordering value that completes after the compaction. Without a
tombstone in the base file, such a record would restore the deleted row. In commit time the last completion wins, so no
tombstone is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .merge import Fold, Merger


def needs_tombstones(event_time: bool) -> bool:
    """Whether a table with this merge mode needs tombstones: only in event time."""
    return event_time


def keeps_deletes(shape: Fold, merger: Merger) -> bool:
    """Whether a base file has tombstones. A base file of another engine may lack them (`Fold.drops_deletes`)."""
    return merger.keeps_tombstones and not (shape.base is not None and shape.base.drops_deletes)
