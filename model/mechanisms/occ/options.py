"""The options, limits and actor records of optimistic concurrency control."""

from __future__ import annotations

from typing import Literal, NamedTuple

from ...machine.options import Limits, Options, limit, option


class Occ(Options):
    """The options of concurrency control: whether writers check for conflicts, when, and against which instants."""

    concurrency: Literal["nbcc", "occ", "single_writer"] = option(
        "nbcc",
        "nbcc: a writer checks no other writer. occ: it aborts if a conflicting write completed since it began. "
        "single_writer: it assumes that there is no other writer. In a copy-on-write table nbcc and single_writer are "
        "the same",
        by=("writer", "bulk_inserter", "overwriter"),
    )
    conflict_check: Literal["under_lock", "before_lock"] = option(
        "under_lock",
        "occ: whether the conflict check happens under the lock that covers publication, or before that lock is taken",
        by=("writer", "overwriter"),
    )
    conflict_window: Literal["completion", "requested"] = option(
        "completion",
        "occ: which instants may conflict. completion: those that completed since the write began. requested: those "
        "that were requested after the newest instant that the write saw (order by start time)",
        by=("writer", "bulk_inserter", "overwriter"),
    )
    conflict_by: Literal["bucket", "file_id"] = option(
        "bucket",
        "occ: two writes conflict if they write one bucket of one partition, or only if they write one file id",
        by=("writer", "bulk_inserter", "overwriter"),
    )
    conflict_reads: Literal["checked", "ignored"] = option(
        "checked",
        "occ: whether the file groups that a write declares as read are part of the conflict check",
        by=("writer",),
    )
    timeline: Literal["sealed", "at_start", "reloaded"] = option(
        "sealed",
        "occ: which timeline a write compares with. sealed: the one listed with its request. at_start: the one listed "
        "when it puts its inflight instant. reloaded: it is listed again with each file",
        by=("writer",),
    )
    priority: Literal["writer", "first"] = option(
        "writer",
        "occ: writer: a compaction never aborts a write. first: the instant that completes first wins",
        by=("writer", "bulk_inserter", "overwriter"),
    )
    early_detection: Literal["off", "on"] = option(
        "off",
        "occ: whether a writer aborts as soon as it finds the marker of another pending write in a file group",
        by=("writer",),
    )


class Retries(Limits):
    """The limit on retries of optimistic writers."""

    retries: int = limit(0, "how often a writer retries an aborted write as a new instant")


class Validation(NamedTuple):
    """The state of the conflict check of a pending write.

    `sealed` is the number of published instants when the actor last listed the timeline. `passed` is True after the
    check has found no conflict. `conflict` is the requested time of the conflicting instant; 0 if none was found.
    `tries` counts the aborted attempts of the write.
    """

    sealed: int = 0
    passed: bool = False
    conflict: int = 0
    tries: int = 0
