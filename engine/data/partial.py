"""Merges partial updates: each record sets some columns, and each column is merged separately.

A row exists if and only if a record outranks every delete of the row's key. A column takes its value from the
highest-ranked record that sets the column and outranks every delete (docs/contract.md, SNAP). In an event-time table,
the columns of a merged row may come from records with different ordering values. A later merge compares the ordering
values of these records, so the merged row alone is not sufficient. A compaction or log compaction therefore stores the
highest-ranked delete and every record from which the merged row takes a value. Each stored record contains only the
columns that the merged row takes from it. After a compaction, Hudi reads the stored records as partial updates that
repeat values of the base file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from .codes import Mask, Numbers, key_codes, order_numbers
from .columns import META, RECORD_KEY, conform, one_array
from .layers import Layer, Merged, MergeRule

_Predicate = Callable[[Layer], bool]
_NAMES: Final = pa.list_(pa.string())


class Contribution(NamedTuple):
    """Records of one merge layer that must be stored for later merges, either in `rows` or in `deletes`. The rows
    contain only the columns `sets`; None means all columns.
    """

    rows: pa.Table
    deletes: pa.Table
    sets: frozenset[str] | None


class _Election(NamedTuple):
    """The result of merging each column separately: the indices of the winning records of each key (-1 means no
    record).

    `top` is the highest-ranked row that no delete removes. `last_unordered_delete` is the last delete without an
    ordering value; it removes all earlier records of the key. `delete` is the highest-ranked delete that follows it.
    `columns` contains, for each column, the record whose value wins. `codes` contains an integer that identifies each
    record's key, and `ordering` contains each record's ordering value.
    """

    top: Numbers
    delete: Numbers
    last_unordered_delete: Numbers
    columns: dict[str, Numbers]
    codes: Numbers
    ordering: Numbers


def merge_columns(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """Return the merged row of each key that has a row, and the highest-ranked delete of each key that has a delete.

    If a compaction has stored the source records of a merged row (see `split`), the row in the base file is ignored.
    """
    election = _elect(layers, rule)
    rows = pa.concat_tables([layer.rows for layer in layers]).unify_dictionaries()
    deletes = pa.concat_tables([layer.deletes for layer in layers]).unify_dictionaries()
    of_rows, of_deletes = _places(layers)
    there = np.flatnonzero(election.top >= 0)
    taken_from = {name: election.columns.get(name, election.top)[there] for name in rows.column_names}
    merged = {name: _taken(rows[name], of_rows, records) for name, records in taken_from.items()}
    lost = np.where(election.delete >= 0, election.delete, election.last_unordered_delete)
    kept = deletes.take(pa.array(of_deletes[lost[lost >= 0]]))
    return Merged(pa.table(merged, schema=rows.schema), kept)


def in_window(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """Return the result of an incremental query: the records that contribute column values to the merged rows. Each
    returned row contains only the column values that it contributes.
    """
    contributions, names = contributing(layers, rule), _data_columns(layers, rule)
    deleted = [each.deletes for each in contributions if len(each.deletes)]
    deletes = pa.concat_tables([layers[0].deletes.slice(0, 0), *deleted])
    rows, sets = [layers[0].rows.slice(0, 0)], list[list[str]]()
    for each in contributions:
        mine = [name for name in names if each.sets is None or name in each.sets]
        rows.append(conform(each.rows.drop_columns([name for name in names if name not in mine]), each.rows.schema))
        sets += [mine] * len(each.rows)
    return Merged(pa.concat_tables(rows), deletes, pa.array(sets, _NAMES))


def contributing(layers: Sequence[Layer], rule: MergeRule) -> list[Contribution]:
    """Return, in merge order, the highest-ranked deletes of each key and every row from which its merged row takes a
    value.
    """
    return _contributions(layers, _elect(layers, rule), split_only=False)


def split(layers: Sequence[Layer], rule: MergeRule) -> list[Contribution]:
    """Return the records that a compaction must store in addition to the merged rows in the base file.

    The records from which a row was merged are stored if their ordering values differ, or if a delete has the row's
    ordering value.
    """
    if rule.ranked_by is None:
        return []
    return _contributions(layers, _elect(layers, rule), split_only=True)


def _elect(layers: Sequence[Layer], rule: MergeRule) -> _Election:
    parts = [part for layer in layers for part in (layer.rows, layer.deletes)]
    keys = one_array(pa.chunked_array([chunk for part in parts for chunk in part[RECORD_KEY].chunks], pa.string()))
    codes, distinct = key_codes(keys)
    codes = codes.astype(np.int64)
    ordering = np.zeros(len(codes), np.int64)
    beats_earlier = np.zeros(len(codes), np.bool_)
    deleted = _flags(layers, lambda layer: False, lambda layer: True)
    if rule.ranked_by is not None:
        ordering = order_numbers([part[rule.ranked_by] for part in parts])
        nulls = [part[rule.ranked_by].is_null().to_numpy() for part in parts]
        beats_earlier = deleted & np.concatenate(nulls)
    numbers = np.arange(len(codes))
    by_rank = np.lexsort((numbers, ordering, codes))
    rank = np.empty(len(codes), np.int64)
    rank[by_rank] = numbers

    def highest(among: Numbers) -> Numbers:
        best = np.full(distinct, -1, np.int64)
        np.maximum.at(best, codes[among], rank[among])
        return np.where(best >= 0, by_rank[best], -1)

    last_unordered_delete = np.full(distinct, -1, np.int64)
    np.maximum.at(last_unordered_delete, codes[beats_earlier], numbers[beats_earlier])
    stands = (numbers > last_unordered_delete[codes]) & ~_superseded_rows(layers, codes, distinct)
    delete = highest(np.flatnonzero(stands & deleted))
    above = np.where(delete >= 0, rank[delete], -1)
    alive = np.flatnonzero(stands & ~deleted & (rank > above[codes]))
    of_layer = np.repeat(np.arange(len(layers)), [len(layer.rows) + len(layer.deletes) for layer in layers])
    columns = {}
    for name in _data_columns(layers, rule):
        sets = np.array([layer.sets is None or name in layer.sets for layer in layers], np.bool_)
        columns[name] = highest(alive[sets[of_layer[alive]]])
    return _Election(highest(alive), delete, last_unordered_delete, columns, codes, ordering)


def _superseded_rows(layers: Sequence[Layer], codes: Numbers, distinct: int) -> Mask:
    """Return a mask of the base file rows to ignore, because a compaction has also stored the records from which they
    were merged (see `split`).
    """
    base = _flags(layers, lambda layer: layer.base and not layer.kept, lambda layer: False)
    kept = _flags(layers, lambda layer: layer.base and layer.kept, lambda layer: False)
    again = np.zeros(distinct, np.bool_)
    again[codes[kept]] = True
    return base & again[codes]


def _flags(layers: Sequence[Layer], rows: _Predicate, deletes: _Predicate) -> Mask:
    parts = [
        np.full(len(part), says(layer), np.bool_)
        for layer in layers
        for part, says in ((layer.rows, rows), (layer.deletes, deletes))
    ]
    return np.concatenate(parts)


def _data_columns(layers: Sequence[Layer], rule: MergeRule) -> list[str]:
    """Return the columns that a partial update may leave unset."""
    always = {*META, *rule.always}
    return [name for name in layers[0].rows.column_names if name not in always]


def _places(layers: Sequence[Layer]) -> tuple[Numbers, Numbers]:
    deleted = _flags(layers, lambda layer: False, lambda layer: True)
    return np.cumsum(~deleted) - 1, np.cumsum(deleted) - 1


def _taken(column: pa.ChunkedArray, places: Numbers, records: Numbers) -> pa.Array:
    positions = pa.array(places[records], mask=records < 0)
    return one_array(column).take(positions)


def _contributions(layers: Sequence[Layer], election: _Election, split_only: bool) -> list[Contribution]:
    """Return the records that must be stored for later merges. Each row contains only the columns that the merged row
    takes from it.
    """
    sets = np.zeros((len(election.codes), len(election.columns)), np.bool_)
    for place, best in enumerate(election.columns.values()):
        sets[best[best >= 0], place] = True
    wanted = np.zeros(len(election.codes), np.bool_)
    wanted[np.flatnonzero(sets.any(axis=1))] = True
    wanted[election.top[election.top >= 0]] = True
    if split_only:
        # A tombstone ranks after the base file. If it ties with the row, the row must be repeated after it.
        agrees = (election.delete < 0) | (election.ordering[election.delete] != election.ordering[election.top])
        for best in election.columns.values():
            agrees &= (best >= 0) & (election.ordering[best] == election.ordering[election.top])
        wanted &= ~agrees[election.codes]
    else:
        for best in (election.delete, election.last_unordered_delete):
            wanted[best[best >= 0]] = True
    contributions, first = list[Contribution](), 0
    for layer in layers:
        middle, last = first + len(layer.rows), first + len(layer.rows) + len(layer.deletes)
        contributions += _by_columns(layer.rows, wanted[first:middle], sets[first:middle], list(election.columns))
        deletes = layer.deletes.filter(pa.array(wanted[middle:last]))
        if len(deletes):
            contributions.append(Contribution(layer.rows.slice(0, 0), deletes, None))
        first = last
    return contributions


def _by_columns(rows: pa.Table, wanted: Mask, sets: Mask, names: list[str]) -> Iterator[Contribution]:
    of_rows = np.flatnonzero(wanted)
    patterns, which = np.unique(sets[of_rows], axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        here = rows.take(pa.array(of_rows[which.reshape(-1) == number]))
        of_these = frozenset(name for name, is_set in zip(names, pattern, strict=True) if is_set)
        yield Contribution(here, here.slice(0, 0), None if pattern.all() else of_these)
