"""Reads the options of Hudi's jobs by their meaning: which values do what nbcc does anyway, which are ignored, and why
all others are refused. The page docs/hudi-options.md is generated from these tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from ..errors import BadInput, NbccError, Unsupported
from .opening import BUCKETS
from .options import PROVIDER
from .table_config import TableConfig
from .table_properties import PAYLOADS, STRATEGIES

NAME: Final = "hoodie.table.name"
OF_TABLE: Final[Mapping[str, tuple[str, ...]]] = {
    "name": (NAME,),
    "record_key": ("hoodie.datasource.write.recordkey.field", "hoodie.table.recordkey.fields"),
    "ordering_fields": (
        "hoodie.table.ordering.fields",
        "hoodie.datasource.write.precombine.field",
        "hoodie.table.precombine.field",
    ),
    "partition_by": ("hoodie.datasource.write.partitionpath.field", "hoodie.table.partition.fields"),
    "buckets": (BUCKETS,),
    "merge_mode": ("hoodie.record.merge.mode", "hoodie.write.record.merge.mode"),
    "table_type": ("hoodie.datasource.write.table.type", "hoodie.table.type"),
    "concurrency_mode": ("hoodie.write.concurrency.mode",),
}
"""What makes a table: argument of `Table.create` -> the options that say it. A table that is there must agree."""

ANY: Final = "*"
"""In the values of a rule: all other values."""


class ValueRule(NamedTuple):
    """What nbcc does with some values of an option. `values` are class names without their package, or other texts in
    lower case.

    `notice` is what the user reads if the option is ignored; '' if ignoring it changes nothing that a user could see.
    """

    values: tuple[str, ...]
    why: str = ""
    remedy: str = ""
    notice: str = ""

    @property
    def refuses(self) -> bool:
        return bool(self.why)


class HudiOption(NamedTuple):
    """An option of Hudi's that sets nothing in nbcc by itself. `names` may end with a dot: a prefix."""

    names: tuple[str, ...]
    rules: tuple[ValueRule, ...]

    def rule(self, value: str) -> ValueRule:
        short = plain(value)
        other = ValueRule((ANY,), "nbcc does not know this value", "leave it out")
        return next((rule for rule in self.rules if short in rule.values or ANY in rule.values), other)


def plain(value: str) -> str:
    """Return a value in lower case, and a class name without its package."""
    return value.strip().rpartition(".")[2].rpartition("$")[2].lower()


def means(*values: str) -> ValueRule:
    """These values mean what nbcc does."""
    return ValueRule(values)


def ignored(*values: str, notice: str = "") -> ValueRule:
    return ValueRule(values, notice=notice or "tuning")


def refused(*values: str, why: str, remedy: str = "leave it out") -> ValueRule:
    return ValueRule(values, why, remedy)


def one(name: str, *rules: ValueRule) -> HudiOption:
    return HudiOption((name,), rules)


def flag(name: str, default: bool, why: str, remedy: str = "leave it out") -> HudiOption:
    """An option of which nbcc does the default."""
    yes, no = ("true", "false") if default else ("false", "true")
    return one(name, means(yes), refused(no, why=why, remedy=remedy))


def tuning(*names: str) -> HudiOption:
    """Options that change how Hudi works or how its files are cut, and no row."""
    return HudiOption(names, (ignored(ANY),))


def no_service(name: str, instead: str) -> HudiOption:
    return one(name, means("false"), ignored(ANY, notice=instead))


SIMPLE: Final = ("simplekeygenerator", "simpleavrokeygenerator", "simple", "simple_avro")
COMPLEX: Final = ("complexkeygenerator", "complexavrokeygenerator", "complex", "complex_avro")
NON_PARTITIONED: Final = (
    "nonpartitionedkeygenerator",
    "nonpartitionedavrokeygenerator",
    "non_partition",
    "non_partition_avro",
)
_TIMESTAMP: Final = ("timestampbasedkeygenerator", "timestampbasedavrokeygenerator", "timestamp", "timestamp_avro")
_FORMATS: Final = "it would format a time as the partition's name, and nbcc takes the partition column as it is"
_COLUMN: Final = "add the formatted value to the DataFrame as a column, and partition by it"
KEY_GENERATOR: Final = HudiOption(
    (
        "hoodie.datasource.write.keygenerator.class",
        "hoodie.datasource.write.keygenerator.type",
        "hoodie.table.keygenerator.class",
        "hoodie.table.keygenerator.type",
    ),
    (
        means(*SIMPLE, *COMPLEX, *NON_PARTITIONED),
        refused(*_TIMESTAMP, why=_FORMATS, remedy=_COLUMN),
        refused(
            "globaldeletekeygenerator", "globalavrodeletekeygenerator", "global_delete", "global_delete_avro",
            why="it would delete a key in all partitions", remedy="give the partition column of each key",
        ),
        refused(ANY, why="it may compute keys or partitions that are not the columns' values", remedy=_COLUMN),
    ),
)  # fmt: skip

_GLOBAL: Final = ("global_bloom", "global_simple", "record_index", "global_record_level_index", "hbase", "flink_state")
_BUCKETS: Final = "rows are found by a bucket index, in the same partitions"
INDEX: Final = one(
    "hoodie.index.type", means("bucket"),
    ignored("simple", "bloom", "inmemory", "record_level_index", *_GLOBAL, notice=_BUCKETS),
)  # fmt: skip
"""A global index is refused in a partitioned table, by `check_meaning`."""

MERGE_MODES: Final[Mapping[str, str]] = {
    **{name.lower(): mode for name, mode in (*PAYLOADS.items(), *STRATEGIES.items())},
    "defaultsparkrecordmerger": "EVENT_TIME_ORDERING",
    "overwritewithlatestsparkrecordmerger": "COMMIT_TIME_ORDERING",
    "overwritewithlatestmerger": "COMMIT_TIME_ORDERING",
}
"""A payload, a merger or a merge strategy -> the merge mode that it is."""

_EMPTY: Final = refused(
    "emptyhoodierecordpayload", why="it would delete all rows of the batch",
    remedy="set hoodie.datasource.write.operation=delete, or set _hoodie_is_deleted in the rows",
)  # fmt: skip
_PARTIAL: Final = refused(
    "partialupdateavropayload", "overwritenondefaultswithlatestavropayload",
    why="it would keep columns that the new row leaves null",
    remedy="use a table with nbcc.partial.update.mode=SET_COLUMNS and Table.upsert(columns=[...])",
)  # fmt: skip
_OWN_FUNCTION: Final = refused(
    ANY, why="it may make a row that is in none of the writes",
    remedy="use a table with nbcc.merge.function, or one of nbcc's merge modes",
)  # fmt: skip
_AVRO_MERGER: Final = "hoodieavrorecordmerger"  # merges as the payload class says
MERGED_BY: Final = HudiOption(
    (
        "hoodie.datasource.write.payload.class",
        "hoodie.compaction.payload.class",
        "hoodie.datasource.write.record.merger.impls",
        "hoodie.write.record.merge.custom.implementation.classes",
        "hoodie.record.merge.strategy.id",
        "hoodie.write.record.merge.strategy.id",
    ),
    (means(*MERGE_MODES, _AVRO_MERGER), _EMPTY, _PARTIAL, _OWN_FUNCTION),
)

HASH_FIELD: Final = one("hoodie.bucket.index.hash.field", means(ANY))
"""Refused by `check_meaning` unless it names the record key."""

BY_MEANING: Final = (KEY_GENERATOR, INDEX, HASH_FIELD)
"""Options whose values depend on the table: `check_meaning` compares them with it."""

OTHERS: Final = (
    one("hoodie.metadata.enable", means("false"),
        ignored("true", notice="nbcc writes no metadata table, and readers list the files")),
    HudiOption(
        ("hoodie.datasource.hive_sync.enable", "hoodie.datasource.meta.sync.enable", "hoodie.meta.sync.enable"),
        (means("false"), ignored(ANY, notice="no metastore is updated")),
    ),
    one("hoodie.index.bucket.engine", means("simple"),
        ignored("consistent_hashing", notice="Table.resize changes the number of buckets")),
    HudiOption(
        ("hoodie.datasource.write.reconcile.schema", "hoodie.write.set.null.for.missing.columns"),
        (means("true", "false"),),
    ),
    one("hoodie.combine.before.upsert", means("true"),
        ignored("false", notice="several rows of a key in one batch are combined in any case")),
    one("hoodie.schema.on.read.enable", means("false"),
        ignored("true", notice="columns change by Table.alter_schema and by mergeSchema")),
    HudiOption(
        ("hoodie.clean.failed.writes.policy", "hoodie.cleaner.policy.failed.writes"),
        (means("lazy"), ignored(ANY, notice="a failed write is undone once its heartbeat has expired")),
    ),
    HudiOption(("hoodie.table.cdc.enabled", "hoodie.table.cdc.supplemental.logging.mode"), (means(ANY),)),
    one("hoodie.table.base.file.format", means("parquet"), refused(ANY, why="nbcc writes base files as Parquet")),
    one("hoodie.datasource.merge.type", means("payload_combine"),
        refused(ANY, why="rows of logs would be returned unmerged, with the older ones")),
    one("hoodie.datasource.read.file.index.listing.mode", means("eager", "lazy")),
    flag("hoodie.populate.meta.fields", True, "rows are found and merged by Hudi's meta columns"),
    flag(
        "hoodie.datasource.write.partitionpath.urlencode", False,
        "a partition's folder has the value as its name, and values that would need an encoding are refused",
    ),
    flag("hoodie.datasource.write.drop.partition.columns", False, "the partition column would be missing in the files"),
    flag(
        "hoodie.datasource.write.insert.drop.duplicates", False,
        "rows whose key exists would be dropped, and a write that waits for no other cannot know them",
        "upsert: of two rows of a key the one with the greater rank stays",
    ),
    flag(
        "hoodie.datasource.read.incr.fallback.fulltablescan.enable", False,
        "a window whose files are cleaned would be answered by other rows",
    ),
    HudiOption(
        ("hoodie.datasource.insert.dup.policy", "hoodie.datasource.write.insert.dup.policy"),
        (
            means("none"),
            refused(ANY, why="a write that waits for no other cannot know whether a key exists", remedy="upsert"),
        ),
    ),
    HudiOption(
        ("hoodie.table.partial.update.mode", "hoodie.write.partial.update.mode"),
        (refused(ANY, why="nbcc updates named columns", remedy="create the table with nbcc.partial.update.mode"),),
    ),
    HudiOption(
        ("hoodie.payload.delete.field", "hoodie.payload.delete.marker"),
        (refused(ANY, why="only _hoodie_is_deleted marks a delete", remedy="add that column"),),
    ),
    one("hoodie.bucket.index.partition.expressions",
        refused(ANY, why="all partitions have the same number of buckets")),
    no_service("hoodie.clustering.inline", "no writer clusters: run Table.cluster"),
    no_service("hoodie.clustering.async.enabled", "no writer clusters: run Table.cluster"),
    no_service("hoodie.clustering.schedule.inline", "no writer clusters: run Table.cluster"),
    no_service("hoodie.clean.async.enabled", "use hoodie.clean.automatic, or run `nbcc serve`"),
    no_service("hoodie.clean.async", "use hoodie.clean.automatic, or run `nbcc serve`"),
    no_service("hoodie.archive.async", "use hoodie.archive.automatic, or run `nbcc serve`"),
    no_service("hoodie.datasource.compaction.async.enable", "use hoodie.compact.inline, or run `nbcc serve`"),
    tuning(
        "hoodie.parquet.", "hoodie.copyonwrite.", "hoodie.logfile.", "hoodie.insert.", "hoodie.upsert.",
        "hoodie.delete.", "hoodie.bulkinsert.", "hoodie.bloom.", "hoodie.simple.", "hoodie.record.index.",
        "hoodie.metadata.", "hoodie.clustering.", "hoodie.rollback.", "hoodie.memory.", "hoodie.embed.",
        "hoodie.filesystem.", "hoodie.markers.", "hoodie.metrics.", "hoodie.datasource.hive_sync.",
        "hoodie.datasource.meta.sync.", "hoodie.meta.sync.", "hoodie.datasource.write.streaming.", "hoodie.write.lock.",
    ),
    tuning(
        "hoodie.insert.shuffle.parallelism", "hoodie.bulkinsert.shuffle.parallelism",
        "hoodie.delete.shuffle.parallelism", "hoodie.datasource.write.table.name",
        "hoodie.datasource.write.row.writer.enable", "hoodie.combine.before.insert", "hoodie.combine.before.delete",
        "hoodie.enable.data.skipping", "hoodie.database.name", "hoodie.write.auto.upgrade",
        "hoodie.write.complex.keygen.new.encoding", "hoodie.write.num.retries.on.conflict.failures",
    ),
)  # fmt: skip
TABLES: Final = (KEY_GENERATOR, MERGED_BY, INDEX, HASH_FIELD, *OTHERS)

_EXACT: Final = {name: option for option in TABLES for name in option.names if not name.endswith(".")}
NAMES: Final = tuple(_EXACT)
_PREFIXES: Final = {name: option for option in TABLES for name in option.names if name.endswith(".")}


def option_of(name: str) -> HudiOption | None:
    """Return the table's entry for an option of Hudi (its name in lower case), or None if nbcc does not know it."""
    if name in _EXACT:
        return _EXACT[name]
    return next((option for prefix, option in _PREFIXES.items() if name.startswith(prefix)), None)


def is_known(name: str) -> bool:
    """Return True if the table has the option itself, and not only a prefix of it."""
    return name in _EXACT


def notice_of(name: str, value: str) -> str:
    """Return what a user should know about an option that nbcc does not use; '' if nothing. Raises `Unsupported` if
    nbcc does not do what the value says.
    """
    option = option_of(name.lower())
    if option is None:
        return f"{name} (unknown to nbcc)"
    rule = option.rule(value)
    if rule.refuses:
        raise Unsupported(f"set {name}={value}", rule.why, rule.remedy)
    return f"{name}={value} ({rule.notice})" if rule.notice not in ("", "tuning") else ""


def merge_mode_of(name: str, value: str) -> str | None:
    """Return the merge mode that a payload class, a merger or a merge strategy is; None for one that names none."""
    return MERGE_MODES.get(plain(value)) if name in MERGED_BY.names else None


def check_meaning(given: Mapping[str, str], config: TableConfig) -> None:
    """Raise an error for an option in `given` whose value does not fit the table: a key generator for other numbers of
    columns, a global index in a partitioned table, a hash of other columns than the record key, or another lock.
    """
    for name, value in given.items():
        wrong = _wrong(name, plain(value), value, config)
        if wrong is not None:
            raise wrong


def _wrong(name: str, short: str, value: str, config: TableConfig) -> NbccError | None:
    asked = f"write with {name}={value}"
    keys, parts = len(config.record_key), len(config.partition_by)
    there = f"the table has {keys} key and {parts} partition column{'' if parts == 1 else 's'}"
    if name in KEY_GENERATOR.names:
        if short in SIMPLE and (keys > 1 or parts > 1):
            return BadInput(asked, f"that is for one of each, and {there}", "use ComplexKeyGenerator, or leave it out")
        if short in NON_PARTITIONED and parts:
            return BadInput(asked, there, "leave the key generator or the partition column out")
    indexed = config.record_index is not None and config.record_index.in_table
    if name in INDEX.names and short in _GLOBAL and parts and not indexed:
        exists = "a global index keeps one row of a key in the whole table, and nbcc keeps one in each partition"
        return Unsupported(asked, exists, "make a record index of the table (Table.index), or leave it out")
    if name in HASH_FIELD.names and [field.strip() for field in value.split(",")] != [*config.record_key]:
        return Unsupported(asked, "the bucket of a row is computed from its whole record key", "leave it out")
    if name == PROVIDER and value.rpartition(".")[2] != config.coordination.lock:
        lock = config.coordination.lock or "the default lock of its store"
        return BadInput(
            asked,
            f"the writers of the table use {lock}, and two kinds of locks exclude nothing",
            "leave it out, or create the table with that lock",
        )
    return None
