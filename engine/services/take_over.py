"""Prepares a Hudi table for writes by nbcc: removes Hudi's metadata table, and records nbcc's table properties.

Hudi's readers list files from the metadata table, so they would not see commits by nbcc. Hudi rebuilds the metadata
table when it next writes to the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ..config import TableConfig
from ..config.concurrency import SINGLE_WRITER
from ..config.opening import BUCKETS, OpenOptions
from ..config.properties import encode_properties
from ..config.table_config import FOUND_FILE_IDS, WRITER_FEATURES
from ..config.table_properties import to_properties
from ..context import Context
from ..data.bucket import buckets_of
from ..data.columns import PARTITION_PATH, RECORD_KEY, one_array
from ..data.jobs import run_read
from ..data.keys import hashed_values, is_key_type, is_partition_type, partition_paths, record_keys
from ..data.layers import is_ordering_type
from ..data.shape import table_shape
from ..definition import load as definition
from ..errors import BadInput, Unsupported
from ..file_names import in_partition
from ..files.metadata_table import FOLDER
from ..files.slices import FileSlice, all_slices, load_slices, to_read
from ..lock import held
from ..names import bucket_of
from ..reads.tasks import read_task
from ..rules import NBCC
from ..writes.claims import advance_clock, refuse_torn
from ..writes.file_ids import file_ids_by_bucket

METADATA: Final = ("hoodie.table.metadata.partitions", "hoodie.table.metadata.partitions.inflight")

_SAMPLE: Final = 8
_KEYS: Final = 30
"""The least number of file groups, and of keys, that are compared with the number of buckets, if there are so many."""

_ZONE: Final = "hoodie.table.timeline.timezone"


def is_taken_over(values: Mapping[str, str]) -> bool:
    """Return whether nbcc may write the table: it has nbcc's properties, and no active metadata table."""
    return "nbcc.format" in values and not any(values.get(name) for name in METADATA)


def taken_config(context: Context, config: TableConfig, options: OpenOptions) -> TableConfig:
    """Return the config that a Hudi table would have after `take_over`. Raises `Unsupported` if nbcc cannot write the
    table, and `BadInput` if the number of buckets is unknown or wrong.
    """
    _check_columns(config)
    active = context.active()
    whole = context.history(active).whole
    slices = to_read(load_slices(context.storage, whole, context.commits, context.rules), context.rules)
    taken = replace(
        config,
        own=True,
        metadata_table=(),
        writer_features=WRITER_FEATURES | {FOUND_FILE_IDS},
        coordination=options.coordination,
    )
    used = {bucket for _, bucket in file_ids_by_bucket(context, taken, active)}
    # The greatest bucket that is used: too small a guess is found by the sample below.
    buckets = options.buckets or max(used, default=-1) + 1
    if not buckets:
        raise _unknown_buckets(config.name, "it has no files that show its buckets")
    taken = replace(taken, buckets=buckets)
    _check_sample(context, taken, slices, given=options.buckets is not None)
    ours = replace(context, rules=NBCC)
    listed = to_read(all_slices(context.storage, ours.history(active).whole, ours.commits, NBCC), NBCC)
    if _paths(listed) != _paths(slices):
        raise Unsupported(
            f"write to the table {config.name}",
            "its commits do not list the files in its folders",
            "copy it (nbcc table PATH copy DEST, or Table.copy)",
        )
    return taken


def take_over(context: Context, config: TableConfig) -> None:
    """Remove Hudi's metadata table as Hudi would, and record the properties of `config` in the table.

    The table properties that enable the metadata table are removed before its folder is deleted, so that Hudi's readers
    list folders instead. A metadata folder that remains after a crash is harmless, because Hudi replaces the folder
    when it rebuilds the metadata table.
    """
    with held(context.lock):
        values = definition.load_properties(context.storage)
        changed = {name: text for name, text in values.items() if name not in METADATA}
        # An interrupted take-over may have written the properties already, and then only the folder is left to delete.
        if "nbcc.format" not in values:
            active = context.active()
            refuse_torn(active)
            advance_clock(context, active)
            changed |= _own_properties(config)
        if changed != values:
            context.storage.put(definition.PROPERTIES, encode_properties(changed))
        context.storage.delete_all([entry.path for entry in context.storage.list(FOLDER)])


def _own_properties(config: TableConfig) -> dict[str, str]:
    """Return the table properties that nbcc adds or changes when it takes over a Hudi table."""
    # Hudi's writers take these properties for their own options: another mode than the default needs a lock provider.
    ours = to_properties(replace(config, concurrency_mode=SINGLE_WRITER))
    extra = {name: text for name, text in ours.items() if name.startswith("nbcc.")}
    kept = ("hoodie.write.", "hoodie.time.generator.", "hoodie.logfile.data.block.format", _ZONE)
    extra |= {name: text for name, text in ours.items() if name.startswith(kept)}
    extra["nbcc.writer.features"] = ",".join(sorted(config.writer_features | config.coordination.features))
    return extra | {name: ours[name] for name in ("hoodie.table.create.schema", "hoodie.record.merge.mode")}


def _check_columns(config: TableConfig) -> None:
    """Raise `Unsupported` if Hudi's readers and nbcc format or order the values of a key, partition or ordering column
    differently.
    """
    if not config.record_key:
        raise Unsupported(f"write to the table {config.name}", "it has no record key", "give it one with Hudi")
    of = config.schema.field
    fits = {name: is_key_type(of(name).type) for name in config.record_key}
    fits |= {name: is_partition_type(of(name).type) for name in config.partition_by}
    fits |= {config.ordering: is_ordering_type(of(config.ordering).type)} if config.ordering else {}
    if unfit := next((name for name, fit in fits.items() if not fit), None):
        raise Unsupported(
            f"write to the table {config.name}",
            f"its column {unfit} is {of(unfit).type}, which readers of Hudi format or order differently",
            "write it with Hudi",
        )
    _ = config.avro_schema  # refuses types that not every reader understands


def _check_sample(context: Context, config: TableConfig, slices: tuple[FileSlice, ...], *, given: bool) -> None:
    """Compare the stored keys, partition paths and buckets of sampled rows with the values that nbcc computes. Raises
    `BadInput` if the number of buckets is wrong or uncertain. Raises `Unsupported` if stored keys or partition paths
    differ from the ones that nbcc would compute.

    `given` is False if the number of buckets was derived from the file ids. If the derived number of buckets is too
    small, many sampled keys are not in the bucket that nbcc computes for them.
    """
    shape, keys = table_shape(config, context.rules), set[str]()
    for number, piece in enumerate(_sample(slices)):
        if number >= _SAMPLE and len(keys) >= _KEYS:
            break
        rows = run_read(context.storage, read_task(piece, config, context.rules))
        where = in_partition(piece.partition, piece.file_id)
        for what, computed, column in (
            ("record keys", record_keys(rows, shape.keys), RECORD_KEY),
            ("partition paths", partition_paths(rows, shape.keys), PARTITION_PATH),
        ):
            if not computed.equals(one_array(rows[column])):
                exists = f"the file group {where} has other {what} than nbcc would write"
                raise Unsupported(f"write to the table {config.name}", exists, "write it with Hudi")
        if (buckets_of(hashed_values(rows, shape.keys), shape.buckets) != bucket_of(piece.file_id)).any():
            exists = f"the file group {where} has keys of other buckets"
            raise _unknown_buckets(f"{config.name} with {config.buckets} buckets", exists)
        keys |= set(one_array(rows[RECORD_KEY]).to_pylist())
    if not given and len(keys) < _KEYS:
        raise _unknown_buckets(config.name, f"its {len(keys)} keys are too few to show how many buckets it has")


def _unknown_buckets(table: str, exists: str) -> BadInput:
    return BadInput(f"write to the table {table}", exists, f"set {BUCKETS} to the number with which Hudi writes it")


def _sample(slices: tuple[FileSlice, ...]) -> list[FileSlice]:
    """Return the slices in the order in which they are sampled: the smallest slice of each bucket, then all other
    slices.
    """
    by_size = sorted(slices, key=lambda piece: sum(file.size for file in piece.files))
    first = {bucket_of(piece.file_id): piece for piece in reversed(by_size)}
    return [*first.values(), *(piece for piece in by_size if piece not in first.values())]


def _paths(slices: tuple[FileSlice, ...]) -> set[str]:
    return {path for piece in slices for path in piece.paths}
