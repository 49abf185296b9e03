"""The tombstone rule: a compaction keeps the deletes that win in it (RFC-66 leaves open what becomes of them)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .merge import Fold, Merger


def keeps_deletes(shape: Fold, merger: Merger) -> bool:
    """Whether a base file that has this content keeps the deletes that won in it.

    By event time a log that completes later can hold an older record of the key. Without the delete in the base file
    that record would bring the row back. By commit time every later record wins anyway, so no delete is needed.
    """
    return merger.keeps_tombstones and not (shape.base is not None and shape.base.drops_deletes)
