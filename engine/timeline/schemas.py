"""The Avro schemas of Hudi's timeline files (docs/hudi-format.md). Avro readers match the fields of a schema by name.
"""

from __future__ import annotations

from typing import Any, Final

Schema = dict[str, Any]

NAMESPACE: Final = "org.apache.hudi.avro.model"

_STRINGS: Final[Schema] = {"type": "map", "values": "string"}
_NAMES: Final[Schema] = {"type": "array", "items": "string"}


def _nullable(name: str, kind: str | Schema) -> Schema:
    return {"name": name, "type": ["null", kind], "default": None}


def _version() -> Schema:
    return {"name": "version", "type": ["int", "null"], "default": 1}


def _record(name: str, *fields: Schema) -> Schema:
    return {"type": "record", "name": name, "namespace": NAMESPACE, "fields": list(fields)}


_RUNTIME_STATS: Final = _record(
    "HoodieRuntimeStats",
    *(_nullable(name, "long") for name in ("totalScanTime", "totalCreateTime", "totalUpsertTime")),
)

_STAT_TYPES: Final[dict[str, str | Schema]] = {
    "fileId": "string",
    "path": "string",
    "prevCommit": "string",
    "numWrites": "long",
    "numDeletes": "long",
    "numUpdateWrites": "long",
    "totalWriteBytes": "long",
    "totalWriteErrors": "long",
    "partitionPath": "string",
    "totalLogRecords": "long",
    "totalLogFiles": "long",
    "totalUpdatedRecordsCompacted": "long",
    "numInserts": "long",
    "totalLogBlocks": "long",
    "totalCorruptLogBlock": "long",
    "totalRollbackBlocks": "long",
    "fileSizeInBytes": "long",
    "logVersion": "int",
    "logOffset": "long",
    "baseFile": "string",
    "logFiles": _NAMES,
    "cdcStats": {"type": "map", "values": "long"},
    "prevBaseFile": "string",
    "minEventTime": "long",
    "maxEventTime": "long",
    "runtimeStats": _RUNTIME_STATS,
    "totalLogFilesCompacted": "long",
    "totalLogReadTimeMs": "long",
    "totalLogSizeCompacted": "long",
    "tempPath": "string",
    "numUpdates": "long",
}

WRITE_STAT: Final = _record("HoodieWriteStat", *(_nullable(name, kind) for name, kind in _STAT_TYPES.items()))


def _commit_fields() -> list[Schema]:
    stats = {"type": "map", "values": {"type": "array", "items": WRITE_STAT}}
    return [
        _nullable("partitionToWriteStats", stats),
        _nullable("compacted", "boolean"),
        _nullable("extraMetadata", _STRINGS),
        _version(),
        _nullable("operationType", "string"),
    ]


COMMIT: Final = _record("HoodieCommitMetadata", *_commit_fields())

REPLACE_COMMIT: Final = _record(
    "HoodieReplaceCommitMetadata",
    *_commit_fields(),
    _nullable("partitionToReplaceFileIds", {"type": "map", "values": _NAMES}),
)

_COMPACTION_OPERATION: Final = _record(
    "HoodieCompactionOperation",
    _nullable("baseInstantTime", "string"),
    _nullable("deltaFilePaths", _NAMES),
    _nullable("dataFilePath", "string"),
    _nullable("fileId", "string"),
    _nullable("partitionPath", "string"),
    _nullable("metrics", {"type": "map", "values": "double"}),
    _nullable("bootstrapFilePath", "string"),
)

_COMPACTION_STRATEGY: Final = _record(
    "HoodieCompactionStrategy",
    _nullable("compactorClassName", "string"),
    _nullable("strategyParams", _STRINGS),
    _version(),
)

COMPACTION_PLAN: Final = _record(
    "HoodieCompactionPlan",
    _nullable("operations", {"type": "array", "items": _COMPACTION_OPERATION}),
    _nullable("extraMetadata", _STRINGS),
    _version(),
    _nullable("strategy", _COMPACTION_STRATEGY),
    {"name": "preserveHoodieMetadata", "type": ["boolean", "null"], "default": False},
    _nullable("missingSchedulePartitions", _NAMES),
)

_INSTANT_INFO: Final = _record(
    "HoodieInstantInfo", {"name": "commitTime", "type": "string"}, {"name": "action", "type": "string"}
)

_COUNTS: Final[Schema] = {"type": "map", "values": "long"}

_ROLLBACK_REQUEST: Final = _record(
    "HoodieRollbackRequest",
    {"name": "partitionPath", "type": "string"},
    _nullable("fileId", "string"),
    _nullable("latestBaseInstant", "string"),
    {"name": "filesToBeDeleted", "type": _NAMES, "default": []},
    _nullable("logBlocksToBeDeleted", _COUNTS),
)

ROLLBACK_PLAN: Final = _record(
    "HoodieRollbackPlan",
    _nullable("instantToRollback", _INSTANT_INFO),
    _nullable("RollbackRequests", {"type": "array", "items": _ROLLBACK_REQUEST}),
    _version(),
)

_ROLLBACK_PARTITION: Final = _record(
    "HoodieRollbackPartitionMetadata",
    {"name": "partitionPath", "type": "string"},
    {"name": "successDeleteFiles", "type": _NAMES},
    {"name": "failedDeleteFiles", "type": _NAMES},
    _nullable("rollbackLogFiles", _COUNTS),
    _nullable("logFilesFromFailedCommit", _COUNTS),
)

ROLLBACK: Final = _record(
    "HoodieRollbackMetadata",
    {"name": "startRollbackTime", "type": "string"},
    {"name": "timeTakenInMillis", "type": "long"},
    {"name": "totalFilesDeleted", "type": "int"},
    {"name": "commitsRollback", "type": _NAMES},
    {"name": "partitionMetadata", "type": {"type": "map", "values": _ROLLBACK_PARTITION}},
    _version(),
    {"name": "instantsRollback", "type": {"type": "array", "items": _INSTANT_INFO}, "default": []},
)

_CLEAN_FILE: Final = _record(
    "HoodieCleanFileInfo", _nullable("filePath", "string"), _nullable("isBootstrapBaseFile", "boolean")
)

_ACTION_INSTANT: Final = _record(
    "HoodieActionInstant", *({"name": name, "type": "string"} for name in ("timestamp", "action", "state"))
)

CLEAN_PLAN: Final = _record(
    "HoodieCleanerPlan",
    _nullable("earliestInstantToRetain", _ACTION_INSTANT),
    {"name": "lastCompletedCommitTimestamp", "type": "string", "default": ""},
    {"name": "policy", "type": "string"},
    _nullable("filesToBeDeletedPerPartition", {"type": "map", "values": _NAMES}),
    _version(),
    _nullable("filePathsToBeDeletedPerPartition", {"type": "map", "values": {"type": "array", "items": _CLEAN_FILE}}),
    _nullable("partitionsToBeDeleted", _NAMES),
    _nullable("extraMetadata", _STRINGS),
)

_CLEANED_PARTITION: Final = _record(
    "HoodieCleanPartitionMetadata",
    {"name": "partitionPath", "type": "string"},
    {"name": "policy", "type": "string"},
    *({"name": name, "type": _NAMES} for name in ("deletePathPatterns", "successDeleteFiles", "failedDeleteFiles")),
    _nullable("isPartitionDeleted", "boolean"),
)

CLEAN: Final = _record(
    "HoodieCleanMetadata",
    {"name": "startCleanTime", "type": "string"},
    {"name": "timeTakenInMillis", "type": "long"},
    {"name": "totalFilesDeleted", "type": "int"},
    {"name": "earliestCommitToRetain", "type": "string"},
    {"name": "lastCompletedCommitTimestamp", "type": "string", "default": ""},
    {"name": "partitionMetadata", "type": {"type": "map", "values": _CLEANED_PARTITION}},
    _version(),
    _nullable("bootstrapPartitionMetadata", {"type": "map", "values": "HoodieCleanPartitionMetadata"}),
    _nullable("extraMetadata", _STRINGS),
)

_SAVED_PARTITION: Final = _record(
    "HoodieSavepointPartitionMetadata",
    {"name": "partitionPath", "type": "string"},
    {"name": "savepointDataFile", "type": _NAMES},
)

SAVEPOINT: Final = _record(
    "HoodieSavepointMetadata",
    {"name": "savepointedBy", "type": "string"},
    {"name": "savepointedAt", "type": "long"},
    {"name": "comments", "type": "string"},
    {"name": "partitionMetadata", "type": {"type": "map", "values": _SAVED_PARTITION}},
    _version(),
)

RESTORE_PLAN: Final = _record(
    "HoodieRestorePlan",
    {"name": "instantsToRollback", "type": {"type": "array", "items": _INSTANT_INFO}, "default": []},
    {"name": "version", "type": ["int", "null"], "default": 2},
    _nullable("savepointToRestoreTimestamp", "string"),
)

RESTORE: Final = _record(
    "HoodieRestoreMetadata",
    {"name": "startRestoreTime", "type": "string"},
    {"name": "timeTakenInMillis", "type": "long"},
    {"name": "instantsToRollback", "type": _NAMES},
    {
        "name": "hoodieRestoreMetadata",
        "type": {"type": "map", "values": {"type": "array", "items": ["null", ROLLBACK]}},
    },
    _version(),
    {"name": "restoreInstantInfo", "type": {"type": "array", "items": "HoodieInstantInfo"}, "default": []},
)

_SLICE: Final = _record(
    "HoodieSliceInfo",
    _nullable("dataFilePath", "string"),
    _nullable("deltaFilePaths", _NAMES),
    *(_nullable(name, "string") for name in ("fileId", "partitionPath", "bootstrapFilePath")),
    _version(),
)

_CLUSTERING_GROUP: Final = _record(
    "HoodieClusteringGroup",
    _nullable("slices", {"type": "array", "items": _SLICE}),
    _nullable("metrics", {"type": "map", "values": "double"}),
    {"name": "numOutputFileGroups", "type": ["int", "null"], "default": 1},
    _nullable("extraMetadata", _STRINGS),
    _version(),
)

_CLUSTERING_PLAN: Final = _record(
    "HoodieClusteringPlan",
    _nullable("inputGroups", {"type": "array", "items": _CLUSTERING_GROUP}),
    _nullable(
        "strategy",
        _record("HoodieClusteringStrategy", _nullable("strategyClassName", "string"),
                _nullable("strategyParams", _STRINGS), _version()),
    ),
    _nullable("extraMetadata", _STRINGS),
    _version(),
    {"name": "preserveHoodieMetadata", "type": ["boolean", "null"], "default": False},
    _nullable("missingSchedulePartitions", _NAMES),
)

REQUESTED_REPLACE: Final = _record(
    "HoodieRequestedReplaceMetadata",
    _nullable("operationType", "string"),
    _nullable("clusteringPlan", _CLUSTERING_PLAN),
    _nullable("extraMetadata", _STRINGS),
    _version(),
)
