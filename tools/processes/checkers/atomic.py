"""ATOM: a read contains either all rows of a write or none of them. No read contains a row of a write that is missing
from the history.
"""

from __future__ import annotations

from collections.abc import Iterator

from .history import HOT, Chronicle, batches_in


def broken(history: Chronicle) -> Iterator[str]:
    """For each read, count the keys of each batch, and compare the count with the batch's size."""
    writes = history.by_batch
    for read in history.reads:
        for batch, keys in sorted(batches_in(read).items()):
            if batch not in writes:
                yield f"the read of {read.reader} as of {read.time} holds {batch}, which no writer wrote"
            elif keys != writes[batch].size:
                size = writes[batch].size
                yield f"the read of {read.reader} as of {read.time} holds {keys} of {size} keys of {batch}"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of ATOM literally: each read must contain either all keys of a write or none."""
    for read in history.reads:
        for batch in sorted({batch for key, batch, _ in read.rows if key != HOT}):
            write = next((write for write in history.writes if write.batch == batch), None)
            if write is None:
                yield f"the read of {read.reader} as of {read.time} holds {batch}, which no writer wrote"
                continue
            keys = len({key for key, of, _ in read.rows if of == batch and key != HOT})
            if keys != write.size:
                yield f"the read of {read.reader} as of {read.time} holds {keys} of {write.size} keys of {batch}"
