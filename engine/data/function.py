"""Merges rows with a user-defined merge function, which reduces all records of a key since its last delete to one row.

Records that precede a delete of their key in merge order are ignored. The merge function must be commutative,
associative and idempotent (see `function_laws`). The arguments of the merge function are the older row and the newer
row, as dicts without the key and partition columns. The merge function returns a dict with all columns except the key
and partition columns. The merge function is not called for a key with a single record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, reduce
from importlib import import_module
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from ..errors import BadInput
from .codes import Numbers, key_codes
from .columns import META, RECORD_KEY, one_array
from .layers import Layer, Merged, MergeRule

MergeFunction = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]


@cache
def function_of(name: str) -> MergeFunction:
    """Import the function with the name ``package.module:function``. Raises `BadInput` if the function does not exist.
    """
    module, _, attribute = name.partition(":")
    asked = f"merge rows by {name!r}"
    try:
        function: MergeFunction = getattr(import_module(module), attribute)
    except (ImportError, ValueError, AttributeError) as failed:
        raise BadInput(asked, str(failed), "name a function that can be imported, as package.module:function") from None
    if not callable(function):
        raise BadInput(asked, f"that is a {type(function).__name__}", "name a function")
    return function


def merge_by_function(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """Merge the rows that come after the last delete of their key in merge order. The result also contains the last
    delete of each deleted key.
    """
    rows = pa.concat_tables([layer.rows for layer in layers]).unify_dictionaries()
    deletes = pa.concat_tables([layer.deletes for layer in layers]).unify_dictionaries()
    parts = [part for layer in layers for part in (layer.rows, layer.deletes)]
    keys = one_array(pa.chunked_array([chunk for part in parts for chunk in part[RECORD_KEY].chunks], pa.string()))
    codes, distinct = key_codes(keys)
    deleted = np.repeat(np.tile([False, True], len(layers)), [len(part) for part in parts])
    last_delete = _last(codes, np.flatnonzero(deleted), distinct)
    alive = np.flatnonzero(~deleted & (np.arange(len(codes)) > last_delete[codes]))
    of_rows, of_deletes = np.cumsum(~deleted) - 1, np.cumsum(deleted) - 1
    merged = _folded(rows, codes[alive], of_rows[alive], rule)
    return Merged(merged, deletes.take(pa.array(of_deletes[last_delete[last_delete >= 0]])))


def _last(codes: Numbers, among: Numbers, distinct: int) -> Numbers:
    last = np.full(distinct, -1, np.int64)
    last[codes[among]] = among  # assignment in rising order: the last of several records of a key stays
    return last


def _folded(rows: pa.Table, codes: Numbers, places: Numbers, rule: MergeRule) -> pa.Table:
    """Return the merged row of each key."""
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sizes = np.diff(starts, append=len(codes))
    newest = rows.take(pa.array(places[order][starts + sizes - 1]))
    names = [name for name in rows.column_names if name not in {*META, *rule.always}]
    several = np.repeat(sizes > 1, sizes)
    if not several.any():
        return newest
    contested = rows.select(names).take(pa.array(places[order][several])).to_pylist()
    records = zip(codes[order][several].tolist(), contested, strict=True)
    made = [_reduced([row for _, row in group], rule) for _, group in groupby(records, key=lambda record: record[0])]
    values = pa.Table.from_pylist(made, pa.schema([rows.schema.field(name) for name in names]))
    take = np.arange(len(newest))
    take[sizes > 1] = len(newest) + np.arange(len(made))
    for name in names:
        field, place = newest.schema.field(name), newest.column_names.index(name)
        both = pa.chunked_array([*newest[name].chunks, *values[name].chunks], field.type)
        newest = newest.set_column(place, field, both.take(pa.array(take)))
    return newest


def _reduced(rows: list[dict[str, Any]], rule: MergeRule) -> dict[str, Any]:
    made = reduce(function_of(rule.function), rows)
    if made.keys() != rows[0].keys():
        raise BadInput(f"merge rows by {rule.function!r}", f"it returned {made!r}", f"return {', '.join(rows[0])}")
    return made
