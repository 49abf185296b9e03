"""SNAP on the hot key, which all writes update: a snapshot returns its row from the visible write with the greatest
ordering value.
"""

from __future__ import annotations

from collections.abc import Iterator

from .history import HOT, Chronicle, batches_in


def broken(history: Chronicle) -> Iterator[str]:
    """Report each read in which the row of the shared key HOT does not come from the batch with the greatest ordering
    value.
    """
    ordering = {write.batch: write.ordering for write in history.writes}
    for read in history.reads:
        batches = [batch for batch in batches_in(read) if batch in ordering]
        best = max(batches, key=ordering.__getitem__, default=None)
        won = next((batch for key, batch, _ in read.rows if key == HOT), None)
        if won != best:
            yield f"the read of {read.reader} as of {read.time} has {HOT} of {won}, and {best} outranks it"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of SNAP literally: compare each batch in a read with every other batch in the read."""
    for read in history.reads:
        won = next((batch for key, batch, _ in read.rows if key == HOT), None)
        present = {batch for key, batch, _ in read.rows if key != HOT}
        writes = [write for write in history.writes if write.batch in present]
        best = next((w.batch for w in writes if all(w.ordering >= other.ordering for other in writes)), None)
        if won != best:
            yield f"the read of {read.reader} as of {read.time} has {HOT} of {won}, and {best} outranks it"
