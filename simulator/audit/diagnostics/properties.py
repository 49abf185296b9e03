"""Diagnostics of ``hoodie.properties``: contradictions inside the file, with the table's files, and with its columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

import pyarrow as pa

from nbcc.engine.audit import Audit
from nbcc.engine.audit.amounts import several
from nbcc.engine.config import VERSIONS, from_properties
from nbcc.engine.config.intact import LAYOUT, lacking_keys
from nbcc.engine.config.properties import CHECKSUM
from nbcc.engine.config.table_config import MergeMode
from nbcc.engine.config.table_properties import inferred_mode
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.errors import NbccError, Unsupported
from nbcc.engine.files.group_files import LogFile
from nbcc.engine.schema import from_avro, without_meta

from ..view import TIMELINE, TableView
from .diagnostic import READS, RESTORE, Rule, Spot

MODE: Final = "hoodie.record.merge.mode"
TYPE: Final = "hoodie.table.type"
VERSION: Final = "hoodie.table.version"
_ORDERING: Final = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
_TYPES: Final = ("COPY_ON_WRITE", "MERGE_ON_READ")
_BASE_FORMAT: Final = "hoodie.table.base.file.format"
_LOGS_LOST: Final = ("SNAP", "TRAVEL", "INCR")
_OUT: Final = "move them out of the folder of the table"
_STOP: Final = f"stop that writer, and {_OUT}"
_WRITE: Final = f"write to it, or {RESTORE}"
_TURN_OFF: Final = "write to the table once with Hudi and hoodie.metadata.enable=false"
_METADATA: Final = "hoodie.table.metadata.partitions"


def without_checksum(view: TableView) -> bool:
    """Return True if the checksum is all that the properties of another engine's table lack."""
    values = view.audit.properties
    return not view.audit.own and CHECKSUM not in values and not lacking_keys(values)


def no_checksum(view: TableView) -> Iterator[Spot]:
    if without_checksum(view):
        because = (
            f"it lacks {CHECKSUM}: Hudi 1.2.0 reads the table, until an update of the properties takes the file for one"
            " that was cut short; nbcc refuses it for that reason"
        )
        yield Spot(PROPERTIES, because, RESTORE, "AT RISK")


def layout(view: TableView) -> Iterator[Spot]:
    """Yield what contradicts the table version. From version 8 on, the timeline has layout 2, in which the name of a
    completed instant contains its completion time.
    """
    values = view.audit.properties
    version, of_file = values.get(VERSION, ""), values.get(LAYOUT, "")
    new = sum(instant.completed is not None for instant in view.audit.timeline.instants)
    old = [fault.path for fault in view.audit.faults if fault.kind == "instant"]
    if not version.isdecimal():
        return
    if int(version) < VERSIONS[0] and new:
        because = (
            f"{VERSION} = {version}, and {several(new, 'instant')} have the names of version 8 and later: Hudi 1.2.0"
            " reads the table by its layout, hudi-rs and nbcc refuse it"
        )
        yield Spot(PROPERTIES, because, RESTORE, "AT RISK")
    elif int(version) in VERSIONS and of_file not in ("2", ""):
        because = f"{VERSION} = {version} needs {LAYOUT} = 2, and the file has {of_file}"
        yield Spot(PROPERTIES, because, RESTORE)
    elif int(version) in VERSIONS and old:
        because = (
            f"{several(len(old), 'instant')} of layout 1, without a completion time, in a table of version {version}:"
            " Hudi's readers ignore what a writer of another version has written, and nbcc refuses the table"
        )
        yield Spot(old[0], because, _STOP, "AT RISK")


def contradictions(view: TableView) -> Iterator[Spot]:
    """Yield properties that contradict each other or the table's files, by which readers would return other rows."""
    for because, promises in _contradictions(view.audit):
        yield Spot(PROPERTIES, because, RESTORE, promises=promises)
    yield from _of_columns(view)


def _contradictions(audit: Audit) -> Iterator[tuple[str, tuple[str, ...]]]:
    values = audit.properties
    if not values.get(VERSION, "0").isdecimal():
        yield f"{VERSION} = {values[VERSION]} is not a number", READS
    if (kind := values.get(TYPE, _TYPES[0])) not in _TYPES:
        yield f"{TYPE} = {kind} is not a table type ({' or '.join(_TYPES)})", READS
    elif kind == _TYPES[0] and (logs := sum(isinstance(file, LogFile) for file in audit.files.values())):
        yield f"{TYPE} = {kind}, and the table has {several(logs, 'log')}, which Hudi then does not read", _LOGS_LOST
    yield from _of_merging(audit)
    form = values.get(_BASE_FORMAT, "PARQUET").upper()
    if form != "PARQUET" and any(path.endswith(".parquet") for path in audit.files):
        yield f"{_BASE_FORMAT} = {form}, and its base files are Parquet files", READS
    folder = values.get("hoodie.timeline.path", "timeline")
    if folder != "timeline" and audit.timeline.instants:
        yield f"hoodie.timeline.path = {folder}, and {TIMELINE} has its timeline", READS


def _of_merging(audit: Audit) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The merge mode against the properties from which older versions infer it."""
    values = audit.properties
    mode = values.get(MODE)
    ordering = next((values[name] for name in _ORDERING if values.get(name)), "")
    known = (*get_args(MergeMode), "CUSTOM")
    if mode is None:
        return
    if mode not in known:
        yield f"{MODE} = {mode} is not a merge mode ({', '.join(known)})", READS
    elif mode == "EVENT_TIME_ORDERING" and not ordering:
        yield f"{MODE} = {mode}, and no {_ORDERING[0]}: nothing ranks the records of a key", ("LAWS", "SNAP", "INCR")
    elif mode != "CUSTOM":
        inferred = inferred_mode(values)
        if inferred is not None and inferred != mode:
            yield f"{MODE} = {mode}, and the payload class or strategy says {inferred}", ("LAWS", "SNAP", "INCR")


def _of_columns(view: TableView) -> Iterator[Spot]:
    """Yield fields that are not columns, and a schema that is invalid or missing."""
    values = view.audit.properties
    schema = values.get("hoodie.table.create.schema") or _newest_schema(view)
    try:
        known = without_meta(from_avro(schema)) if schema else pa.schema([])
        config = from_properties(values, known)
    except Unsupported:
        return  # the table is UNDETERMINED then, or its properties contradict each other
    except Exception as broken:  # an invalid schema can raise anything
        exists = broken.exists if isinstance(broken, NbccError) else f"its schema is invalid: {broken}"
        if values.get(VERSION, "").isdecimal():
            yield Spot(PROPERTIES, " ".join(exists.split())[:300], RESTORE)
        return
    if schema is None:
        because = "neither its commits nor its properties record its columns: no reader can open the table"
        yield Spot(PROPERTIES, because, _WRITE, "AT RISK")
        return
    named = {"record key": config.record_key, "partition": config.partition_by}
    named["ordering"] = (config.ordering,) if config.ordering else ()
    for what, fields in named.items():
        for field in fields:
            if field not in known.names:
                because = f"its {what} field {field!r} is not a column of the table ({', '.join(known.names)})"
                yield Spot(PROPERTIES, because, RESTORE)


def _newest_schema(view: TableView) -> str | None:
    commits = [c for c in view.audit.commits.values() if c.schema and c.operation not in ("COMPACT", "CLUSTER")]
    return max(commits, key=lambda commit: commit.instant.requested).schema if commits else None


def metadata_table(view: TableView) -> Iterator[Spot]:
    if view.audit.own and (active := view.audit.properties.get(_METADATA)):
        because = f"a metadata table ({active}) is active: Hudi's readers list files from it and miss commits of nbcc"
        yield Spot(PROPERTIES, because, _TURN_OFF, "AT RISK")


RULES: Final = (
    Rule("properties-without-checksum", "properties that may have been cut short", READS, no_checksum, (RESTORE,)),
    Rule("version-contradicts-layout", "a table version that its timeline contradicts", READS, layout,
         (RESTORE, _STOP)),
    Rule("properties-contradict", "properties that contradict each other or the table", READS, contradictions,
         (RESTORE, _WRITE), ("LAWS",)),
    Rule("metadata-table-active", "a metadata table hides commits of nbcc from Hudi", ("SNAP",), metadata_table,
         (_TURN_OFF,)),
)  # fmt: skip
