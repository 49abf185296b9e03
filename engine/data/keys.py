"""Formats and parses columns of record keys and partition paths in Hudi's format (docs/hudi-format.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from .columns import PARTITION_PATH, RECORD_KEY, one_array

DEFAULT_PARTITION: Final = "__HIVE_DEFAULT_PARTITION__"
"""The path of a null partition value."""

NULL_KEY: Final = "__null__"
EMPTY_KEY: Final = "__empty__"


@dataclass(frozen=True, slots=True)
class KeySpec:
    """The key and partition columns of a table, and the format of its partition paths."""

    record_key: tuple[str, ...]
    partition_by: tuple[str, ...] = ()
    hive_style: bool = False

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.record_key, *self.partition_by)

    @property
    def named(self) -> bool:
        """True if record keys have the form ``field:value,…``, as in tables with several key or partition columns."""
        return len(self.record_key) > 1 or len(self.partition_by) > 1


def is_key_type(kind: pa.DataType) -> bool:
    """Return True if all Hudi readers format values of the type `kind` identically in record keys."""
    return bool(pa.types.is_string(kind) or pa.types.is_int32(kind) or pa.types.is_int64(kind))


def is_partition_type(kind: pa.DataType) -> bool:
    """Return True if all Hudi readers format values of the type `kind` identically in partition paths."""
    return is_key_type(kind) or bool(pa.types.is_date32(kind))


def record_keys(rows: pa.Table, spec: KeySpec) -> pa.Array:
    """Return the record key of each row: the value itself, or ``f1:v1,f2:v2`` for a key with named fields. Key columns
    must not contain nulls (see the module `check`).
    """
    texts = [_text(rows, name) for name in spec.record_key]
    if not spec.named:
        return texts[0]
    spelled = [
        pc.binary_join_element_wise(f"{name}:", _visible(text), "")
        for name, text in zip(spec.record_key, texts, strict=True)
    ]
    return spelled[0] if len(spelled) == 1 else pc.binary_join_element_wise(*spelled, ",")


def hashed_values(rows: pa.Table, spec: KeySpec) -> list[pa.Array]:
    """Return the columns of strings that are hashed to compute each row's bucket. If a single key column is formatted
    as ``field:value``, the hashed string includes the column name.
    """
    if spec.named and len(spec.record_key) == 1:
        return [record_keys(rows, spec)]
    return [_text(rows, name) for name in spec.record_key]


def hashed_of_keys(keys: pa.Array, spec: KeySpec) -> list[pa.Array]:
    """Return the columns of strings that `hashed_values` returns for rows with the given record keys."""
    return [keys] if len(spec.record_key) == 1 else _values_in(keys, spec)


def partition_paths(rows: pa.Table, spec: KeySpec) -> pa.Array:
    """Return the partition path of each row; the path is '' in an unpartitioned table."""
    if not spec.partition_by:
        return pa.repeat("", len(rows))
    levels = []
    for name in spec.partition_by:
        level = pc.fill_null(_text(rows, name), DEFAULT_PARTITION)
        level = pc.if_else(pc.equal(level, ""), DEFAULT_PARTITION, level)
        levels.append(pc.binary_join_element_wise(f"{name}=", level, "") if spec.hive_style else level)
    return levels[0] if len(levels) == 1 else pc.binary_join_element_wise(*levels, "/")


def key_columns(deletes: pa.Table, spec: KeySpec, schema: pa.Schema) -> dict[str, pa.Array]:
    """Return the key and partition columns of deletes, parsed from the columns `RECORD_KEY` and `PARTITION_PATH`.

    Record keys can be parsed unambiguously, because the module `check` rejects separators in key values.
    """
    texts = dict(zip(spec.record_key, _values_in(one_array(deletes[RECORD_KEY]), spec), strict=True))
    if spec.partition_by:
        texts |= partition_values(one_array(deletes[PARTITION_PATH]), spec)
    return {name: text.cast(schema.field(name).type) for name, text in texts.items()}


def _values_in(keys: pa.Array, spec: KeySpec) -> list[pa.Array]:
    """Return the values of the key columns in the given record keys, as strings."""
    parts = pc.split_pattern(keys, ",") if len(spec.record_key) > 1 else None
    texts = []
    for place, name in enumerate(spec.record_key):
        text = keys if parts is None else pc.list_element(parts, place)
        texts.append(_value(pc.utf8_slice_codeunits(text, len(name) + 1)) if spec.named else text)
    return texts


def partition_values(paths: pa.Array, spec: KeySpec) -> dict[str, pa.Array]:
    """Return the values of the partition columns in the given partition paths, as strings."""
    levels = pc.split_pattern(paths, "/") if len(spec.partition_by) > 1 else None
    values = {}
    for place, name in enumerate(spec.partition_by):
        level = paths if levels is None else pc.list_element(levels, place)
        value = pc.utf8_slice_codeunits(level, len(name) + 1) if spec.hive_style else level
        values[name] = pc.if_else(pc.equal(value, DEFAULT_PARTITION), pa.scalar(None, pa.string()), value)
    return values


def _text(rows: pa.Table, name: str) -> pa.Array:
    return one_array(rows[name]).cast(pa.string())  # integers in decimal, dates as 2026-11-21


def _visible(text: pa.Array) -> pa.Array:
    text = pc.fill_null(text, NULL_KEY)
    return pc.if_else(pc.equal(text, ""), EMPTY_KEY, text)


def _value(visible: pa.Array) -> pa.Array:
    text = pc.if_else(pc.equal(visible, EMPTY_KEY), "", visible)
    return pc.if_else(pc.equal(visible, NULL_KEY), pa.scalar(None, pa.string()), text)
