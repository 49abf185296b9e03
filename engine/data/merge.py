"""Which record of each key wins: the columnar merge of one file group.

Records are numbered in the order of their *layers*: base, its tombstones, then the logs in the order that the caller's
rule gives them; inside a layer rows come before deletes, as in a log file. A record's rank is
(ordering value, number) under event time, so that a tie goes to the later record, and the number alone under commit
time (design.md §4, SNAP). A delete is ranked like a row; one without ordering value is Hudi's "always wins": it beats
whatever came before it and loses to whatever comes after (hudi-format §11.3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .columns import COMMIT_TIME, IS_DELETED, PARTITION_PATH, RECORD_KEY, one_array

EVENT_TIME: Final = "EVENT_TIME_ORDERING"
COMMIT_TIME_ORDERING: Final = "COMMIT_TIME_ORDERING"

Fold = Literal["rank", "logs_first"]
Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LOWEST: Final = np.iinfo(np.int64).min


class Layer(NamedTuple):
    """One file's records: `rows` in the reader's schema, `deletes` with the columns of `delete_schema`.

    `base`: it ranks before all logs. `kept`: a compaction has kept it beside its base file. `sets`, of partial updates:
    the columns that its rows set; None: all.
    """

    rows: pa.Table
    deletes: pa.Table
    base: bool = False
    kept: bool = False
    sets: frozenset[str] | None = None


class Merged(NamedTuple):
    """What won of each key: a row or a delete. By a function: its row and the last delete. Of partial updates: the row
    and the greatest delete, if there are; in windows several rows, of which each sets the columns in `sets`."""

    rows: pa.Table
    deletes: pa.Table
    sets: pa.Array | None = None


@dataclass(frozen=True, slots=True)
class MergeRule:
    """mode      EVENT_TIME_ORDERING or COMMIT_TIME_ORDERING
    ordering  the column of ordering values, None if the table has none (then event time is commit time)
    fold      rank: all records of a key at once; logs_first: logs among themselves, their winner then meets the base
    partial   each record sets some columns; `always` are those that every record has: key, partition, ordering
    function  `package.module:function` that merges two rows; empty: one of them wins
    """

    mode: str = EVENT_TIME
    ordering: str | None = None
    fold: Fold = "rank"
    partial: bool = False
    always: tuple[str, ...] = ()
    function: str = ""

    @property
    def ranked_by(self) -> str | None:
        """The ordering column if it has a say."""
        return self.ordering if self.mode == EVENT_TIME else None


def delete_schema(ordering: pa.Field | None) -> pa.Schema:
    """Columns of a layer's deletes: who deleted (requested instant), which key, where, and with what ordering value."""
    names = [pa.field(name, pa.string()) for name in (COMMIT_TIME, RECORD_KEY, PARTITION_PATH)]
    return pa.schema(names if ordering is None else [*names, ordering.with_nullable(True)])


def is_ordering_type(kind: pa.DataType) -> bool:
    """Whether all readers order the values of this type alike, and deletes can carry them.

    Not so: floating point (NaN has no place in an order), decimals (deletes carry them rescaled), booleans, bytes.
    """
    return bool(
        pa.types.is_int32(kind)
        or pa.types.is_int64(kind)
        or pa.types.is_date32(kind)
        or (pa.types.is_timestamp(kind) and kind.tz is not None)
        or pa.types.is_string(kind)
    )


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
        from .function import merge_by_function

        return merge_by_function(layers, rule)
    if not rule.partial:
        return merge(layers, rule)
    from .partial import merge_columns

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
        best = np.full(keys, _LOWEST, np.int64)
        np.maximum.at(best, codes[candidates], ordering[candidates])
        candidates = candidates[ordering[candidates] == best[codes[candidates]]]
    winners[codes[candidates]] = candidates
    return winners[winners >= 0]


def key_codes(keys: pa.Array | pa.ChunkedArray) -> tuple[Numbers, int]:
    """Equal keys get equal numbers ``0..n-1``; also n."""
    encoded = one_array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), len(encoded.dictionary)


def order_numbers(parts: Sequence[pa.ChunkedArray]) -> Numbers:
    """Integers in the order of the values of all parts taken together; nulls come first."""
    kind = parts[0].type
    if pa.types.is_string(kind) or pa.types.is_decimal(kind):
        values = one_array(pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind))
        ranks = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64)
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), ranks, _LOWEST)
    return np.concatenate([_as_integers(part) for part in parts])


def _as_integers(values: pa.ChunkedArray) -> Numbers:
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return np.asarray(pc.fill_null(values.cast(pa.int64()), _LOWEST).to_numpy(), np.int64)


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
    contested, codes, distinct = _contested(keys, base)
    winners = np.ones(len(keys), np.bool_)
    if distinct == len(codes):
        return winners
    ordering = always = None
    if rule.ranked_by is not None:
        ordering = order_numbers([part[rule.ranked_by] for part in parts])[contested]
        always = _always_wins(layers, rule.ranked_by)[contested]
    records = _Records(codes, distinct, ordering, always)
    candidates = np.arange(len(codes))
    if rule.fold == "logs_first":
        of_base = int(np.searchsorted(contested, base))
        candidates = np.concatenate((candidates[:of_base], np.sort(records.winners(candidates[of_base:]))))
    winners[contested] = False
    winners[contested[records.winners(candidates)]] = True
    return winners


def _contested(keys: pa.Array, base: int) -> tuple[Numbers, Numbers, int]:
    """The records, rising, that others could beat: all of the logs, and those of the base whose key is in the logs.

    Besides, as `key_codes` gives them, the numbers of their keys, and how many keys there are. A base holds each key
    once, so that the others have won already, and most of a base need not be looked at.
    """
    encoded = keys.slice(base).dictionary_encode()
    of_logs = encoded.indices.to_numpy()
    of_base = pc.fill_null(pc.index_in(keys.slice(0, base), value_set=encoded.dictionary), -1).to_numpy()
    hit = np.flatnonzero(of_base >= 0)
    contested = np.concatenate((hit, np.arange(base, len(keys))))
    return contested, np.concatenate((of_base[hit], of_logs)), len(encoded.dictionary)


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
