"""ONCE: at most one instant commits a batch, however often the batch was sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from .history import Chronicle


def broken(history: Chronicle) -> Iterator[str]:
    """Group the instants by batch, and report each batch that has several instants."""
    by_batch = defaultdict(list)
    for instant in history.published:
        if instant.batch:
            by_batch[instant.batch].append(instant.requested)
    for batch, instants in sorted(by_batch.items()):
        if len(instants) > 1:
            yield f"the batch {batch} is committed {len(instants)} times, by {min(instants)} first"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Compare each instant with every other instant."""
    for batch in sorted({instant.batch for instant in history.published if instant.batch}):
        same = [instant.requested for instant in history.published if instant.batch == batch]
        if len(same) > 1:
            yield f"the batch {batch} is committed {len(same)} times, by {min(same)} first"
