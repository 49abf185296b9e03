"""The rules on which RFC-66, RFC-22 and Hudi's readers differ; each rule is an option of a table.

One small function in `files`, `timeline`, `actions` or the merge evaluates each rule. With the default options the
engine keeps every promise of docs/contract.md.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, get_args, get_type_hints

from .errors import BadInput

Axis = Literal["completion", "requested"]


@dataclass(frozen=True, slots=True)
class Rules:
    """The options that determine how a table is read and written. The first value in the type of each option is the
    default.

    `slicing` selects which time of a log is compared with the barriers to find the slice of the log. The value
    "base_instant" means the time in the name of the log, as in the old layout. `merge_order` selects which time of the
    logs determines their order in a slice. `as_of_axis` selects which time of an instant is compared with the time T of
    a read as of T. `incremental_axis` selects which time of an instant is compared with the bounds of an incremental
    window.
    `completion_time` states where a writer takes its completion time: under the lock of its publication, or without a
        lock.
    `tombstones` states what a compaction does with the deletes that it merges: it keeps the deletes, or drops them.
    `listing` states how often a reader lists the timeline: twice, or once; one listing is not a consistent snapshot.
    `read_time` selects which time a snapshot reads as of: the greatest completion time in its first listing, or the
        clock's time.
    `fold` states how the records of a key are merged: all records by rank, or first the logs and then their result with
        the base file.
    `scheduling` states when a compaction may be planned: at any time, or only if no write is pending.
    `plan_takes` selects which logs a plan takes: logs that completed before its barrier, or any logs.
    `visibility` selects which rows readers show: rows of completed instants, or rows of all instants.
    `conflict_check` states when an optimistic writer checks for conflicts: under the lock of its publication, or before
        it takes the lock.
    `conflict_window` selects which writes an optimistic writer checks: writes that completed since it began, or writes
        requested since it began.
    `conflict_reads` selects which writes conflict besides writes to the same files: writes to the partitions that the
        writer has read, if they completed after the read; or no further writes.
    `priority` selects which compactions conflict with an optimistic writer: none, or those that completed before the
        writer.
    `failed_writes` selects which writes a rollback undoes: only those whose heartbeat has expired, or all pending
        writes.
    `batch_ids` states when a repeated batch is detected: at its request and at its publication, only at its request, or
        never.
    `retention` states when a clean may delete older files: once the horizon reaches the next base file's completion,
        its barrier, or any plan's barrier.
    `savepoint_keeps` selects which files a clean keeps for a savepoint: all files that the savepoint names, only base
        files, or no files.
    `restore_by` selects which instants a restore undoes: instants that completed after the pinned instant, or instants
        requested after it.
    `restore_pending` states what a restore does with pending instants: it undoes them, or leaves them pending.
    `archive_bound` selects which instants may be archived: instants that completed before the oldest pending instant
        was requested, or any completed instants.
    `archive_lookup` states when a reader reads the archive: after each listing of the active timeline, or never.
    `decision` states how a commit is decided: by holding the lock, or by putting the next numbered entry of the
        decision log.
    `claims` states how an actor with a decision log gets a time: it first creates an object named after the time, or it
        creates none. If actors create no objects, a barrier may equal the requested time of a write.
    `tombstone_logs` selects which log with a compaction's deletes counts: the log that the commit lists, or any log
        requested at the base file's time.
    `files` selects which files readers use: the files listed in completed instants, all files in the directories, the
        files that Hudi's metadata table lists, or the files in the directories if the metadata table lists the same.
    `log_compaction_rank` selects which completion time ranks the log of a log compaction: the time of its newest input,
        or its own time.
    `bulk_insert` states what a bulk insert checks before publication: that the file groups of its base files have no
        completed file, or nothing.
    `unmarked` selects which rules merge a file group whose base file another engine wrote: the rules of the other
        engine, or the rules of the table.
    """

    slicing: Literal["completion", "requested", "base_instant"] = "completion"
    merge_order: Axis = "completion"
    as_of_axis: Axis = "completion"
    incremental_axis: Axis = "completion"
    completion_time: Literal["under_lock", "outside_lock"] = "under_lock"
    tombstones: Literal["keep", "drop"] = "keep"
    listing: Literal["twice", "once"] = "twice"
    read_time: Literal["settled", "clock"] = "settled"
    fold: Literal["rank", "logs_first"] = "rank"
    scheduling: Literal["non_serial", "serial"] = "non_serial"
    plan_takes: Literal["completed_before_barrier", "any_log"] = "completed_before_barrier"
    visibility: Literal["completed", "any"] = "completed"
    conflict_check: Literal["under_lock", "before_lock"] = "under_lock"
    conflict_window: Axis = "completion"
    conflict_reads: Literal["checked", "ignored"] = "checked"
    priority: Literal["writer", "first"] = "writer"
    failed_writes: Literal["lazy", "eager"] = "lazy"
    batch_ids: Literal["checked", "at_request", "ignored"] = "checked"
    retention: Literal["completion", "barrier", "any_barrier"] = "completion"
    savepoint_keeps: Literal["files", "base_files", "nothing"] = "files"
    restore_by: Axis = "completion"
    restore_pending: Literal["undone", "ignored"] = "undone"
    archive_bound: Literal["pending", "none"] = "pending"
    archive_lookup: Literal["after_listing", "never"] = "after_listing"
    decision: Literal["lock", "log"] = "lock"
    claims: Literal["every_time", "none"] = "every_time"
    tombstone_logs: Literal["by_commit", "by_time"] = "by_commit"
    files: Literal["listed", "directory", "metadata_table", "cross_checked"] = "listed"
    log_compaction_rank: Literal["inputs", "own"] = "inputs"
    bulk_insert: Literal["checked", "unchecked"] = "checked"
    unmarked: Literal["by_its_engine", "by_the_table"] = "by_its_engine"

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Rules:
        """Build the rules from a mapping of options to values. Raises `BadInput`, with the nearest known name, for an
        unknown option or value.
        """
        hints = get_type_hints(cls)
        names = [field.name for field in fields(cls)]
        for name, value in values.items():
            if name not in hints:
                near = difflib.get_close_matches(name, names, 1, 0)
                raise BadInput(f"set the rule {name!r}", "there is no such rule", f"the nearest is {near[0]!r}")
            allowed = get_args(hints[name])
            if value not in allowed:
                raise BadInput(
                    f"set the rule {name} to {value!r}", f"it is one of {', '.join(allowed)}", "choose one of these"
                )
        return cls(**values)


NBCC: Final = Rules()
"""Tables that carry nbcc's properties."""

HUDI: Final = Rules(merge_order="requested", tombstones="drop", fold="logs_first", files="directory")
"""Tables that do not: Hudi's slices and Hudi's fold; visibility and time travel stay on the completion axis."""
