"""ONCE: at most one instant commits a batch, however often the batch is sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .history import Chronicle


def broken(history: Chronicle) -> Iterator[str]:
    """Group the instants by batch, and report each batch with more than one instant."""
    by_batch = defaultdict(list)
    for instant in history.published:
        if instant.batch:
            by_batch[instant.batch].append(instant.requested)
    for batch, instants in sorted(by_batch.items()):
        if len(instants) > 1:
            yield f"the batch {batch} is committed {len(instants)} times, by {min(instants)} first"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of ONCE literally: for each batch, search all instants that commit it."""
    for batch in sorted({instant.batch for instant in history.published if instant.batch}):
        same = [instant.requested for instant in history.published if instant.batch == batch]
        if len(same) > 1:
            yield f"the batch {batch} is committed {len(same)} times, by {min(same)} first"
