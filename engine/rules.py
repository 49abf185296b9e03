"""The choices that RFC-66, RFC-22 and Hudi's readers make differently, as values.

Each field is consulted in one small named function (of `files.slices`, `timeline.loading`, the operations and the
merge); the defaults are the ones that keep every promise of nbcc.
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
    """How files become slices, and slices become rows.

    slicing          which time of a log is held against the barriers; base_instant: the one in its name (old layout)
    merge_order      which time orders the logs inside a slice
    as_of_axis       which time of an instant is held against the T of a read
    incremental_axis which time of an instant is held against a window
    completion_time  whether a completion time is taken under the lock that also covers its publication
    tombstones       whether compaction keeps the deletes that it merges away
    listing          whether a reader lists the timeline twice (a listing is not a snapshot)
    read_time        a snapshot is as of the greatest completion it saw, or as of the clock
    fold             all records of a key by rank; or logs among themselves first, their survivor against the base
    scheduling       whether a plan may be made while writers are in flight
    plan_takes       logs completed before the plan's barrier; or any log, completed or not
    visibility       rows of completed instants only; or of any
    conflict_check   an optimistic writer checks for conflicts under the lock that covers its publication, or before it
    conflict_window  the writes it is checked against: those that completed since it began, or were requested since
    conflict_reads   whether the reads that a write names can conflict, like what it writes
    priority         whether a compaction can conflict with a writer: never, or like any commit that came first
    failed_writes    a rollback undoes writes whose heartbeat has expired; or all pending ones
    batch_ids        a repeated batch is detected when it is requested and before it is published; only when it is
                     requested; or never
    retention        a clean keeps what is older than a base file unless it was complete at the horizon; unless its
                     barrier lies before the horizon; or unless that of a plan does
    savepoint_keeps  what a clean keeps for a savepoint: the files that it names; base files alone; or nothing
    restore_by       a restore undoes what completed after the instant of the savepoint; or what was requested later
    restore_pending  a restore undoes what is pending as well; or ignores it
    archive_bound    archiving stops before what was requested or completed after the request of a pending instant, or
                     nowhere
    archive_lookup   a reader reads the archive after each listing of the active timeline; or never
    decision         what makes a commit: holding the lock; or the next number of the decision log
    claims           where a log decides, an actor claims each time of an instant by an object named after it;
                     or it uses the clock reading, so that a barrier and a request may be equal
    tombstone_logs   the log with which a compaction keeps its deletes is the one that its commit lists; or any log
                     that was requested at the time of the base file
    files            files listed by completed instants; or every file in the directories
    log_compaction_rank  the log of a log compaction ranks where the newest of its inputs did; or by its own completion
    bulk_insert      base files only in groups without a completed file, checked again before publishing; or everywhere
    unmarked         a file group whose base file another engine made is merged as that engine does; or as if we had
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
        """Rules with the given fields; an unknown field or value is a `BadInput` that names what there is."""
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
