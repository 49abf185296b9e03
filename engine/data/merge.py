"""Merges the records of one file group in Arrow's columnar format, and selects the winning record of each key.

Records are numbered in the order of the merge layers: the base file, its tombstones, then the logs in the caller's
order. Within each layer, rows have lower numbers than deletes, as in a log file. In an event-time table, the rank of a
record is (ordering value, record number). Of two records with equal ordering values, the record with the greater record
number wins. In a commit-time table, the record with the greatest record number wins (docs/contract.md, SNAP). A delete
with an ordering value is ranked like a row. A delete without an ordering value wins over every earlier record and loses
to every later record (docs/hudi-format.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .codes import LOWEST, Mask, Numbers, order_numbers
from .columns import IS_DELETED, RECORD_KEY, one_array
from .function import merge_by_function
from .layers import Layer, Merged, MergeRule
from .partial import merge_columns


def merge(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """Return the winning record of each key. `layers` must have equal schemas and be in merge order, base layers first.
    """
    winners = _winners(layers, rule)
    kept_rows, kept_deletes = [], []
    first = 0
    for layer in layers:
        middle, last = first + len(layer.rows), first + len(layer.rows) + len(layer.deletes)
        kept_rows.append(_kept(layer.rows, winners[first:middle]))
        kept_deletes.append(_kept(layer.deletes, winners[middle:last]))
        first = last
    rows, deletes = pa.concat_tables(kept_rows), pa.concat_tables(kept_deletes)
    if IS_DELETED in rows.column_names:
        flags = pc.fill_null(rows[IS_DELETED], False)
        deletes = pa.concat_tables([deletes, rows.filter(flags).select(deletes.column_names).cast(deletes.schema)])
        rows = rows.filter(pc.invert(flags))
    return Merged(rows, deletes)


def merged(layers: Sequence[Layer], rule: MergeRule) -> Merged:
    """Merge the layers record by record, column by column, or with a user-defined function, depending on `rule`."""
    if rule.function:
        return merge_by_function(layers, rule)
    if not rule.partial:
        return merge(layers, rule)
    return merge_columns(layers, rule)


def winners_of(codes: Numbers, keys: int, ordering: Numbers | None, beats_earlier: Mask | None = None) -> Numbers:
    """Return the index of the winning record of each key.

    `codes[i]` is an integer in ``0..keys-1`` that identifies the key of record *i*. `ordering[i]` is the ordering value
    of record *i*; if `ordering` is None, all ordering values are equal. `beats_earlier[i]` is True if record *i* is a
    delete without an ordering value, which wins over every earlier record of its key.
    """
    winners = np.full(keys, -1, np.int64)
    candidates = np.arange(len(codes))
    if beats_earlier is not None and beats_earlier.any():
        deletes = np.flatnonzero(beats_earlier)
        winners[codes[deletes]] = deletes  # assignment in rising order: of several records of a key the last one stays
        candidates = np.flatnonzero(~beats_earlier & (candidates > winners[codes]))
    if ordering is not None:
        best = np.full(keys, LOWEST, np.int64)
        np.maximum.at(best, codes[candidates], ordering[candidates])
        candidates = candidates[ordering[candidates] == best[codes[candidates]]]
    winners[codes[candidates]] = candidates
    return winners[winners >= 0]


class _Records(NamedTuple):
    """The records to merge. `codes` contains an integer that identifies the key of each record. `beats_earlier` is True
    for deletes without an ordering value.
    """

    codes: Numbers
    keys: int
    ordering: Numbers | None
    beats_earlier: Mask | None

    def winners(self, among: Numbers) -> Numbers:
        ordering = None if self.ordering is None else self.ordering[among]
        beats_earlier = None if self.beats_earlier is None else self.beats_earlier[among]
        return among[winners_of(self.codes[among], self.keys, ordering, beats_earlier)]


def _winners(layers: Sequence[Layer], rule: MergeRule) -> Mask:
    parts = [part for layer in layers for part in (layer.rows, layer.deletes)]
    keys = one_array(pa.chunked_array([chunk for part in parts for chunk in part[RECORD_KEY].chunks], pa.string()))
    base = sum(len(layer.rows) + len(layer.deletes) for layer in layers if layer.base)
    contested, codes = _contested(keys, base)
    winners = np.ones(len(keys), np.bool_)
    if np.array_equal(codes, np.arange(len(codes))):
        return winners  # each record is the only one of its key
    ordering = beats_earlier = None
    if rule.ranked_by is not None:
        ordering = order_numbers([part[rule.ranked_by] for part in parts])[contested]
        beats_earlier = _beats_earlier(layers, rule.ranked_by)[contested]
    records = _Records(codes, len(keys) - base, ordering, beats_earlier)
    candidates = np.arange(len(codes))
    if rule.fold == "logs_first":
        of_base = int(np.searchsorted(contested, base))
        candidates = np.concatenate((candidates[:of_base], np.sort(records.winners(candidates[of_base:]))))
    winners[contested] = False
    winners[contested[records.winners(candidates)]] = True
    return winners


def _contested(keys: pa.Array, base: int) -> tuple[Numbers, Numbers]:
    """Return the indices of the records whose keys occur in a log, and an integer code for the key of each such record.

    Records whose keys occur only in the base file win without a comparison, because a base file contains each key once.
    """
    places = pc.fill_null(pc.index_in(keys, value_set=keys.slice(base)), -1).to_numpy()
    contested = np.flatnonzero(places >= 0)
    return contested, places[contested]


def _beats_earlier(layers: Sequence[Layer], ordering: str) -> Mask:
    parts = [
        part
        for layer in layers
        for part in (np.zeros(len(layer.rows), np.bool_), layer.deletes[ordering].is_null().to_numpy())
    ]
    return np.concatenate(parts)


def _kept(table: pa.Table, mask: Mask) -> pa.Table:
    return table if mask.all() else table.filter(pa.array(mask))
