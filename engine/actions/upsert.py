"""Inserts and updates rows; a row with `_hoodie_is_deleted` true is a delete.

An upsert is a write under a new instant, concurrently with other writers (RFC-66). An optimistic writer deletes its
files before it raises `Conflict` (RFC-22). If `based_on` is given, no conflict is retried, because the rows must be
computed again.

Several rows of the batch with the same key are merged by the table's rules. A batch without rows is committed without
files, as in Hudi (hoodie.allow.empty.commit).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ..arguments import texts
from ..config import TableConfig
from ..context import Context
from ..reads.times import Time, instant_of
from ..timeline import Instant
from ..writes.batch import as_partial_upserts, as_upserts, columns_to_set
from ..writes.conflicts import ReadSet
from ..writes.data_write import write
from ..writes.idempotency import Batch, check_batch_id


def run(
    context: Context,
    config: TableConfig,
    data: Any,
    *,
    retries: int = 0,
    reads: Collection[str] | None = None,
    based_on: Time | None = None,
    batch_id: str | None = None,
    replay_difference: str = "refuse",
    columns: Collection[str] | None = None,
) -> Instant:
    """Insert or update rows; a row with `_hoodie_is_deleted` true is deleted. An empty batch is also committed.

    An optimistic writer raises `Conflict` if a concurrent write to the same buckets completes first. `retries` is
    the number of further attempts after a `Conflict`, each under a new instant. `based_on` is the time of the table
    state from which the rows were computed. If the rows were computed from only some partitions, `reads` lists
    these partitions. If `based_on` is given, an optimistic writer also raises `Conflict` if another write to a
    partition in `reads` completed after `based_on`. `columns` lists the columns to set in addition to key,
    partition and ordering columns (partial update). `batch_id` identifies the batch: only one batch with a given id
    is committed, even if several writers submit it. If a repeated batch has the same digest as the committed batch,
    `upsert` returns the committed instant. If a repeated batch has a different digest, `upsert` raises `Conflict`,
    or only warns if `replay_difference` is "keep". Set `replay_difference` to "keep" for nondeterministic queries,
    such as queries with `rand`, stream-static joins or sums of floats.
    """
    config.check_writable()
    check_batch_id(batch_id, replay_difference)
    sets = columns_to_set(config, columns)
    read_set = _read_set(reads, based_on)
    rows = as_upserts(data, config) if sets is None else as_partial_upserts(data, config, sets)
    batch = Batch(batch_id, replay_difference)
    return write(context, config, rows, "UPSERT", retries=retries, read_set=read_set, batch=batch, sets=sets)


def _read_set(reads: Collection[str] | None, based_on: Time | None) -> ReadSet:
    if reads is not None:
        reads = texts(reads, f"write a batch with reads={reads!r}")
    if based_on is None:
        return ReadSet(reads or ())
    return ReadSet(reads, instant_of(based_on, "write what is based on a read"))
