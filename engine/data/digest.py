"""Computes the digest of a batch from the number of rows and the sums of row hashes.

The digest does not depend on row order, the division into chunks or Spark tasks, or the batch's type (DataFrame or
Arrow table). All NaNs have the same hash, and -0.0 has the same hash as 0.0. A null has the same effect on the digest
as a missing column, so a column that is added after the write does not change the digest. The hashes are not
cryptographic and detect only accidental differences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .columns import IS_DELETED, one_array

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int64]

_VERSION: Final = "1"
_CHUNK: Final = 1 << 16  # rows hashed at once: bounds the memory
_MASK: Final = (1 << 64) - 1
_WORD: Final = 8
_ODD: Final = np.uint64(0x9E3779B97F4A7C15)
_SECOND: Final = np.uint64(0xD1B54A32D192ED03)
_PLACE: Final = np.uint64(0xA24BAED4963EE407)
_SET: Final = 0x9FB21C651E98DF25


@dataclass(frozen=True, slots=True)
class Digest:
    """The number of rows of a batch, and the sums modulo 2**64 of two different row hashes. The digest of a batch is
    the sum of the digests of its parts.
    """

    rows: int = 0
    first: int = 0
    second: int = 0

    def __add__(self, other: Digest) -> Digest:
        return Digest(self.rows + other.rows, (self.first + other.first) & _MASK, (self.second + other.second) & _MASK)

    def __str__(self) -> str:
        return f"{self.rows} row{'s' * (self.rows != 1)}, digest {self.first:016x}"

    @property
    def text(self) -> str:
        """The digest as a string, in the form that commits store."""
        return f"{_VERSION}:{self.rows}:{self.first:016x}{self.second:016x}"

    @classmethod
    def of_text(cls, text: str) -> Digest | None:
        """Parse a digest stored in a commit. Returns None if `text` is invalid or has another format version."""
        version, _, rest = text.partition(":")
        rows, _, sums = rest.partition(":")
        if version != _VERSION or not rows.isdecimal() or len(sums) != 4 * _WORD:
            return None
        try:
            return cls(int(rows), int(sums[: 2 * _WORD], 16), int(sums[2 * _WORD :], 16))
        except ValueError:
            return None


def digest_of(rows: pa.Table, sets: Collection[str] | None = None) -> Digest:
    """Return the digest of `rows`, a batch or a part of a batch. `sets` contains the columns that a partial update
    sets; the digest also depends on their names.
    """
    salt = np.uint64(sum(int(_name_hash(name)) * _SET + 1 for name in sets or ()) & _MASK)
    total = Digest()
    for batch in rows.to_batches(max_chunksize=_CHUNK):
        hashes = _row_hashes(batch, salt)
        sums = (int(np.add.reduce(each, dtype=np.uint64)) for each in (hashes, _mixed(hashes ^ _SECOND)))
        total += Digest(batch.num_rows, *sums)
    return total


def _row_hashes(batch: pa.RecordBatch, salt: np.uint64) -> Hashes:
    total = np.full(batch.num_rows, salt, np.uint64)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        # A row that is not deleted is a row without the flag.
        hashes = _hashes(_true_or_null(column) if name == IS_DELETED else column)
        total += np.where(hashes == 0, np.uint64(0), _mixed(hashes ^ _name_hash(name)))
    return _mixed(total)


def _true_or_null(flags: pa.Array) -> pa.Array:
    return pc.if_else(pc.fill_null(flags, False), True, pa.scalar(None, pa.bool_()))


def _hashes(values: pa.Array) -> Hashes:
    values = one_array(values)
    if values.null_count == len(values):
        return np.zeros(len(values), np.uint64)
    hashes = _of_kind(values)
    hashes[hashes == 0] = _ODD
    if values.null_count:
        hashes[~values.is_valid().to_numpy(zero_copy_only=False)] = 0
    return hashes


def _of_kind(values: pa.Array) -> Hashes:
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _hashes(values.dictionary_decode())
    if pa.types.is_nested(kind):
        return _of_nested(values)
    if pa.types.is_decimal(kind):
        return _of_decimals(values)
    if pa.types.is_floating(kind):
        return _of_floats(values)
    if pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_temporal(kind):
        return _of_integers(values)
    return _of_texts(values)


def _of_nested(values: pa.Array) -> Hashes:
    kind = values.type
    if pa.types.is_struct(kind):
        total = np.zeros(len(values), np.uint64)
        for field, child in zip(kind, values.flatten(), strict=True):
            hashes = _hashes(child)
            total += np.where(hashes == 0, np.uint64(0), _mixed(hashes ^ _name_hash(field.name)))
        return _mixed(total + _ODD)
    if pa.types.is_map(kind):
        entries = _hashes(pa.StructArray.from_arrays([values.keys, values.items], ["key", "value"]))
        return _runs(entries, _lists(values), ordered=False)
    if pa.types.is_fixed_size_list(kind):
        return _hashes(values.cast(pa.large_list(kind.value_field)))
    return _runs(_hashes(values.values), _lists(values))


class _Runs(NamedTuple):
    starts: Numbers
    lengths: Numbers


def _lists(values: pa.Array) -> _Runs:
    ends = np.asarray(values.offsets.to_numpy(zero_copy_only=False), np.int64)
    lengths = np.diff(ends)
    if values.null_count:
        lengths = np.where(values.is_valid().to_numpy(zero_copy_only=False), lengths, 0)
    return _Runs(ends[:-1], lengths)


def _runs(items: Hashes, runs: _Runs, ordered: bool = True) -> Hashes:
    owners, places = _places(runs.lengths)
    there = items[runs.starts[owners] + places]
    there = _mixed(there + _mixed(places.astype(np.uint64) * _PLACE + _ODD)) if ordered else _mixed(there + _ODD)
    return _summed(there, runs.lengths)


def _places(lengths: Numbers) -> tuple[Numbers, Numbers]:
    owners = np.repeat(np.arange(len(lengths)), lengths)
    firsts = np.cumsum(lengths) - lengths
    return owners, np.arange(len(owners)) - firsts[owners]


def _summed(terms: Hashes, lengths: Numbers) -> Hashes:
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    ends = np.cumsum(lengths)
    return _mixed(sums[ends] - sums[ends - lengths] + lengths.astype(np.uint64) * _SECOND)


def _of_integers(values: pa.Array) -> Hashes:
    if pa.types.is_date32(values.type) or pa.types.is_time32(values.type):
        values = values.cast(pa.int32())
    values = values.cast(pa.int64())
    if values.null_count:
        values = values.fill_null(0)
    return _mixed(values.to_numpy(zero_copy_only=False).astype(np.int64).view(np.uint64) + _ODD)


def _of_floats(values: pa.Array) -> Hashes:
    numbers = np.asarray(values.cast(pa.float64()).fill_null(0.0).to_numpy(zero_copy_only=False), np.float64)
    numbers = np.where(np.isnan(numbers), np.float64("nan"), numbers + 0.0)  # -0.0 + 0.0 is 0.0
    return _mixed(numbers.view(np.uint64) + _ODD)


def _of_decimals(values: pa.Array) -> Hashes:
    words = values.type.byte_width // _WORD
    data = np.frombuffer(values.buffers()[1], np.uint64)
    data = data[values.offset * words : (values.offset + len(values)) * words]
    return _runs(_mixed(data + _ODD), _Runs(np.arange(len(values)) * words, np.full(len(values), words, np.int64)))


def _of_texts(values: pa.Array) -> Hashes:
    values = values.cast(pa.large_binary())
    if values.null_count:
        values = values.fill_null(b"")
    _, offsets, data = values.buffers()
    ends = np.frombuffer(offsets, np.int64, len(values) + 1, values.offset * _WORD)
    starts, lengths = ends[:-1], np.diff(ends)
    used = np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] if data is not None else np.empty(0, np.uint8)
    padded = np.concatenate((used, np.zeros(_WORD, np.uint8)))
    at_any_byte = np.ndarray((len(padded) - _WORD + 1,), "<u8", padded, strides=(1,))
    counts = -(-lengths // _WORD)
    owners, places = _places(counts)
    words = at_any_byte[starts[owners] - ends[0] + places * _WORD].astype(np.uint64)
    left = np.minimum(lengths[owners] - places * _WORD, _WORD)  # of the last word only these bytes count
    words &= np.uint64(_MASK) >> ((_WORD - left) * _WORD).astype(np.uint64)
    terms = _mixed(words + _mixed(places.astype(np.uint64) * _PLACE + _ODD))
    return _mixed(_summed(terms, counts) ^ lengths.astype(np.uint64))


def _mixed(values: Hashes) -> Hashes:
    """Apply the finalizer of the splitmix64 hash function to each value."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _name_hash(name: str) -> np.uint64:
    return np.uint64(int.from_bytes(hashlib.blake2b(name.encode(), digest_size=_WORD).digest(), "big"))
