"""The columnar merge of one file group: the winning record of each key.

Records are numbered in the order of their *layers*: base, its tombstones, then the logs in the order of the caller's
rule; inside a layer rows come before deletes, as in a log file. A record's rank is
(ordering value, number) under event time, so that a tie goes to the later record, and the number alone under commit
time (docs/contract.md, SNAP). A delete is ranked like a row. A delete without ordering value beats every record
before it and loses to every record after it (docs/hudi-format.md).
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
    """The winner of each key. `layers` are in rising order, base layers first, and share one schema."""
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
    """The state that the layers make, record by record, column by column, or by a user's function."""
    if rule.function:
        return merge_by_function(layers, rule)
    if not rule.partial:
        return merge(layers, rule)
    return merge_columns(layers, rule)


def winners_of(codes: Numbers, keys: int, ordering: Numbers | None, always: Mask | None = None) -> Numbers:
    """The number of the winning record of each key that has one.

    `codes[i]` in ``0..keys-1`` is the key of record *i*, `ordering[i]` its ordering value (None: all equal), and
    `always[i]` marks deletes without one.
    """
    winners = np.full(keys, -1, np.int64)
    candidates = np.arange(len(codes))
    if always is not None and always.any():
        fences = np.flatnonzero(always)
        winners[codes[fences]] = fences  # assignment in rising order: of several records of a key the last one stays
        candidates = np.flatnonzero(~always & (candidates > winners[codes]))
    if ordering is not None:
        best = np.full(keys, LOWEST, np.int64)
        np.maximum.at(best, codes[candidates], ordering[candidates])
        candidates = candidates[ordering[candidates] == best[codes[candidates]]]
    winners[codes[candidates]] = candidates
    return winners[winners >= 0]


class _Records(NamedTuple):
    """What an election goes by: key, ordering value, and whether a delete always wins, of each record."""

    codes: Numbers
    keys: int
    ordering: Numbers | None
    always: Mask | None

    def winners(self, among: Numbers) -> Numbers:
        """The winners, in no order, if only the records with the numbers `among` (rising) stood for election."""
        ordering = None if self.ordering is None else self.ordering[among]
        always = None if self.always is None else self.always[among]
        return among[winners_of(self.codes[among], self.keys, ordering, always)]


def _winners(layers: Sequence[Layer], rule: MergeRule) -> Mask:
    """Which records win, in the numbering of the module's docstring."""
    parts = [part for layer in layers for part in (layer.rows, layer.deletes)]
    keys = one_array(pa.chunked_array([chunk for part in parts for chunk in part[RECORD_KEY].chunks], pa.string()))
    base = sum(len(layer.rows) + len(layer.deletes) for layer in layers if layer.base)
    contested, codes = _contested(keys, base)
    winners = np.ones(len(keys), np.bool_)
    if np.array_equal(codes, np.arange(len(codes))):
        return winners  # each is the first of its key, and so the only one
    ordering = always = None
    if rule.ranked_by is not None:
        ordering = order_numbers([part[rule.ranked_by] for part in parts])[contested]
        always = _always_wins(layers, rule.ranked_by)[contested]
    records = _Records(codes, len(keys) - base, ordering, always)
    candidates = np.arange(len(codes))
    if rule.fold == "logs_first":
        of_base = int(np.searchsorted(contested, base))
        candidates = np.concatenate((candidates[:of_base], np.sort(records.winners(candidates[of_base:]))))
    winners[contested] = False
    winners[contested[records.winners(candidates)]] = True
    return winners


def _contested(keys: pa.Array, base: int) -> tuple[Numbers, Numbers]:
    """The records, rising, that others could beat: all of the logs, and those of the base whose key is in the logs.

    Besides, of each, the number of its key: the place in the logs where it comes first. A base holds each key once, so
    that the others have won already.
    """
    places = pc.fill_null(pc.index_in(keys, value_set=keys.slice(base)), -1).to_numpy()
    contested = np.flatnonzero(places >= 0)
    return contested, places[contested]


def _always_wins(layers: Sequence[Layer], ordering: str) -> Mask:
    """Deletes without an ordering value."""
    parts = [
        part
        for layer in layers
        for part in (np.zeros(len(layer.rows), np.bool_), layer.deletes[ordering].is_null().to_numpy())
    ]
    return np.concatenate(parts)


def _kept(table: pa.Table, mask: Mask) -> pa.Table:
    return table if mask.all() else table.filter(pa.array(mask))
