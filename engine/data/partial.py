"""Partial updates: each record sets some columns, and each column is that of the highest record that set it.

A row exists if and only if a record outranks the greatest delete of its key. Each column has the value of the record of
highest rank above that delete that set it (docs/contract.md, SNAP). A merged row does not contain enough to merge
further: by event time a column may have an older ordering value than the row, and a late record may set a column that
no record has set. So a service keeps the records that *contribute*, each with the columns taken from it, and the
greatest delete. Hudi's readers read them as partial blocks, which agree with the base file, and as deletes, which lose
against it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from .codes import Mask, Numbers, key_codes, order_numbers
from .columns import META, RECORD_KEY, conform, one_array
from .layers import Layer, Merged, MergeRule

_Says = Callable[[Layer], bool]
_NAMES: Final = pa.list_(pa.string())


class Kept(NamedTuple):
    """Records of one layer that later merges need: `rows`, which set the columns `sets` (None: all), or `deletes`."""

    rows: pa.Table
    deletes: pa.Table
    sets: frozenset[str] | None


class _Election(NamedTuple):
    """Numbers of records, -1 for none. By key: the highest record of the row, the greatest delete, the last fence (a
    delete that beats every record before it), and for each column the record from which it is taken."""

    top: Numbers
    delete: Numbers
    fence: Numbers
    columns: dict[str, Numbers]
    codes: Numbers
    ordering: Numbers


def merge_columns(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """The merged row of each key that has one, and the greatest delete of each key that has one.

    `layers` as for `merge`; the records that a base file kept replace its merged rows.
    """
    found = _elect(layers, rule)
    rows = pa.concat_tables([layer.rows for layer in layers]).unify_dictionaries()
    deletes = pa.concat_tables([layer.deletes for layer in layers]).unify_dictionaries()
    of_rows, of_deletes = _places(layers)
    there = np.flatnonzero(found.top >= 0)
    taken_from = {name: found.columns.get(name, found.top)[there] for name in rows.column_names}
    merged = {name: _taken(rows[name], of_rows, records) for name, records in taken_from.items()}
    lost = np.where(found.delete >= 0, found.delete, found.fence)
    kept = deletes.take(pa.array(of_deletes[lost[lost >= 0]]))
    return Merged(pa.table(merged, schema=rows.schema), kept)


def in_window(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """The records that contribute, as the rows of a window: each sets what is taken from it, and nothing else."""
    found, names = contributing(layers, rule), _data_columns(layers, rule)
    deletes = pa.concat_tables([layers[0].deletes.slice(0, 0), *(kept.deletes for kept in found if len(kept.deletes))])
    rows, sets = [layers[0].rows.slice(0, 0)], list[list[str]]()
    for kept in found:
        mine = [name for name in names if kept.sets is None or name in kept.sets]
        rows.append(conform(kept.rows.drop_columns([name for name in names if name not in mine]), kept.rows.schema))
        sets += [mine] * len(kept.rows)
    return Merged(pa.concat_tables(rows), deletes, pa.array(sets, _NAMES))


def contributing(layers: Sequence[Layer], rule: MergeRule) -> list[Kept]:
    """The records of each layer, in order, that a log which replaces all layers must keep: no others change a merge."""
    return _kept(layers, _elect(layers, rule), split_only=False)


def split(layers: Sequence[Layer], rule: MergeRule) -> list[Kept]:
    """The same of keys whose row does not say all in a base file: whose columns are not all of the row's own ordering
    value. Without their deletes, which are tombstones as in any table. By commit time there is none."""
    if rule.ranked_by is None:
        return []
    return _kept(layers, _elect(layers, rule), split_only=True)


def _elect(layers: Sequence[Layer], rule: MergeRule) -> _Election:
    parts = [part for layer in layers for part in (layer.rows, layer.deletes)]
    keys = one_array(pa.chunked_array([chunk for part in parts for chunk in part[RECORD_KEY].chunks], pa.string()))
    codes, distinct = key_codes(keys)
    codes = codes.astype(np.int64)
    ordering = np.zeros(len(codes), np.int64)
    fences = np.zeros(len(codes), np.bool_)
    deleted = _flags(layers, lambda layer: False, lambda layer: True)
    if rule.ranked_by is not None:
        ordering = order_numbers([part[rule.ranked_by] for part in parts])
        nulls = [part[rule.ranked_by].is_null().to_numpy() for part in parts]
        fences = deleted & np.concatenate(nulls)
    numbers = np.arange(len(codes))
    by_rank = np.lexsort((numbers, ordering, codes))
    rank = np.empty(len(codes), np.int64)
    rank[by_rank] = numbers

    def highest(among: Numbers) -> Numbers:
        best = np.full(distinct, -1, np.int64)
        np.maximum.at(best, codes[among], rank[among])
        return np.where(best >= 0, by_rank[best], -1)

    fence = np.full(distinct, -1, np.int64)
    np.maximum.at(fence, codes[fences], numbers[fences])
    stands = (numbers > fence[codes]) & ~_superseded_rows(layers, codes, distinct)
    delete = highest(np.flatnonzero(stands & deleted))
    above = np.where(delete >= 0, rank[delete], -1)
    alive = np.flatnonzero(stands & ~deleted & (rank > above[codes]))
    of_layer = np.repeat(np.arange(len(layers)), [len(layer.rows) + len(layer.deletes) for layer in layers])
    columns = {}
    for name in _data_columns(layers, rule):
        sets = np.array([layer.sets is None or name in layer.sets for layer in layers], np.bool_)
        columns[name] = highest(alive[sets[of_layer[alive]]])
    return _Election(highest(alive), delete, fence, columns, codes, ordering)


def _superseded_rows(layers: Sequence[Layer], codes: Numbers, distinct: int) -> Mask:
    """Rows of a base file whose original records were kept next to it."""
    base = _flags(layers, lambda layer: layer.base and not layer.kept, lambda layer: False)
    kept = _flags(layers, lambda layer: layer.base and layer.kept, lambda layer: False)
    again = np.zeros(distinct, np.bool_)
    again[codes[kept]] = True
    return base & again[codes]


def _flags(layers: Sequence[Layer], rows: _Says, deletes: _Says) -> Mask:
    parts = [
        np.full(len(part), says(layer), np.bool_)
        for layer in layers
        for part, says in ((layer.rows, rows), (layer.deletes, deletes))
    ]
    return np.concatenate(parts)


def _data_columns(layers: Sequence[Layer], rule: MergeRule) -> list[str]:
    """The columns that a record may leave unset: not Hudi's, nor those that every record has."""
    always = {*META, *rule.always}
    return [name for name in layers[0].rows.column_names if name not in always]


def _places(layers: Sequence[Layer]) -> tuple[Numbers, Numbers]:
    """For each record its place among all rows, and among all deletes."""
    deleted = _flags(layers, lambda layer: False, lambda layer: True)
    return np.cumsum(~deleted) - 1, np.cumsum(deleted) - 1


def _taken(column: pa.ChunkedArray, places: Numbers, records: Numbers) -> pa.Array:
    found = pa.array(places[records], mask=records < 0)
    return one_array(column).take(found)


def _kept(layers: Sequence[Layer], found: _Election, split_only: bool) -> list[Kept]:
    """Each record with only the columns that are taken from it. No two records of a key set the same column, so that
    any
    order of merging returns the row. Rows of a layer that keep the same columns are in one table."""
    sets = np.zeros((len(found.codes), len(found.columns)), np.bool_)
    for place, best in enumerate(found.columns.values()):
        sets[best[best >= 0], place] = True
    wanted = np.zeros(len(found.codes), np.bool_)
    wanted[np.flatnonzero(sets.any(axis=1))] = True
    wanted[found.top[found.top >= 0]] = True
    if split_only:
        # A tombstone ranks after the base file: where it ties with the row, the row must come again behind it.
        agrees = (found.delete < 0) | (found.ordering[found.delete] != found.ordering[found.top])
        for best in found.columns.values():
            agrees &= (best >= 0) & (found.ordering[best] == found.ordering[found.top])
        wanted &= ~agrees[found.codes]
    else:
        for best in (found.delete, found.fence):
            wanted[best[best >= 0]] = True
    kept, first = list[Kept](), 0
    for layer in layers:
        middle, last = first + len(layer.rows), first + len(layer.rows) + len(layer.deletes)
        kept += _by_columns(layer.rows, wanted[first:middle], sets[first:middle], list(found.columns))
        deletes = layer.deletes.filter(pa.array(wanted[middle:last]))
        if len(deletes):
            kept.append(Kept(layer.rows.slice(0, 0), deletes, None))
        first = last
    return kept


def _by_columns(rows: pa.Table, wanted: Mask, sets: Mask, names: list[str]) -> Iterator[Kept]:
    of_rows = np.flatnonzero(wanted)
    patterns, which = np.unique(sets[of_rows], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        here = rows.take(pa.array(of_rows[which.reshape(-1) == number]))
        of_these = frozenset(name for name, is_set in zip(names, pattern, strict=True) if is_set)
        yield Kept(here, here.slice(0, 0), None if pattern.all() else of_these)
