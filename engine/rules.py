"""The rules on which RFC-66, RFC-22 and Hudi's readers differ, as options of a table.

With the default options the engine keeps every guarantee in docs/contract.md.
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
    """The options that determine how a table is read and written. The first value in each option's `Literal` type is
    the default.

    `slicing` selects the time of a log that determines its file slice: the completion time, the requested time, or the
        base instant in the log's name (as in timeline layout 1).
    `merge_order` states whether the logs of a slice are merged in the order of completion times or of requested times.
    `as_of_axis` states whether an as-of read selects instants by completion time or by requested time.
    `incremental_axis` states whether an incremental query selects instants by completion time or by requested time.
    `completion_time` states whether a writer determines its completion time while it holds the table's lock, or without
        the lock.
    `tombstones` states whether a compaction keeps or drops deletes.
    `listing` states whether a reader lists the timeline once or twice; a single listing is not a consistent snapshot.
    `read_time` selects the time as of which a snapshot query reads: the greatest completion time in its first listing,
        or the clock's time.
    `fold` states how the records of a key are merged: all in one step, or the logs first and the base file last.
    `scheduling` states whether a compaction may be planned at any time, or only if no write is pending.
    `plan_takes` selects the logs of a compaction plan: logs that completed before the plan's requested time, or all
        logs.
    `visibility` states whether readers return only the rows of completed instants, or the rows of all instants.
    `conflict_check` states whether an optimistic writer checks for conflicts under the table's lock, or before it takes
        the lock.
    `conflict_window` selects the writes that can conflict with an optimistic writer: those that completed, or those
        that were requested, since the writer began.
    `conflict_reads` states whether a write to a partition that an optimistic writer has read is also a conflict.
    `priority` states whether an optimistic writer ignores a completed compaction of its file group, or treats the
        compaction as a conflict.
    `failed_writes` states whether a rollback undoes only writes with an expired heartbeat, or all pending writes.
    `batch_ids` states when a writer checks for a repeated batch: when it requests and when it publishes the instant,
        only when it requests the instant, or never.
    `retention` selects the time of the next slice that the horizon (the oldest readable time) must reach before a clean
        may delete a slice. This time is the completion time of that slice's base file, the requested time of the base
        file, or the next plan's requested time.
    `savepoint_keeps` states whether a clean keeps all files of a savepoint, only base files, or no files.
    `restore_by` selects the instants that a restore undoes: those that completed, or were requested, after the
        savepoint's instant.
    `restore_pending` states whether a restore undoes pending instants or leaves them pending.
    `archive_bound` selects the instants that may be archived: those that completed before the oldest pending instant
        was requested, or all completed instants.
    `archive_lookup` states whether a reader reads the archive after each listing of the active timeline, or never.
    `decision` states how a commit is decided: by holding the lock; by creating the next numbered entry of the decision
        log; by an entry that the lock's holder creates for all writers that have announced theirs; or by such an entry
        that any writer creates without the lock.
    `publication` states whether the instants of one entry, created without the lock, are published one after the other
        or at the same time. In the second case a reader ignores an instant while an earlier one of its entry is
        missing.
    `requests` states whether a non-blocking writer requests its instant under the table's lock, or claims its
        requested time by a put if absent.
    `claims` states whether, with a decision log, each time is claimed by creating an object that is named after the
        time (`writes.claims`). If times are not claimed, a compaction and a write may get the same requested time.
    `tombstone_logs` states how a compaction's tombstone log is recognized: it is listed in the compaction's commit, or
        has the same requested time as the base file.
    `files` selects the files that readers use: files listed in completed instants, all files in the directories, files
        in Hudi's metadata table, or the directories' files checked against the metadata table.
    `log_compaction_rank` selects the completion time that determines the merge position of a log compaction's output:
        that of the newest input log, or its own.
    `bulk_insert` states whether a bulk insert checks, before publication, that its file groups are still empty.
    `unmarked` selects the rules for reading a file group whose base file was written by another engine: the rules of
        that engine or of the table.
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
    decision: Literal["lock", "log", "shared", "free"] = "lock"
    publication: Literal["ascending", "parallel"] = "ascending"
    requests: Literal["under_lock", "put_if_absent"] = "under_lock"
    claims: Literal["every_time", "none"] = "every_time"
    tombstone_logs: Literal["by_commit", "by_time"] = "by_commit"
    files: Literal["listed", "directory", "metadata_table", "cross_checked"] = "listed"
    log_compaction_rank: Literal["inputs", "own"] = "inputs"
    bulk_insert: Literal["checked", "unchecked"] = "checked"
    unmarked: Literal["by_its_engine", "by_the_table"] = "by_its_engine"

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Rules:
        """Return a `Rules` object with the given option values. Raises `BadInput` for an unknown option or value."""
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
