"""From a protocol of the model to the engine's rules; or the reason why the engine cannot be put under a setting."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Final

from nbcc.engine.rules import HUDI, Rules
from nbcc.model import Protocol, World
from nbcc.model.mechanisms.metadata_table.options import HasMetadataTable

from .protocol import CannotPlay

_NAMES: Final = {"slicing": "slice_by", "merge_order": "log_order", "as_of_axis": "as_of_by",
                 "incremental_axis": "incremental_by"}  # fmt: skip
"""Where model and engine call the same choice by different names."""

_NOT_OURS: Final = {
    ("barriers", "base_files"): "a plan is a barrier for it as soon as it is made",
    ("log_layout", "shared"): "no object store appends, so that each write puts log files of its own",
    ("merge_order", "appended"): "each write puts log files of its own",
    ("slicing", "base_instant"): "its logs are named by their own instant",
    ("slicing", "temporal"): "a completed log is in a slice",
    ("as_of_bound", "before"): "as of a completion time it answers with that write",
    ("checkpoint", "fenced"): "its open windows end at the newest completion",
    ("behind_horizon", "skipped"): "it refuses windows that begin before the horizon",
    ("visibility", "all_earlier"): "its readers do not wait for what was requested earlier",
    ("file_ids", "minted"): "a bucket has one file id",
    ("bucket_count", "own"): "the number of buckets is the table's, and another one is refused",
    ("timeline", "reloaded"): "its writers list the timeline once before they write",
    ("early_detection", "on"): "its writers look at completed instants alone",
    ("visibility", "unless_pending"): "a file counts only if a completed instant lists it",
    ("rollback_check", "before_lock"): "it looks for failed writes under the lock",
    ("lost_answer", "reported_failed"): "it reads the file that exists",
    ("commit_check", "before_lock"): "its writers look under the lock",
    ("commit_check", "none"): "its writers look under the lock",
    ("archive_lookup", "before_listing"): "its readers look into the archive after they have listed",
    ("horizon", "after_delete"): "it publishes the horizon with the plan of a clean",
    ("as_of_axis", "requested"): "as of a time it looks at the plans made by then, not at later ones",
    ("clock", "seconds"): "its instants are milliseconds, and its generator gives none twice",
    ("uniqueness", "test_and_set"): "its generator gives no time twice",
    ("claims", "none"): "of two instants of one time the first to complete removes the files of the other",
    ("fencing", "storage"): "no store compares the numbers of locks",
    ("as_of_axis", "requested_slices"): "as of a time it looks at the plans made by then, not at later ones",
    ("first_slice", "first_requested"): "it looks at no file that a completed instant does not list",
    ("as_of_pending", "refused"): "it answers as of every settled time",
    ("window_merge", "slice_of_window"): "a window is made of the logs of its writes",
    ("window_merge", "slice_of_table"): "a window is made of the logs of its writes",
    ("window_merge", "slice_of_files"): "a window is made of the logs of its writes",
    ("window_merge", "slice_of_files_from"): "a window is made of the logs of its writes",
    ("column_merge", "by_row"): "each column keeps the ordering value that it was set with",
    ("column_merge", "by_row_in_base"): "beside a base file it keeps what the rows do not say",
    ("columns_shown", "of_now"): "as of a time it shows the columns that the table had then",
    ("columns_shown", "of_commit"): "the columns of its tables are in their properties",
    ("columns_kept", "as_opened"): "its services ask for the columns when they begin",
    ("clustering", "file_ids"): "it clusters by a compaction that sorts",
    ("replacing", "file_ids"): "it replaces by a plan that takes nothing",
    ("log_compaction_window", "delivered"): "its windows leave out what services have put",
    ("metadata_commit", "after_data"): "it writes no table that has a metadata table",
    ("metadata_lock", "outside_lock"): "it writes no table that has a metadata table",
    ("metadata_again", "refused"): "it writes no table that has a metadata table",
    ("metadata_trust", "listed"): "it lists the files of a table that has a metadata table",
    ("metadata_read", "before_timeline"): "it lists the files of a table that has a metadata table",
    ("window_deletes", "omitted"): "a window shows its deletes",
}
"""Settings of the model that the engine cannot be put under, and why."""


def rules_of(protocol: Protocol) -> Rules:
    """The engine's rules for a protocol of the model.

    Raises:
        CannotPlay: the engine cannot do a setting; the sentence says why.
    """
    for (name, value), why in _NOT_OURS.items():
        if protocol.to_mapping()[name] == value:
            raise CannotPlay(f"the engine cannot be put under {name} = {value}: {why}; play it on the model")
    known = {field.name for field in fields(Rules)}
    named = {_NAMES.get(name, name): value for name, value in protocol.to_mapping().items()}
    return Rules.from_mapping({name: value for name, value in named.items() if name in known})


def by_their_rules(rules: Rules) -> Rules:
    """The rules of another engine's service: the files of the table, merged as that engine does."""
    return replace(rules, log_order=HUDI.log_order, fold=HUDI.fold, tombstones=HUDI.tombstones)


def check_world(world: World) -> None:
    """Raise CannotPlay if the engine cannot play in a world."""
    if world[HasMetadataTable].metadata_table:
        raise CannotPlay(
            "the engine cannot be put under metadata_table = 1: it reads a table that has a metadata table by listing "
            "its files, and refuses to write it; play it on the model"
        )
