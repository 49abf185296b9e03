"""The rules on which RFC-66, RFC-22 and Hudi's readers differ, each an option of a table.

One small function in `files`, `timeline`, `actions` or the merge consults each field. The defaults keep every promise
of docs/contract.md.
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
    """The options by which a table is read and written. The first value is the default.

    `slicing`: The time of a log that is compared with the barriers. `base_instant`: the time in
        its name (old layout).
    `merge_order`: The time that orders the logs within a slice.
    `as_of_axis`: The time of an instant that is compared with the T of a read.
    `incremental_axis`: The time of an instant that is compared with the bounds of a window.
    `completion_time`: Whether one lock covers both the completion time and its publication.
    `tombstones`: Whether a compaction keeps the deletes that it merges.
    `listing`: Whether a reader lists the timeline twice; one listing is not a snapshot.
    `read_time`: Whether a snapshot reads as of the greatest completion that it saw, or as of the clock.
    `fold`: How the records of a key are merged: all by rank; or the logs first, then their result with the base file.
    `scheduling`: Whether a compaction may be planned while writes are pending.
    `plan_takes`: Whether a plan takes only logs that completed before its barrier, or any log.
    `visibility`: Whether readers show rows of completed instants only.
    `conflict_check`: Whether an optimistic writer checks for conflicts under the lock of its publication, or before it.
    `conflict_window`: Whether it checks the writes that completed since it began, or those requested since.
    `conflict_reads`: Whether a write also conflicts with later writes to the partitions that it read.
    `priority`: Whether a compaction never conflicts with a writer, or conflicts if it completed first.
    `failed_writes`: Whether a rollback undoes the writes with an expired heartbeat, or every pending write.
    `batch_ids`: Whether a repeated batch is detected at its request and at its publication, at its request only, or
        never.
    `retention`: When a clean keeps the files that a base file supersedes: unless that base file completed by the
        horizon; unless its barrier is before the horizon; or unless the barrier of some plan is.
    `savepoint_keeps`: What a clean keeps for a savepoint: the files that it names, base files only, or nothing.
    `restore_by`: Whether a restore undoes the instants that completed after the pinned one, or those requested after
        it.
    `restore_pending`: Whether a restore also undoes pending instants.
    `archive_bound`: Whether archiving stops at instants requested or completed after the request of a pending one.
    `archive_lookup`: Whether a reader reads the archive after each listing of the active timeline.
    `decision`: What makes a commit: holding the lock, or taking the next number of the decision log.
    `claims`: Whether, with a decision log, an actor claims each time by an object named after it. Without claims a
        barrier and a request may be equal.
    `tombstone_logs`: Which log of a compaction's deletes counts: the one that its commit lists, or any log requested at
        the time of the base file.
    `files`: Whether readers use the files that completed instants list, or every file in the directories.
    `log_compaction_rank`: Whether the log of a log compaction ranks at the completion of its newest input, or at its
        own.
    `bulk_insert`: Whether base files are put only in groups without a completed file, checked again before publication.
    `unmarked`: How a group is merged whose base file another engine made: by that engine's rules, or by the table's.
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
    files: Literal["listed", "directory"] = "listed"
    log_compaction_rank: Literal["inputs", "own"] = "inputs"
    bulk_insert: Literal["checked", "unchecked"] = "checked"
    unmarked: Literal["by_its_engine", "by_the_table"] = "by_its_engine"

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> Rules:
        """The rules with these fields; `BadInput` for an unknown field or value, with the nearest known one."""
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
