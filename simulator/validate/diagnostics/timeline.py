"""Diagnostics of instants, of their contents, and of the table properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from nbcc.engine.audit.amounts import several
from nbcc.engine.clock import to_millis
from nbcc.engine.config import from_properties
from nbcc.engine.errors import NbccError, Unsupported
from nbcc.engine.schema import from_avro, without_meta

from ..view import TIMELINE, View, timeline_file
from .diagnostic import READS, RESTORE, RESTORE_COMPLETED, Case, Rule, undo

_STALE_MS: Final = 3_600_000
_CONCERNED: Final = {
    "commit": (*READS, "ATOM"), "plan": ("QUIET", "PROGRESS"), "archive": ("ARCH",), "clean": ("CLEAN",),
    "restore": ("REC",), "savepoint": ("CLEAN",), "properties": READS,
}  # fmt: skip


def unreadable(view: View) -> Iterator[Case]:
    """Yield files of the timeline or archive that cannot be parsed."""
    for fault in view.audit.serious_faults:
        if fault.kind != "instant":  # then the whole table is UNDETERMINED
            yield Case(fault.path, fault.because, RESTORE, promises=_CONCERNED.get(fault.kind, ("REC",)))


def undone(view: View) -> Iterator[Case]:
    """Yield instants that completed after their rollback or restore was requested (promise REC)."""
    undoing = [(target, each.instant.requested, "rollback") for each in view.audit.rollbacks for target in each.undone]
    undoing += [(target, restore, "restore") for target, restore in view.audit.undone.items()]
    for target, requested, what in undoing:
        for instant in view.actions.get(target, ()):
            if instant.completed and instant.writes and instant.completed > requested:
                because = f"the {what} {requested} undid it, and yet it completed"
                remedy = "compare its files with the source, and write missing rows again"
                yield Case(timeline_file(instant), because, remedy)


def stale(view: View) -> Iterator[Case]:
    """Yield writes that have been pending for an hour without a heartbeat. Once later instants are archived, Hudi
    treats the rows of an abandoned write as committed.
    """
    for instant in view.audit.timeline.pending:
        beats = f".hoodie/.heartbeat/{instant.requested}" in view.audit.listing
        undone = instant.requested in view.audit.undone  # by a restore that is to be finished
        if beats or undone or instant.action not in ("deltacommit", "commit"):
            continue
        try:
            waited = to_millis(view.now) - to_millis(instant.requested)
        except ValueError:
            continue
        if waited > _STALE_MS:
            because = (
                f"it has been {instant.state} for {_duration(waited)} without a heartbeat: its writer failed, or its"
                " completed file was removed"
            )
            remedy = f"if it had completed, {RESTORE_COMPLETED}; else {undo(view, instant.requested)}"
            yield Case(timeline_file(instant), because, remedy, "AT RISK")


def _duration(millis: int) -> str:
    hours = millis // 3_600_000
    return several(hours // 24, "day") if hours >= 48 else several(hours, "hour")


def marks(view: View) -> Iterator[Case]:
    """Yield instants whose writer follows other rules for reading files than the table. The `nbcc.*` table properties
    select nbcc's rules; without them, Hudi's rules apply.
    """
    for commit in view.audit.commits.values():
        if commit.own and not view.audit.own:
            because = "nbcc wrote it, but the table's properties lack nbcc's mark: readers apply Hudi's rules"
            remedy = "put the nbcc.* properties back"
            yield Case(timeline_file(commit.instant), because, remedy, promises=("LAWS", "SNAP", "INCR", "RO"))
        elif view.audit.own and not commit.own and commit.operation in ("COMPACT", "CLUSTER", "LOG_COMPACT"):
            because = "a service of another engine wrote it: Hudi's rules apply to its file groups from its barrier on"
            yield Case(timeline_file(commit.instant), because, "run the services of this table with nbcc", "AT RISK")
        plan = view.audit.plans.get(commit.instant.requested)
        if view.audit.own and not commit.own and plan is not None and plan.replaces:
            because = "another engine took this replace for a compaction, and completed it without effect"
            remedy = "overwrite the partition again"
            yield Case(timeline_file(commit.instant), because, remedy, promises=("SNAP", "ACK", "INCR", "RO"))
    for clean in view.audit.cleans:
        if view.audit.own and clean.retained and not clean.own:
            because = "a clean of another engine: it published no horizon before it deleted, so that reads could fail"
            yield Case(timeline_file(clean.instant), because, "run the services of this table with nbcc", "AT RISK")


def names(view: View) -> Iterator[Case]:
    """Yield instants whose recorded operation contradicts the action in their file name."""
    for requested, commit in view.audit.commits.items():
        compacts = commit.operation == "COMPACT"
        plain = commit.instant.action == "deltacommit" and compacts
        shared = requested in view.audit.shared_requests  # then the plan may be another instant's
        plan = None if shared else view.audit.plans.get(requested)
        if plain or (commit.active and plan is not None and not compacts and not plan.replaces):
            because = f"it is a {commit.instant.action} whose operation is {commit.operation or 'not named'}"
            yield Case(timeline_file(commit.instant), because, RESTORE)


def properties(view: View) -> Iterator[Case]:
    values = view.audit.properties
    schema = values.get("hoodie.table.create.schema") or _newest_schema(view)
    try:
        columns = without_meta(from_avro(schema)) if schema else pa.schema([])
        config = from_properties(values, columns)
    except Unsupported:
        return  # the whole table is UNDETERMINED then
    except Exception as broken:  # an invalid schema can raise anything
        exists = broken.exists if isinstance(broken, NbccError) else f"its schema is invalid: {broken}"
        yield Case(".hoodie/hoodie.properties", " ".join(exists.split())[:300], RESTORE)
        return
    if schema is None:
        because = "neither its commits nor its properties record its columns: no reader can open the table"
        yield Case(".hoodie/hoodie.properties", because, f"write to it, or {RESTORE}", "AT RISK")
        return
    named = {"record key": config.record_key, "partition": config.partition_by}
    named["ordering"] = (config.ordering,) if config.ordering else ()
    for what, fields in named.items():
        for field in fields:
            if field not in columns.names:
                because = f"its {what} field {field!r} is not a column of the table ({', '.join(columns.names)})"
                yield Case(".hoodie/hoodie.properties", because, RESTORE)


def _newest_schema(view: View) -> str | None:
    commits = [c for c in view.audit.commits.values() if c.schema and c.operation not in ("COMPACT", "CLUSTER")]
    return max(commits, key=lambda commit: commit.instant.requested).schema if commits else None


def metadata_table(view: View) -> Iterator[Case]:
    if view.audit.own and (active := view.audit.properties.get("hoodie.table.metadata.partitions")):
        because = f"a metadata table ({active}) is active: Hudi's readers list files from it and miss commits of nbcc"
        remedy = "write to the table once with Hudi and hoodie.metadata.enable=false"
        yield Case(".hoodie/hoodie.properties", because, remedy, "AT RISK")


def nothing_pending(view: View) -> Iterator[Case]:
    """Yield pending compactions that no compactor can resume, because the inflight file exists but the plan is missing.
    """
    for instant in view.audit.timeline.pending_compactions:
        path = f"{TIMELINE}/{instant.requested}.compaction.requested"
        if instant.requested in view.audit.undone:
            continue  # its restore is pending
        if instant.requested not in view.audit.plans and not any(fault.path == path for fault in view.audit.faults):
            yield Case(path, "a compaction is pending, but its plan is missing", RESTORE)


RULES: Final = (
    Rule("unreadable", "a file of the timeline cannot be understood", READS, unreadable),
    Rule("name-and-content", "an instant whose operation contradicts its name", ("PART", "QUIET"), names),
    Rule("undone-and-completed", "an instant that was rolled back and completed", ("REC",), undone),
    Rule("writer-gone", "a pending write whose writer is dead", ("ARCH", "PROGRESS"), stale),
    Rule("marks-disagree", "instants and properties disagree about the rules that apply", ("LAWS",), marks),
    Rule("properties-contradict", "properties that contradict each other or the columns", READS, properties),
    Rule("metadata-table-active", "a metadata table hides commits of nbcc from Hudi", ("SNAP",), metadata_table),
    Rule("plan-missing", "a pending compaction without a plan", ("PROGRESS", "QUIET"), nothing_pending),
)
