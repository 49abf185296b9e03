"""Complaints about instants, their contents, and the properties of the table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pyarrow as pa

from nbcc.engine.clock import to_millis
from nbcc.engine.config import from_properties
from nbcc.engine.errors import NbccError, Unsupported
from nbcc.engine.schema import from_avro, without_meta

from ..view import TIMELINE, View, timeline_file
from .diagnostic import RESTORE, Found, Rule, undo

_STALE_MS: Final = 3_600_000
_SPEAKS_OF: Final = {
    "commit": ("SNAP", "ATOM"), "plan": ("QUIET", "PROGRESS"), "archive": ("ARCH",), "clean": ("CLEAN",),
    "restore": ("REC",), "savepoint": ("CLEAN",), "properties": ("SNAP",),
}  # fmt: skip


def unreadable(view: View) -> Iterator[Found]:
    """What lies on the timeline and is none of what it should be. A plan that is gone is missed only while pending."""
    for fault in view.found.faults:
        if fault.kind == "instant":
            continue
        barrier = fault.path.rpartition("/")[2].partition(".")[0]
        if fault.kind == "plan" and fault.because == "it is gone" and not view.pending(barrier):
            continue
        yield Found(fault.path, fault.because, RESTORE, promises=_SPEAKS_OF.get(fault.kind, ("REC",)))


def undone(view: View) -> Iterator[Found]:
    """REC: commit and rollback of one instant exclude each other."""
    for rollback in view.found.rollbacks:
        for requested in rollback.undone:
            for instant in view.actions.get(requested, ()):
                if instant.completed and instant.writes and instant.completed > rollback.instant.requested:
                    because = f"the rollback {rollback.instant.requested} says that it undid it, and it is completed"
                    yield Found(timeline_file(instant), because, "compare its files with the source, and write again")


def stale(view: View) -> Iterator[Found]:
    """A write in flight for an hour without a heartbeat: its files come back if an archive goes past it."""
    for instant in view.found.timeline.pending:
        beats = f".hoodie/.heartbeat/{instant.requested}" in view.found.listing
        if beats or instant.action not in ("deltacommit", "commit"):
            continue
        try:
            waited = to_millis(view.now) - to_millis(instant.requested)
        except ValueError:
            continue
        if waited > _STALE_MS:
            because = f"it is {instant.state} for {waited // 60_000} minutes and has no heartbeat: its writer died"
            yield Found(timeline_file(instant), because, undo(view, instant.requested), "AT RISK")


def marks(view: View) -> Iterator[Found]:
    """By whose rules a file group is read follows from the marks of its instants and of the table."""
    for commit in view.found.commits.values():
        if commit.own and not view.found.own:
            because = "nbcc wrote it, and the table's properties have lost nbcc's marks: it is read by other rules"
            remedy = "put the nbcc.* properties back"
            yield Found(timeline_file(commit.instant), because, remedy, promises=("LAWS", "SNAP"))
        elif view.found.own and not commit.own and commit.operation in ("COMPACT", "CLUSTER", "LOG_COMPACT"):
            because = "another engine's service wrote it: its groups are under Hudi's rules from its barrier on"
            yield Found(timeline_file(commit.instant), because, "run the services of this table with nbcc", "AT RISK")
        plan = view.found.plans.get(commit.instant.requested)
        if view.found.own and not commit.own and plan is not None and plan.replaces:
            because = "another engine took this replace for a compaction, and completed it with nothing"
            remedy = "overwrite the partition again"
            yield Found(timeline_file(commit.instant), because, remedy, promises=("SNAP", "ACK"))
    for clean in view.found.cleans:
        if view.found.own and clean.retained and not clean.own:
            because = "another engine's clean: it published no horizon before it deleted, so that reads could fail"
            yield Found(timeline_file(clean.instant), because, "run the services of this table with nbcc", "AT RISK")


def names(view: View) -> Iterator[Found]:
    """A file of the timeline's folder whose content and name contradict each other in what they say they are."""
    for requested, commit in view.found.commits.items():
        compacts = commit.operation == "COMPACT"
        plain = commit.instant.action == "deltacommit" and compacts
        shared = requested in view.found.shared_requests  # then the plan may be another instant's
        plan = None if shared else view.found.plans.get(requested)
        if plain or (commit.active and plan is not None and not compacts and not plan.replaces):
            because = f"it is a {commit.instant.action} whose operation is {commit.operation or 'not named'}"
            yield Found(timeline_file(commit.instant), because, RESTORE)


def properties(view: View) -> Iterator[Found]:
    values = view.found.properties
    schema = values.get("hoodie.table.create.schema") or _newest_schema(view)
    try:
        columns = without_meta(from_avro(schema)) if schema else pa.schema([])
        config = from_properties(values, columns)
    except Unsupported:
        return  # said once, for the whole table
    except Exception as broken:  # a schema that is none fails in any way
        exists = broken.exists if isinstance(broken, NbccError) else f"its schema is none: {broken}"
        yield Found(".hoodie/hoodie.properties", " ".join(exists.split())[:300], RESTORE)
        return
    if schema is None:
        because = "neither its commits nor its properties tell its columns: nobody can read the table"
        yield Found(".hoodie/hoodie.properties", because, f"write to it, or {RESTORE}", "AT RISK")
        return
    named = {"record key": config.record_key, "partition": config.partition_by}
    named["ordering"] = (config.ordering,) if config.ordering else ()
    for what, fields in named.items():
        for field in fields:
            if field not in columns.names:
                because = f"its {what} field {field!r} is no column of the table ({', '.join(columns.names)})"
                yield Found(".hoodie/hoodie.properties", because, RESTORE)


def _newest_schema(view: View) -> str | None:
    told = [c for c in view.found.commits.values() if c.schema and c.operation not in ("COMPACT", "CLUSTER")]
    return max(told, key=lambda commit: commit.instant.requested).schema if told else None


def metadata_table(view: View) -> Iterator[Found]:
    if view.found.own and (active := view.found.properties.get("hoodie.table.metadata.partitions")):
        because = f"a metadata table ({active}) is active: Hudi's readers list from it and do not see commits of nbcc"
        remedy = "write to the table once with Hudi and hoodie.metadata.enable=false"
        yield Found(".hoodie/hoodie.properties", because, remedy, "AT RISK")


def nothing_pending(view: View) -> Iterator[Found]:
    """A pending compaction of which only the inflight file is left cannot be taken up by anybody."""
    for instant in view.found.timeline.pending_compactions:
        path = f"{TIMELINE}/{instant.requested}.compaction.requested"
        if instant.requested not in view.found.plans and not any(fault.path == path for fault in view.found.faults):
            yield Found(path, "a compaction is pending and its plan is not there", RESTORE)


RULES: Final = (
    Rule("unreadable", "a file of the timeline cannot be understood", ("SNAP",), unreadable),
    Rule("name-and-content", "an instant that is not what its name says", ("PART", "QUIET"), names),
    Rule("undone-and-completed", "an instant that was rolled back and completed", ("REC",), undone),
    Rule("writer-gone", "a write that nobody goes on with", ("ARCH", "PROGRESS"), stale),
    Rule("marks-disagree", "instants and properties disagree about whose rules hold", ("LAWS",), marks),
    Rule("properties-contradict", "the table's properties contradict each other or its columns", ("SNAP",), properties),
    Rule("metadata-table-active", "a metadata table hides commits of nbcc from Hudi", ("SNAP",), metadata_table),
    Rule("plan-missing", "a pending compaction without a plan", ("PROGRESS", "QUIET"), nothing_pending),
)
