"""Derives the engine's rules from a protocol of the model. Unsupported protocols raise an error that states the reason.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

from nbcc.engine.rules import HUDI, Rules
from nbcc.model import Protocol, World
from nbcc.model.mechanisms.endless import Endless
from nbcc.model.mechanisms.metadata_table.options import HasMetadataTable

from .protocol import CannotPlay

_NOT_OURS: Final = {
    ("barriers", "base_files"): "a plan is a barrier as soon as it is made",
    ("log_layout", "shared"): "object stores cannot append, so each write puts log files of its own",
    ("merge_order", "appended"): "each write puts its own log files",
    ("slicing", "base_instant"): "log files are named by their own instant",
    ("slicing", "temporal"): "every completed log is in a slice",
    ("as_of_bound", "before"): "a read as of a completion time includes that write",
    ("checkpoint", "fenced"): "an open window ends at the newest completion",
    ("behind_horizon", "skipped"): "a window that begins before the horizon is refused",
    ("visibility", "all_earlier"): "readers do not wait for earlier requests",
    ("file_ids", "generated"): "a bucket has one fixed file id",
    ("bucket_count", "own"): "the table states its number of buckets, and a writer with another number is refused",
    ("timeline", "reloaded"): "a writer lists the timeline once before it writes",
    ("timeline", "at_start"): "a writer lists the timeline with its request",
    ("early_detection", "on"): "a writer compares itself with completed instants only",
    ("visibility", "unless_pending"): "a file counts only if a completed instant lists it",
    ("rollback_check", "before_lock"): "failed writes are chosen under the lock",
    ("lost_answer", "reported_failed"): "a writer reads the completed instant that it finds",
    ("commit_check", "before_lock"): "a writer checks its heartbeat under the lock",
    ("plan_check", "before_lock"): "a runner checks under the lock whether its plan is completed",
    ("commit_check", "none"): "a writer checks its heartbeat under the lock",
    ("archive_lookup", "before_listing"): "a reader looks into the archive after it has listed the timeline",
    ("horizon", "after_delete"): "a clean publishes its horizon with its plan",
    ("as_of_axis", "requested"): "an as-of read uses the plans made by its time, not later ones",
    ("clock", "seconds"): "instants are milliseconds, and the time generator never returns one twice",
    ("uniqueness", "test_and_set"): "the time generator never returns a time twice",
    ("claims", "none"): "the first of two instants of one time to complete removes the files of the other",
    ("fencing", "storage"): "no object store compares lock numbers",
    ("as_of_axis", "requested_slices"): "an as-of read uses the plans made by its time, not later ones",
    ("first_slice", "first_requested"): "files that no completed instant lists are ignored",
    ("as_of_pending", "refused"): "an as-of read is answered for every settled time",
    ("window_merge", "slice_of_window"): "a window merges the logs of its writes",
    ("window_merge", "slice_of_table"): "a window merges the logs of its writes",
    ("window_merge", "slice_of_files"): "a window merges the logs of its writes",
    ("window_merge", "slice_of_files_from"): "a window merges the logs of its writes",
    ("column_merge", "by_row"): "each column keeps the ordering value with which it was set",
    ("column_merge", "by_row_in_base"): "each column keeps the ordering value with which it was set",
    ("columns_shown", "current"): "an as-of read shows the columns that the table had at that time",
    ("columns_shown", "last_commit"): "the table properties record the columns",
    ("columns_written", "at_open"): "a service reads the columns when it starts",
    ("clustering", "file_ids"): "a clustering is a compaction that sorts",
    ("replacing", "file_ids"): "a replace is a plan that takes no files",
    ("log_compaction_window", "included"): "a window excludes the logs of table services",
    ("metadata_commit", "after_data"): "tables that have a metadata table are not written",
    ("metadata_lock", "outside_lock"): "tables that have a metadata table are not written",
    ("metadata_again", "refused"): "tables that have a metadata table are not written",
    ("metadata_trust", "listed"): "the metadata table is not read; readers list the files",
    ("metadata_read", "before_timeline"): "the metadata table is not read; readers list the files",
    ("state_checkpoint_tail", "requested"): "a read adds the commits that completed after its state checkpoint",
    ("state_checkpoint_restored", "used"): "a read uses no state checkpoint from before a restore",
    ("window_deletes", "omitted"): "a window shows its deletes",
    ("batch_identity", "number"): "the id of a query and a number identify a batch",
    ("empty_trigger", "moves_to_now"): "an offset is the completion time of a write",
}
"""(option, value) of the model that the engine does not support -> what the engine does instead."""


def rules_of(protocol: Protocol) -> Rules:
    """Return the engine's rules for a protocol of the model.

    Raises:
        CannotPlay: If the engine does not support an option; the message says what the engine does instead.
    """
    for (name, value), why in _NOT_OURS.items():
        if protocol.to_mapping()[name] == value:
            raise CannotPlay(f"the engine does not support {name} = {value}: {why}; run it on the model instead")
    known = {field.name for field in fields(Rules)}
    return Rules.from_mapping({name: value for name, value in protocol.to_mapping().items() if name in known})


def by_their_rules(rules: Rules) -> Rules:
    """Return the rules for a table service that another engine runs. Such a service merges files in the same way as
    Hudi.
    """
    return replace(rules, merge_order=HUDI.merge_order, fold=HUDI.fold, tombstones=HUDI.tombstones)


def check_world(world: World) -> None:
    """Raise CannotPlay if the engine does not support the world."""
    if world[Endless].endless:
        raise CannotPlay(
            "the engine does not support endless = 1: it does not number times again after each step; run it on the "
            "model instead"
        )
    if world[HasMetadataTable].metadata_table:
        raise CannotPlay(
            "the engine does not support metadata_table = 1: it lists the files of a table that has a metadata table, "
            "and refuses to write to it; run it on the model instead"
        )
