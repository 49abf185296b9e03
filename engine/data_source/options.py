"""Parses the options of the data source, which have Hudi's names where Hudi has the same option. The page
docs/options.md describes the options for users.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final, Literal, cast, get_args

from ..config.hudi_options import BY_MEANING, OF_TABLE, is_known, merge_mode_of, notice_of
from ..config.maintenance import ALIASES, INLINE, MaintenancePolicy, inline_policy
from ..config.opening import BUCKETS as BUCKET_COUNT
from ..config.opening import DEFAULTS, LISTING, TAKE_OVER, OpenOptions, open_options
from ..config.options import COORDINATION, FUNCTION, PROVIDER, WRITE_TASKS
from ..errors import BadInput, Unsupported
from ..limits import Limits, limits, limits_of
from ..reads.times import BEGINNING, Time
from ..schema.accepted import checked_zone
from ..spark.worker import tell_user

Query = Literal["snapshot", "read_optimized", "incremental"]
Operation = Literal[
    "upsert", "insert", "bulk_insert", "delete", "insert_overwrite", "insert_overwrite_table", "delete_partition"
]

PATH: Final = "path"
COLUMNS: Final = "columns"
AS_OF: Final = "as.of.instant"
QUERY: Final = "hoodie.datasource.query.type"
FORMAT: Final = "hoodie.datasource.query.incremental.format"
BEGIN: Final = "hoodie.datasource.read.begin.instanttime"
END: Final = "hoodie.datasource.read.end.instanttime"
TASK_BYTES: Final = "task.bytes"

STORAGE: Final = "storage."
"""The prefix of storage options (docs/options.md)."""

READ: Final = (PATH, COLUMNS, AS_OF, QUERY, FORMAT, BEGIN, END, TASK_BYTES, LISTING, FUNCTION)

OPERATION: Final = "hoodie.datasource.write.operation"
BATCH_ID: Final = "batch.id"
REPLAY_DIFFERENCE: Final = "replay.difference"
PARTITIONS: Final = "hoodie.datasource.write.partitions.to.delete"
MERGE_SCHEMA: Final = "mergeSchema"
RECONCILE: Final = "hoodie.datasource.write.reconcile.schema"
ZONE: Final = "session.time.zone"
BUCKETS: Final = BUCKET_COUNT
TABLE: Final = OF_TABLE

CREATE: Final = (
    "hoodie.logfile.data.block.format",
    "hoodie.logfile.max.size",
    WRITE_TASKS,
    "hoodie.datasource.write.hive_style_partitioning",
    "hoodie.write.table.version",
    *(option.name for option in COORDINATION),
)
"""Options of `Table.create` itself."""

OF_WRITE: Final = (
    PATH, OPERATION, BATCH_ID, REPLAY_DIFFERENCE, PARTITIONS, MERGE_SCHEMA, RECONCILE, ZONE, TAKE_OVER, FUNCTION
)  # fmt: skip

SERVICES: Final = (*(option.name for option in INLINE), *ALIASES)
"""Options of the services that a writer runs after its commit."""

ELSEWHERE: Final[Mapping[str, str]] = {
    "timestampasof": f"use {AS_OF} with a completion time",
    "versionasof": f"states of a table have no numbers; use {AS_OF} with a completion time",
    "paths": "a read has one table: union the DataFrames of several",
    "as.of.timestamp": f"use {AS_OF} with a completion time",
    "compaction.schedule.enabled": "that is Flink's name; use hoodie.compact.schedule.inline",
    "compaction.async.enabled": "that is Flink's name; use hoodie.compact.inline, or run `nbcc serve`",
    "compaction.delta_commits": "that is Flink's name; use hoodie.compact.inline.max.delta.commits",
    "clean.async.enabled": "that is Flink's name; use hoodie.clean.automatic, or run `nbcc serve`",
    "clean.retain_commits": "that is Flink's name; use hoodie.clean.commits.retained",
    "index.type": "that is Flink's name; use hoodie.index.type",
    "write.tasks": "that is Flink's name; Spark writes with one task per partition of the DataFrame",
}
"""Options of other formats for what nbcc has under another name: what to use instead."""

CATALOG: Final = frozenset({"owner", "provider"})
"""What Spark adds to the options when CREATE TABLE asks for the columns of a table."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The parsed options of a read. `after` and `until` are the completion times that bound an incremental query.
    `limits` are the memory limits of the Spark tasks.
    """

    path: str
    query: Query = "snapshot"
    changes: bool = False
    as_of: Time | None = None
    after: Time = BEGINNING
    until: Time | None = None
    columns: tuple[str, ...] = ()
    storage: Mapping[str, str] = field(default_factory=dict)
    opening: OpenOptions = DEFAULTS
    limits: Limits = field(default_factory=limits)


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The parsed options of a write. `create` contains the argument `options` of `Table.create`, and `table` contains
    the options that determine its other arguments.

    `by_meaning` contains the options of Hudi that must fit the table (`hudi_options.check_meaning`). `partitions` are
    the partitions that a delete_partition deletes. If `adds_columns` is True, columns that the table lacks are added to
    it. `zone` is the time zone of timestamps without one.

    `batch_id` identifies the batch; a batch with the id of a committed batch is not written again. `replay_difference`
    ("refuse" or "keep") states what happens if the rows of a repeated batch differ from the committed rows. `services`
    selects the table services that the writer runs after its commit.
    """

    path: str
    operation: Operation = "upsert"
    batch_id: str | None = None
    replay_difference: str = "refuse"
    table: Mapping[str, str] = field(default_factory=dict)
    create: Mapping[str, str] = field(default_factory=dict)
    storage: Mapping[str, str] = field(default_factory=dict)
    services: MaintenancePolicy | None = None
    opening: OpenOptions = DEFAULTS
    by_meaning: Mapping[str, str] = field(default_factory=dict)
    partitions: tuple[str, ...] = ()
    adds_columns: bool = False
    zone: str | None = None


def read_options(given: Mapping[str, str]) -> ReadOptions:
    """Parse the options of a read. Raises `BadInput` or `Unsupported` for an invalid option."""
    if {name.lower() for name in given} >= CATALOG:
        raise Unsupported(
            "create a table in Spark's catalog with USING nbcc",
            "Spark gives a Python data source no path when such a table is read or written",
            f"create the table by Table.create, or by a write that names {TABLE['record_key'][0]};"
            " query it by nbcc.sql_view(spark, name, path), or by CREATE TEMPORARY VIEW name USING nbcc"
            " OPTIONS (path '...')",
        )
    options = known_options(given, READ, "read")
    query = options.get(QUERY, "snapshot").lower()
    shape = options.get(FORMAT, "latest_state").lower()
    if query not in ("snapshot", "read_optimized", "incremental"):
        raise no_value(QUERY, query, ("snapshot", "read_optimized", "incremental"))
    if shape not in ("latest_state", "cdc"):
        raise no_value(FORMAT, shape, ("latest_state", "cdc"))
    _refuse_mixed(options, query)
    return ReadOptions(
        path=path_of(options, "read"),
        query="snapshot" if query == "snapshot" else "incremental" if query == "incremental" else "read_optimized",
        changes=shape == "cdc",
        as_of=options.get(AS_OF),
        after=options.get(BEGIN, BEGINNING),
        until=options.get(END),
        columns=columns_of(options),
        storage=storage_of(given),
        opening=opening_of(options, (LISTING, FUNCTION)),
        limits=limits_of([f"task_bytes={options[TASK_BYTES]}"] if TASK_BYTES in options else []),
    )


def opening_of(options: Mapping[str, str], names: Iterable[str]) -> OpenOptions:
    """Return those of the given options that are options of `Table.open` and in `names`."""
    return open_options({name: options[name] for name in names if name in options})


def columns_of(options: Mapping[str, str]) -> tuple[str, ...]:
    return _parts(options.get(COLUMNS, ""))


def write_options(given: Mapping[str, str]) -> WriteOptions:
    """Parse the options of a write. Raises `BadInput` or `Unsupported` for an invalid option."""
    of_table = [name for names in TABLE.values() for name in names]
    options = known_options(given, (*OF_WRITE, *of_table, *CREATE, *SERVICES), "write")
    operation = options.get(OPERATION, "upsert").lower()
    if operation not in get_args(Operation):
        raise Unsupported(
            f"write with {OPERATION}={operation}", "nbcc has no such operation", f"use {', '.join(get_args(Operation))}"
        )
    return WriteOptions(
        path=path_of(options, "write"),
        operation=cast(Operation, operation),
        batch_id=options.get(BATCH_ID),
        replay_difference=options.get(REPLAY_DIFFERENCE, "refuse").lower(),
        table=_arguments(options, given),
        create={name: options[name] for name in CREATE if name in options},
        storage=storage_of(given),
        services=inline_policy({name: options[name] for name in SERVICES if name in options}, _refused_service),
        opening=opening_of(options, (TAKE_OVER, BUCKETS, FUNCTION, *(option.name for option in COORDINATION))),
        by_meaning=_by_meaning(given),
        partitions=_parts(options.get(PARTITIONS, "")),
        adds_columns="true" in (options.get(MERGE_SCHEMA, "").lower(), options.get(RECONCILE, "").lower()),
        zone=checked_zone(options.get(ZONE), "write"),
    )


def _arguments(options: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments of `Table.create` that the options determine. A payload class, a merger or a merge strategy
    determines the merge mode.
    """
    found = {argument: value for argument, names in TABLE.items() if (value := _one_of(options, names)) is not None}
    by_class = {name: mode for name, value in given.items() if (mode := merge_mode_of(name.lower(), value)) is not None}
    merging = TABLE["merge_mode"][0]
    if by_class:
        named = {merging: found["merge_mode"].upper()} if "merge_mode" in found else {}
        found["merge_mode"] = _one_of(by_class | named, (*by_class, *named)) or ""
    if "partition_by" in found:
        found["partition_by"] = ",".join(_plain_column(part) for part in _parts(found["partition_by"]))
    return found


def _plain_column(part: str) -> str:
    """Return the column of a partition field such as ``city:SIMPLE``, as CustomKeyGenerator writes it."""
    column, _, kind = part.partition(":")
    if kind and kind.upper() != "SIMPLE":
        raise Unsupported(
            f"partition by {part}",
            f"{kind} would format the value, and nbcc takes the partition column as it is",
            "add the formatted value to the DataFrame as a column, and partition by it",
        )
    return column


def _by_meaning(given: Mapping[str, str]) -> dict[str, str]:
    names = {PROVIDER, *(name for option in BY_MEANING for name in option.names)}
    return {name.lower(): value for name, value in given.items() if name.lower() in names}


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _refused_service(name: str, value: str, needed: str) -> BadInput:
    return BadInput(f"write with {name}={value}", "there is no such value", f"use {needed}")


def storage_of(given: Mapping[str, str]) -> dict[str, str]:
    """Return the storage options, without the prefix ``storage.`` in their names."""
    return {name[len(STORAGE) :]: value for name, value in given.items() if name.lower().startswith(STORAGE)}


def known_options(given: Mapping[str, str], known: Iterable[str], verb: str) -> dict[str, str]:
    """Return those of the given options that nbcc uses. Options of Hudi that nbcc does not use raise an error if nbcc
    does not do what they say. Others are ignored; the user reads a line about those whose effect could be missed.
    """
    names = {name.lower(): name for name in known}
    kept, notices = {}, []
    for option, value in given.items():
        asked = option.lower()
        if asked.startswith(STORAGE):
            continue
        if asked in names:
            kept[names[asked]] = value
        elif is_known(asked) or (asked.startswith("hoodie.") and not get_close_matches(asked, names, 1, 0.93)):
            notices.append(notice_of(option, value))
        else:
            raise _unknown(option, names.values(), verb)
    if any(notices):
        tell_user(f"nbcc ignores {', '.join(sorted(filter(None, notices)))}")
    return kept


def _unknown(option: str, known: Iterable[str], verb: str) -> BadInput:
    near = get_close_matches(option.lower(), known, 1, 0.6)
    remedy = f"did you mean {near[0]}" if near else "docs/options.md lists the options"
    remedy = ELSEWHERE.get(option.lower(), remedy)
    return BadInput(f"{verb} with the option {option!r}", "there is no such option", remedy)


def _refuse_mixed(options: Mapping[str, str], query: str) -> None:
    if query == "incremental":
        if AS_OF in options:
            raise BadInput(
                f"read an incremental window with {AS_OF}", "a window has its own ends", f"use {BEGIN} and {END}"
            )
        if BEGIN not in options:
            raise BadInput(
                "read an incremental window", f"{BEGIN} is missing", "give the completion time it starts after"
            )
        return
    for name in (BEGIN, END, FORMAT):
        if name in options:
            raise BadInput(f"read a {query} with {name}", "that is for windows", f"set {QUERY}=incremental")
    if query == "read_optimized" and AS_OF in options:
        raise Unsupported(f"read read_optimized with {AS_OF}", "no promise defines that read", "read a snapshot")


def _one_of(options: Mapping[str, str], names: Iterable[str]) -> str | None:
    """Return the value of an option with several names. Raises `BadInput` if the option is given different values under
    different names.
    """
    found = {name: options[name] for name in names if name in options}
    if len(set(found.values())) > 1:
        options_given = " and ".join(f"{name}={value}" for name, value in found.items())
        raise BadInput(f"write with {options_given}", "these mean the same", "give one of them")
    return next(iter(found.values()), None)


def no_value(name: str, value: str, allowed: Iterable[str]) -> BadInput:
    return BadInput(f"read with {name}={value}", "there is no such value", f"use {' or '.join(allowed)}")


def path_of(options: Mapping[str, str], verb: str) -> str:
    if PATH not in options:
        example = 'spark.read.format("nbcc").load(path)' if verb == "read" else 'df.write.format("nbcc").save(path)'
        exists = "no path is given, and Spark passes none for a table that CREATE TABLE or saveAsTable made"
        raise BadInput(f"{verb} a table", exists, f"use nbcc.sql_view(spark, name, path), or name the path: {example}")
    if "*" in options[PATH]:
        raise BadInput(f"{verb} the table {options[PATH]}", "the path is a pattern", "give the folder of one table")
    return options[PATH]
