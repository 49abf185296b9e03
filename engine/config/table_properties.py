"""Conversion between a `TableConfig` and ``hoodie.properties`` (docs/hudi-format.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, get_args

import pyarrow as pa

from ..errors import NotATable, Unsupported
from .archive_policy import archive_policy_of
from .concurrency import NON_BLOCKING, SINGLE_WRITER, concurrency_mode
from .concurrency import OPTION as CONCURRENCY
from .coordination import (
    ALONE,
    DECISION_LOG,
    FREE_DECISIONS,
    PARALLEL_PUBLICATION,
    SHARED_DECISIONS,
    UNLOCKED_REQUESTS,
    coordination_of,
)
from .options import CONSUMER_HOURS, DECISION, FUNCTION, PARTIAL, PUBLICATION, REQUESTS, WRITE_TASKS
from .properties import table_checksum
from .record_index import INDEXED, record_index_of
from .table_config import CONSUMER_HOURS as DEFAULT_CONSUMER_HOURS
from .table_config import MAX_LOG_BYTES, RESIZED, WRITER_FEATURES, MergeMode, TableConfig

VERSIONS: Final = (8, 9)
REFUSED_BY_HUDI: Final = 1000
"""Added to the version of a table that Apache Hudi's readers must refuse, because a feature of nbcc changes what they
would read.
"""
MOST_BUCKETS: Final = 10**8  # a file id has eight digits for the bucket

OWN_FORMAT: Final = "1"
READER_FEATURES: Final = frozenset({"completion-order"})
"""What a reader must know to read our tables: logs of a slice are merged in the order of their completion."""

PARTIAL_FEATURE: Final = "partial-update"
"""What a reader must know where rows are merged column by column: a base file may keep what its rows are made of."""

FUNCTION_FEATURE: Final = "merge-function"
"""What a reader must know where a user's function makes one row of several: none of them is the row."""
FUNCTION_STRATEGY: Final = "5b1c2c0a-7a3e-4a55-9d0b-6e626363666e"
"""Hudi's name for how these tables merge: its readers have nothing of that name, and say so."""

STRATEGIES: Final[Mapping[str, MergeMode]] = {
    "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5": "EVENT_TIME_ORDERING",
    "ce9acb64-bde0-424c-9b91-f6ebba25356d": "COMMIT_TIME_ORDERING",
}
PAYLOADS: Final[Mapping[str, MergeMode]] = {
    "DefaultHoodieRecordPayload": "EVENT_TIME_ORDERING",
    "EventTimeAvroPayload": "EVENT_TIME_ORDERING",
    "OverwriteWithLatestAvroPayload": "COMMIT_TIME_ORDERING",
}
_KEY_GENERATORS: Final = {(1, 0): "NON_PARTITION", (1, 1): "SIMPLE"}  # (key fields, partition fields)


def to_properties(config: TableConfig) -> dict[str, str]:
    """Return all properties of a new nbcc table."""
    fields = (len(config.record_key), len(config.partition_by))
    common = {
        "hoodie.table.name": config.name,
        "hoodie.table.type": config.table_type,
        "hoodie.table.version": str(config.version + REFUSED_BY_HUDI * config.coordination.is_parallel),
        # Without the addition: Hudi looks at the version alone to refuse a table.
        "hoodie.table.initial.version": str(config.version),
        "hoodie.timeline.layout.version": "2",
        "hoodie.timeline.path": "timeline",
        "hoodie.timeline.history.path": "history",
        "hoodie.archivelog.folder": "history",
        "hoodie.table.timeline.timezone": "UTC",
        "hoodie.table.format": "native",
        "hoodie.table.recordkey.fields": ",".join(config.record_key),
        "hoodie.table.partition.fields": ",".join(config.partition_by),
        "hoodie.table.keygenerator.type": _KEY_GENERATORS.get(fields, "COMPLEX" if fields[1] else "NON_PARTITION"),
        "hoodie.record.merge.mode": "CUSTOM" if config.merge_function else config.merge_mode,
        "hoodie.table.base.file.format": "PARQUET",
        "hoodie.table.multiple.base.file.formats.enable": "false",
        "hoodie.partition.metafile.use.base.format": "false",
        "hoodie.populate.meta.fields": "true",
        "hoodie.table.cdc.enabled": "false",
        "hoodie.datasource.write.hive_style_partitioning": str(config.hive_style).lower(),
        "hoodie.datasource.write.partitionpath.urlencode": "false",
        "hoodie.datasource.write.drop.partition.columns": "false",
        "hoodie.table.create.schema": config.avro_schema,
    }
    checksum = {"hoodie.table.checksum": table_checksum(config.name)}
    return {**common, **_ordering_properties(config), **_own_properties(config), **checksum}


def _ordering_properties(config: TableConfig) -> dict[str, str]:
    """Return the properties that determine how records are ordered. In version 8 the merge mode, strategy and payload
    must be consistent, otherwise Hudi raises an exception.
    """
    if config.merge_function:
        return {"hoodie.record.merge.strategy.id": FUNCTION_STRATEGY}
    if config.version >= 9:
        return {"hoodie.table.ordering.fields": config.ordering} if config.ordering else {}
    payload = "OverwriteWithLatestAvroPayload"
    if config.merge_mode == "EVENT_TIME_ORDERING":
        payload = "DefaultHoodieRecordPayload"
    strategy = next(key for key, mode in STRATEGIES.items() if mode == config.merge_mode)
    return {
        **({"hoodie.table.precombine.field": config.ordering} if config.ordering else {}),
        "hoodie.record.merge.strategy.id": strategy,
        "hoodie.compaction.payload.class": f"org.apache.hudi.common.model.{payload}",
    }


def _own_properties(config: TableConfig) -> dict[str, str]:
    # Only what the table uses: an older reader must not refuse it for a feature that it does not need.
    demanded = READER_FEATURES | ({PARTIAL_FEATURE} if config.partial_update else set())
    demanded |= {FUNCTION_FEATURE} if config.merge_function else set()
    demanded |= {PARALLEL_PUBLICATION} if config.coordination.is_parallel else set()
    # Once resized, always: old file groups stay visible to reads of the past.
    resized = {RESIZED} & config.writer_features
    demanded |= resized
    indexed = {INDEXED} if config.record_index else set()
    written = {
        "nbcc.format": OWN_FORMAT,
        "nbcc.buckets": str(config.buckets),
        "nbcc.reader.features": ",".join(sorted(demanded)),
        "nbcc.writer.features": ",".join(sorted(WRITER_FEATURES | resized | indexed | config.coordination.features)),
        CONCURRENCY: config.concurrency_mode,
        "hoodie.logfile.data.block.format": config.log_format,
    }
    if config.partial_update:
        written[PARTIAL] = "SET_COLUMNS"
    if config.merge_function:
        written[FUNCTION] = config.merge_function
    # Defaults are left out, so that a later release may change them for tables that never chose.
    if config.max_log_bytes != MAX_LOG_BYTES:
        written["hoodie.logfile.max.size"] = str(config.max_log_bytes)
    if config.write_tasks != 1:
        written[WRITE_TASKS] = str(config.write_tasks)
    if config.consumer_hours != DEFAULT_CONSUMER_HOURS:
        written[CONSUMER_HOURS] = str(config.consumer_hours)
    if config.record_index is not None:
        written |= config.record_index.to_properties()
    if config.archive_policy is not None:
        written |= config.archive_policy.to_properties()
    return written | config.coordination.to_properties()


def from_properties(values: Mapping[str, str], schema: pa.Schema) -> TableConfig:
    """Return the table config with the given properties and with the columns of `schema`.

    Raises `NotATable` if the properties are inconsistent, and `Unsupported` if nbcc cannot read the table.
    """

    def refuse(name: str, text: str, needed: str) -> Unsupported:
        return _unsupported(values, f"its {name} is {text!r} and not {needed}")

    _refuse_unreadable(values)
    own = "nbcc.format" in values
    ordering = _names(values.get("hoodie.table.ordering.fields") or values.get("hoodie.table.precombine.field"))
    if len(ordering) > 1:
        raise _unsupported(values, f"it has several ordering columns ({', '.join(ordering)})")
    # Hudi's default for a table whose properties leave it out, and not nbcc's.
    kind = values.get("hoodie.table.type", "COPY_ON_WRITE")
    if own:
        _refuse_inconsistent(values)
    return TableConfig(
        name=values.get("hoodie.table.name", ""),
        schema=schema,
        record_key=_names(values.get("hoodie.table.recordkey.fields")),
        ordering=ordering[0] if ordering else None,
        partition_by=_names(values.get("hoodie.table.partition.fields")),
        buckets=_whole_number(values, "nbcc.buckets", below=MOST_BUCKETS) if own else None,
        merge_mode=merge_mode(values),
        table_type="MERGE_ON_READ" if kind == "MERGE_ON_READ" else "COPY_ON_WRITE",
        concurrency_mode=concurrency_mode(values.get(CONCURRENCY, NON_BLOCKING if own else SINGLE_WRITER)),
        version=_version(values),
        hive_style=_true(values, "hoodie.datasource.write.hive_style_partitioning"),
        own=own,
        writer_features=frozenset(_names(values.get("nbcc.writer.features"))),
        metadata_table=(
            *_names(values.get("hoodie.table.metadata.partitions")),
            *_names(values.get("hoodie.table.metadata.partitions.inflight")),
        ),
        log_format="avro" if values.get("hoodie.logfile.data.block.format") == "avro" else "parquet",
        max_log_bytes=_whole_number(values, "hoodie.logfile.max.size", MAX_LOG_BYTES),
        write_tasks=_whole_number(values, WRITE_TASKS, 1) if own else 1,
        coordination=coordination_of(values, refuse) if own else ALONE,
        partial_update=own and values.get(PARTIAL) == "SET_COLUMNS",
        merge_function=values.get(FUNCTION, "") if own else "",
        archive_policy=archive_policy_of(values, refuse) if own else None,
        consumer_hours=_whole_number(values, CONSUMER_HOURS, DEFAULT_CONSUMER_HOURS),
        record_index=record_index_of(values) if own else None,
    )


def merge_mode(values: Mapping[str, str]) -> MergeMode:
    """Return the merge mode of a table, inferred from other properties if the merge mode is not stored. Raises
    `Unsupported` for an unknown merge mode.
    """
    mode = values.get("hoodie.record.merge.mode")
    if "nbcc.format" in values and values.get(FUNCTION):
        return "COMMIT_TIME_ORDERING"  # which delete came first is ranked by completion: the function sees rows alone
    if mode is None:
        mode = inferred_mode(values) or ("EVENT_TIME_ORDERING" if _ordered(values) else "COMMIT_TIME_ORDERING")
    for known in get_args(MergeMode):
        if mode == known:
            return "EVENT_TIME_ORDERING" if known == "EVENT_TIME_ORDERING" else "COMMIT_TIME_ORDERING"
    raise _unsupported(values, f"its records are merged by {mode}")


def inferred_mode(values: Mapping[str, str]) -> str | None:
    """Return the merge mode that the merge strategy or the payload class of a table stands for; None without both."""
    strategy = values.get("hoodie.record.merge.strategy.id")
    payload = values.get("hoodie.compaction.payload.class") or values.get("hoodie.table.legacy.payload.class")
    if strategy is not None:
        return STRATEGIES.get(strategy, f"CUSTOM (strategy {strategy})")
    return None if payload is None else PAYLOADS.get(payload.rpartition(".")[2], f"CUSTOM (payload {payload})")


def _ordered(values: Mapping[str, str]) -> bool:
    return bool(values.get("hoodie.table.ordering.fields") or values.get("hoodie.table.precombine.field"))


def _refuse_unreadable(values: Mapping[str, str]) -> None:
    layout = values.get("hoodie.timeline.layout.version")
    known = {PARTIAL_FEATURE, FUNCTION_FEATURE, RESIZED, PARALLEL_PUBLICATION, *READER_FEATURES}
    unknown = set(_names(values.get("nbcc.reader.features"))) - known
    refusals = {
        f"it has table version {values.get('hoodie.table.version')}": _version(values) not in VERSIONS,
        f"it has timeline layout {layout}": layout != "2",
        f"its readers must know the features {', '.join(sorted(unknown))}": unknown,
        f"it has nbcc format {values.get('nbcc.format')}": values.get("nbcc.format", OWN_FORMAT) != OWN_FORMAT,
        "its timeline is not in .hoodie/timeline": values.get("hoodie.timeline.path", "timeline") != "timeline",
        "its base files are not parquet": values.get("hoodie.table.base.file.format", "PARQUET").upper() != "PARQUET",
        "it drops partition columns from its files": _true(values, "hoodie.datasource.write.drop.partition.columns"),
        "its files lack Hudi's own columns": values.get("hoodie.populate.meta.fields", "true").lower() != "true",
        "it merges partial updates": values.get("hoodie.table.partial.update.mode"),
        "it is bootstrapped from other files": values.get("hoodie.bootstrap.base.path"),
    }
    for refusal, given in refusals.items():
        if given:
            raise _unsupported(values, refusal)


def _unsupported(values: Mapping[str, str], exists: str) -> Unsupported:
    return Unsupported(
        f"open the table {values.get('hoodie.table.name')}", exists, "copy it (nbcc table PATH copy DEST, by hudi-rs)"
    )


def _version(values: Mapping[str, str]) -> int:
    text = values.get("hoodie.table.version", "")
    if not text.isdecimal():
        raise NotATable(
            f"open the table {values.get('hoodie.table.name')}",
            "hoodie.table.version is missing in hoodie.properties",
            "restore that file, or let Apache Hudi upgrade the table",
        )
    is_parallel = PARALLEL_PUBLICATION in _names(values.get("nbcc.reader.features"))
    # By the feature and not by the size of the number: version 1009 of another engine must be refused.
    return int(text) - REFUSED_BY_HUDI * is_parallel


def _refuse_inconsistent(values: Mapping[str, str]) -> None:
    """Raise `NotATable` if the properties of an nbcc table contradict each other or name no key column."""
    features = _names(values.get("nbcc.writer.features"))
    flaws = {
        "its hoodie.table.recordkey.fields names no column": not _names(values.get("hoodie.table.recordkey.fields")),
        f"it has the feature {DECISION_LOG} and no {DECISION}=log": (
            DECISION_LOG in features and values.get(DECISION, "lock") == "lock"
        ),
        f"it has the feature {SHARED_DECISIONS} and no {DECISION}=shared": (
            SHARED_DECISIONS in features and values.get(DECISION) != "shared"
        ),
        f"it has the feature {FREE_DECISIONS} and no {DECISION}=free": (
            FREE_DECISIONS in features and values.get(DECISION) != "free"
        ),
        f"it has the feature {PARALLEL_PUBLICATION} and no {DECISION}=free with {PUBLICATION}=parallel": (
            PARALLEL_PUBLICATION in features
            and (values.get(DECISION), values.get(PUBLICATION)) != ("free", "parallel")
        ),
        f"it has {PUBLICATION}=parallel and no feature {PARALLEL_PUBLICATION} of its readers": (
            values.get(PUBLICATION) == "parallel"
            and PARALLEL_PUBLICATION not in _names(values.get("nbcc.reader.features"))
        ),
        f"it has the feature {UNLOCKED_REQUESTS} and no {REQUESTS}=put_if_absent": (
            UNLOCKED_REQUESTS in features and values.get(REQUESTS) != "put_if_absent"
        ),
    }
    for flaw, there in flaws.items():
        if there:
            raise _contradictory(values, flaw)
    try:
        record_index_of(values)
    except ValueError as unknown:
        raise _contradictory(values, str(unknown)) from None


def _contradictory(values: Mapping[str, str], exists: str) -> NotATable:
    return NotATable(
        f"open the table {values.get('hoodie.table.name')}", exists, "restore hoodie.properties from a copy"
    )


def _whole_number(values: Mapping[str, str], key: str, default: int | None = None, below: int = 1 << 63) -> int:
    text = values.get(key)
    if text is None and default is not None:
        return default
    # `int` also accepts signs, underscores and digits of other scripts.
    if text is None or not (text.isascii() and text.isdecimal() and len(text) <= 19 and 0 < int(text) < below):
        shown = None if text is None else text[:40]
        raise _contradictory(values, f"its {key} is {shown!r}, which is not a whole number from 1 to {below - 1}")
    return int(text)


def _names(text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _true(values: Mapping[str, str], key: str) -> bool:
    return values.get(key, "false").lower() == "true"


def resized_properties(values: Mapping[str, str]) -> dict[str, str]:
    """Return the properties of a table with the feature of a resize, which readers and writers must know."""
    names = ("nbcc.reader.features", "nbcc.writer.features")
    return {**values, **{name: ",".join(sorted({*_names(values.get(name)), RESIZED})) for name in names}}
