"""ACK: a snapshot that begins after a write has returned contains the write, even if another process wrote it."""

from __future__ import annotations

from collections.abc import Iterator

from .history import Chronicle, batches_in, named


def broken(history: Chronicle) -> Iterator[str]:
    """Yield one sentence for each read that lacks a write acknowledged before the read began."""
    returned = sorted((w.acked, w.batch) for w in history.writes if w.acked is not None)
    due: set[str] = set()
    for read in sorted(history.reads, key=lambda read: read.began):
        while len(due) < len(returned) and returned[len(due)][0] < read.began:
            due.add(returned[len(due)][1])
        if lost := due - batches_in(read).keys():
            yield f"the read of {read.reader} as of {read.time} lacks {named(lost)}, which returned before it began"


def broken_by_definition(history: Chronicle) -> Iterator[str]:
    """Apply the definition of ACK literally: compare each write with each read."""
    for read in sorted(history.reads, key=lambda read: read.began):
        lost = {
            write.batch
            for write in history.writes
            if write.acked is not None and write.acked < read.began
            if not any(batch == write.batch and key != "hot" for key, batch, _ in read.rows)
        }
        if lost:
            yield f"the read of {read.reader} as of {read.time} lacks {named(lost)}, which returned before it began"
