"""The Avro schemas of Hudi's timeline files (docs/hudi-format.md). Avro readers match the fields of a schema by name.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

NAMESPACE: Final = "org.apache.hudi.avro.model"

Kind = str | Schema


def _map(values: Kind) -> Schema:
    return {"type": "map", "values": values}


def _array(items: Kind | list[Kind]) -> Schema:
    return {"type": "array", "items": items}


def _fields(**kinds: Kind) -> list[Schema]:
    """Return fields that every record has, by their names."""
    return [{"name": name, "type": kind} for name, kind in kinds.items()]


def _nullable(**kinds: Kind) -> list[Schema]:
    return [{"name": name, "type": ["null", kind], "default": None} for name, kind in kinds.items()]


def _default(name: str, kind: Kind | list[Kind], default: object) -> Schema:
    return {"name": name, "type": kind, "default": default}


def _record(name: str, *fields: Schema) -> Schema:
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": list(fields)}


_STRINGS: Final = _map("string")
_NAMES: Final = _array("string")
_VERSION: Final = _default("version", ["int", "null"], 1)
_EXTRA: Final = _nullable(extraMetadata=_STRINGS)

_RUNTIME_STATS: Final = _record(
    "HoodieRuntimeStats", *_nullable(totalScanTime="long", totalCreateTime="long", totalUpsertTime="long")
)

WRITE_STAT: Final = _record(
    "HoodieWriteStat",
    *_nullable(
        fileId="string", path="string", prevCommit="string", numWrites="long", numDeletes="long",
        numUpdateWrites="long", totalWriteBytes="long", totalWriteErrors="long", partitionPath="string",
        totalLogRecords="long", totalLogFiles="long", totalUpdatedRecordsCompacted="long", numInserts="long",
        totalLogBlocks="long", totalCorruptLogBlock="long", totalRollbackBlocks="long", fileSizeInBytes="long",
        logVersion="int", logOffset="long", baseFile="string", logFiles=_NAMES, cdcStats=_map("long"),
        prevBaseFile="string", minEventTime="long", maxEventTime="long", runtimeStats=_RUNTIME_STATS,
        totalLogFilesCompacted="long", totalLogReadTimeMs="long", totalLogSizeCompacted="long", tempPath="string",
        numUpdates="long",
    ),
)  # fmt: skip

_COMMIT_FIELDS: Final = (
    *_nullable(partitionToWriteStats=_map(_array(WRITE_STAT)), compacted="boolean"), *_EXTRA, _VERSION,
    *_nullable(operationType="string"),
)  # fmt: skip

COMMIT: Final = _record("HoodieCommitMetadata", *_COMMIT_FIELDS)

REPLACE_COMMIT: Final = _record(
    "HoodieReplaceCommitMetadata", *_COMMIT_FIELDS, *_nullable(partitionToReplaceFileIds=_map(_NAMES))
)

_COMPACTION_OPERATION: Final = _record(
    "HoodieCompactionOperation",
    *_nullable(baseInstantTime="string", deltaFilePaths=_NAMES, dataFilePath="string", fileId="string",
               partitionPath="string", metrics=_map("double"), bootstrapFilePath="string"),
)  # fmt: skip

_COMPACTION_STRATEGY: Final = _record(
    "HoodieCompactionStrategy", *_nullable(compactorClassName="string", strategyParams=_STRINGS), _VERSION
)

_PRESERVES: Final = _default("preserveHoodieMetadata", ["boolean", "null"], False)

COMPACTION_PLAN: Final = _record(
    "HoodieCompactionPlan", *_nullable(operations=_array(_COMPACTION_OPERATION)), *_EXTRA, _VERSION,
    *_nullable(strategy=_COMPACTION_STRATEGY), _PRESERVES, *_nullable(missingSchedulePartitions=_NAMES),
)  # fmt: skip

_INSTANT_INFO: Final = _record("HoodieInstantInfo", *_fields(commitTime="string", action="string"))

_COUNTS: Final = _map("long")

_ROLLBACK_REQUEST: Final = _record(
    "HoodieRollbackRequest", *_fields(partitionPath="string"),
    *_nullable(fileId="string", latestBaseInstant="string"), _default("filesToBeDeleted", _NAMES, []),
    *_nullable(logBlocksToBeDeleted=_COUNTS),
)  # fmt: skip

ROLLBACK_PLAN: Final = _record(
    "HoodieRollbackPlan",
    *_nullable(instantToRollback=_INSTANT_INFO, RollbackRequests=_array(_ROLLBACK_REQUEST)),
    _VERSION,
)

_ROLLBACK_PARTITION: Final = _record(
    "HoodieRollbackPartitionMetadata",
    *_fields(partitionPath="string", successDeleteFiles=_NAMES, failedDeleteFiles=_NAMES),
    *_nullable(rollbackLogFiles=_COUNTS, logFilesFromFailedCommit=_COUNTS),
)

ROLLBACK: Final = _record(
    "HoodieRollbackMetadata",
    *_fields(startRollbackTime="string", timeTakenInMillis="long", totalFilesDeleted="int", commitsRollback=_NAMES,
             partitionMetadata=_map(_ROLLBACK_PARTITION)),
    _VERSION, _default("instantsRollback", _array(_INSTANT_INFO), []),
)  # fmt: skip

_CLEAN_FILE: Final = _record(
    "HoodieCleanFileInfo", *_nullable(filePath="string", isBootstrapBaseFile="boolean")
)

_ACTION_INSTANT: Final = _record(
    "HoodieActionInstant", *_fields(timestamp="string", action="string", state="string")
)

_LAST_COMPLETED: Final = _default("lastCompletedCommitTimestamp", "string", "")

CLEAN_PLAN: Final = _record(
    "HoodieCleanerPlan", *_nullable(earliestInstantToRetain=_ACTION_INSTANT), _LAST_COMPLETED,
    *_fields(policy="string"), *_nullable(filesToBeDeletedPerPartition=_map(_NAMES)), _VERSION,
    *_nullable(filePathsToBeDeletedPerPartition=_map(_array(_CLEAN_FILE)), partitionsToBeDeleted=_NAMES), *_EXTRA,
)  # fmt: skip

_CLEANED_PARTITION: Final = _record(
    "HoodieCleanPartitionMetadata",
    *_fields(partitionPath="string", policy="string", deletePathPatterns=_NAMES, successDeleteFiles=_NAMES,
             failedDeleteFiles=_NAMES),
    *_nullable(isPartitionDeleted="boolean"),
)  # fmt: skip

CLEAN: Final = _record(
    "HoodieCleanMetadata",
    *_fields(startCleanTime="string", timeTakenInMillis="long", totalFilesDeleted="int",
             earliestCommitToRetain="string"),
    _LAST_COMPLETED, *_fields(partitionMetadata=_map(_CLEANED_PARTITION)), _VERSION,
    *_nullable(bootstrapPartitionMetadata=_map("HoodieCleanPartitionMetadata")), *_EXTRA,
)  # fmt: skip

_SAVED_PARTITION: Final = _record(
    "HoodieSavepointPartitionMetadata", *_fields(partitionPath="string", savepointDataFile=_NAMES)
)

SAVEPOINT: Final = _record(
    "HoodieSavepointMetadata",
    *_fields(savepointedBy="string", savepointedAt="long", comments="string",
             partitionMetadata=_map(_SAVED_PARTITION)),
    _VERSION,
)  # fmt: skip

RESTORE_PLAN: Final = _record(
    "HoodieRestorePlan", _default("instantsToRollback", _array(_INSTANT_INFO), []),
    _default("version", ["int", "null"], 2), *_nullable(savepointToRestoreTimestamp="string"),
)  # fmt: skip

RESTORE: Final = _record(
    "HoodieRestoreMetadata",
    *_fields(startRestoreTime="string", timeTakenInMillis="long", instantsToRollback=_NAMES,
             hoodieRestoreMetadata=_map(_array(["null", ROLLBACK]))),
    _VERSION, _default("restoreInstantInfo", _array("HoodieInstantInfo"), []),
)  # fmt: skip

_SLICE: Final = _record(
    "HoodieSliceInfo",
    *_nullable(dataFilePath="string", deltaFilePaths=_NAMES, fileId="string", partitionPath="string",
               bootstrapFilePath="string"),
    _VERSION,
)  # fmt: skip

_CLUSTERING_GROUP: Final = _record(
    "HoodieClusteringGroup", *_nullable(slices=_array(_SLICE), metrics=_map("double")),
    _default("numOutputFileGroups", ["int", "null"], 1), *_EXTRA, _VERSION,
)  # fmt: skip

_CLUSTERING_STRATEGY: Final = _record(
    "HoodieClusteringStrategy", *_nullable(strategyClassName="string", strategyParams=_STRINGS), _VERSION
)

_CLUSTERING_PLAN: Final = _record(
    "HoodieClusteringPlan",
    *_nullable(inputGroups=_array(_CLUSTERING_GROUP), strategy=_CLUSTERING_STRATEGY), *_EXTRA, _VERSION,
    _PRESERVES, *_nullable(missingSchedulePartitions=_NAMES),
)  # fmt: skip

REQUESTED_REPLACE: Final = _record(
    "HoodieRequestedReplaceMetadata",
    *_nullable(operationType="string", clusteringPlan=_CLUSTERING_PLAN), *_EXTRA, _VERSION,
)  # fmt: skip
