"""Writes the records of a file slice to a temporary file, split by key, so that each part can be merged separately.

All records of a key are in the same part, so the split does not change the merge result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import BinaryIO, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .bucket import string_hash
from .columns import RECORD_KEY
from .layers import Layer

LEVEL_BITS: Final = 8
LEVELS: Final = 3
"""The number of times that rows are split, each time by other bits of the hashes of their keys."""

MOST_PARTS: Final = 1 << LEVEL_BITS

_MIX: Final = np.uint64(0x9E3779B97F4A7C15)  # a bucket is the remainder of the hash, so that its low bits are equal
_SLICE_BYTES: Final = 16 << 20  # rows are copied when they are split
_USED: Final = 64 - LEVEL_BITS * LEVELS


class _Place(NamedTuple):
    """The position of a merge layer's records in the temporary file."""

    layer: int
    deletes: bool
    start: int
    size: int


class Spill:
    """The records of a merge, stored in the temporary file `file` and split by key into `parts` parts. `parts` is a
    power of two, at most `MOST_PARTS`. `level` is the number of times that the rows have already been split.
    """

    def __init__(self, file: BinaryIO, parts: int, level: int) -> None:
        self._file = file
        self._mask = np.uint64(parts - 1)
        self._shift = np.uint64(_USED + LEVEL_BITS * level)
        self._kinds: list[Layer] = []  # each added layer, without its rows
        self._places: list[list[_Place]] = [[] for _ in range(parts)]

    def add(self, layers: Iterable[Layer]) -> None:
        """Write the records of `layers`, which must follow all previously added layers in merge order."""
        for layer in layers:
            if not self._kinds or not is_continued(self._kinds[-1], layer):
                self._kinds.append(layer._replace(rows=_empty(layer.rows), deletes=_empty(layer.deletes)))
            for table, deletes in ((layer.rows, False), (layer.deletes, True)):
                count = max(1, len(table) * _SLICE_BYTES // max(1, table.nbytes))
                for first in range(0, len(table), count):
                    self._write(table.slice(first, count), deletes)
            del layer, table  # otherwise the layer is in memory while the next one is decoded

    def layers(self, part: int) -> Iterator[Layer]:
        """Yield all merge layers, each restricted to the records in one part of the temporary file. A base file may be
        yielded as several layers.
        """
        by_layer = {number: list(places) for number, places in groupby(self._places[part], lambda each: each.layer)}
        for number, empty in enumerate(self._kinds):
            parts = (self._read(place, empty) for place in by_layer.get(number, ()))
            if empty.base and not empty.kept:
                yield empty
                yield from parts
            else:
                yield concatenated([empty, *parts])

    def _read(self, place: _Place, empty: Layer) -> Layer:
        self._file.seek(place.start)
        table = pa.ipc.open_stream(self._file.read(place.size)).read_all()
        return empty._replace(deletes=table) if place.deletes else empty._replace(rows=table)

    def _write(self, table: pa.Table, deletes: bool) -> None:
        numbers = self._parts_of(table[RECORD_KEY])
        order = np.argsort(numbers, kind="stable")
        sorted_rows = table.take(pa.array(order))
        ends = np.cumsum(np.bincount(numbers, minlength=len(self._places))).tolist()
        for places, first, end in zip(self._places, [0, *ends[:-1]], ends, strict=True):
            if first < end:
                start = self._file.tell()
                with pa.ipc.new_stream(self._file, table.schema) as writer:
                    writer.write_table(sorted_rows.slice(first, end - first))
                places.append(_Place(len(self._kinds) - 1, deletes, start, self._file.tell() - start))

    def _parts_of(self, keys: pa.ChunkedArray) -> npt.NDArray[np.int64]:
        """Return the number of the part that contains each key, computed from the key's hash."""
        mixed = (string_hash(keys).astype(np.uint64) * _MIX) >> self._shift
        return (mixed & self._mask).astype(np.int64)


def _empty(table: pa.Table) -> pa.Table:
    """Return an empty table. Unlike an empty slice of `table`, the result does not keep the rows in memory."""
    return table.schema.empty_table()


def is_continued(layer: Layer, following: Layer) -> bool:
    """Return True if both layers contain records of the base file."""
    return layer.base and following.base and not layer.kept and not following.kept


def concatenated(layers: Sequence[Layer]) -> Layer:
    """Concatenate several merge layers into one."""
    if len(layers) == 1:
        return layers[0]
    rows = pa.concat_tables([layer.rows for layer in layers])
    return layers[0]._replace(rows=rows, deletes=pa.concat_tables([layer.deletes for layer in layers]))


def joined(layers: list[Layer]) -> list[Layer]:
    """Return the layers, with all layers of the base file concatenated into one."""
    count = sum(1 for layer in layers if layer.base and not layer.kept)
    return [concatenated(layers[:count]), *layers[count:]] if count else layers
