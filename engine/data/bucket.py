"""Computes the bucket of each row from Java's hash of the key values, vectorized over Arrow buffers
(docs/hudi-format.md).

The bucket is ``(List<String>.hashCode() & 0x7fffffff) % buckets``, in 32-bit arithmetic. The hash of a string starts at
0; each UTF-16 code unit updates the hash to ``31 * hash + unit``. The hash of a list starts at 1; each element updates
the hash to ``31 * hash + element_hash``, where a null has the hash 0. The computation uses no Python loop over rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from .columns import RECORD_KEY, one_array
from .keys import KeySpec, hashed_of_keys

Hashes = npt.NDArray[np.uint32]

_FACTOR: Final = np.uint32(31)
_LOOKAHEAD: Final = 3  # bytes after the lead byte of the longest UTF-8 character


def buckets_of(values: Sequence[pa.Array | pa.ChunkedArray], buckets: int) -> npt.NDArray[np.int32]:
    """Return the bucket of each row, in ``0..buckets-1``. `values` contains one array of strings for each key column.
    """
    return (key_hashes(values) % np.uint32(buckets)).astype(np.int32)


def key_hashes(values: Sequence[pa.Array | pa.ChunkedArray]) -> Hashes:
    """Return the number of each row whose remainder is its bucket, for any number of buckets."""
    return list_hash(values) & np.uint32(0x7FFFFFFF)


def only_bucket(records: pa.Table, keys: KeySpec, bucket: int, buckets: int) -> pa.Table:
    """Return those records, which have the column `RECORD_KEY`, that belong to `bucket` of `buckets`."""
    if not len(records):
        return records
    values = hashed_of_keys(one_array(records[RECORD_KEY]).cast(pa.string()), keys)
    return records.filter(pa.array(buckets_of(values, buckets) == bucket))


def list_hash(values: Sequence[pa.Array | pa.ChunkedArray]) -> Hashes:
    """Return Java's ``List<String>.hashCode`` of each row, as an unsigned 32-bit integer."""
    hashes = np.ones(len(values[0]), np.uint32)
    for column in values:
        hashes = _FACTOR * hashes + string_hash(column)
    return hashes


def string_hash(strings: pa.Array | pa.ChunkedArray) -> Hashes:
    """Return Java's ``String.hashCode`` of each string, as an unsigned 32-bit integer. The hash of a null is 0."""
    units, starts = _utf16_units(one_array(strings))
    lengths = np.diff(starts)
    firsts = starts[:-1]
    if len(lengths) == 0 or lengths.min() == lengths.max():
        return _hash_rows(units, firsts, lengths)
    longest_first = np.argsort(-lengths, kind="stable")  # so that the rows still running are always a prefix
    hashes = np.empty(len(lengths), np.uint32)
    hashes[longest_first] = _hash_rows(units, firsts[longest_first], lengths[longest_first])
    return hashes


def _hash_rows(units: npt.NDArray[np.integer], firsts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]) -> Hashes:
    """Return the hash of each string. String i consists of the `lengths[i]` code units that start at `firsts[i]` in
    `units`. The strings must be sorted by length, longest first.
    """
    hashes = np.zeros(len(lengths), np.uint32)
    if len(lengths) == 0:
        return hashes
    longest = int(lengths[0])
    running = np.searchsorted(-lengths, -np.arange(longest), side="left")  # rows longer than each position
    for position in range(longest):
        rows = slice(0, int(running[position]))
        hashes[rows] = _FACTOR * hashes[rows] + units[firsts[rows] + position]
    return hashes


def _utf16_units(strings: pa.Array) -> tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]:
    octets, starts = _utf8_bytes(strings)
    if len(octets) == 0 or octets.max() < 0x80:
        return octets, starts  # in ASCII a byte is a code unit
    leads = np.flatnonzero((octets & 0xC0) != 0x80)
    points = _code_points(octets, leads)
    supplementary = points > 0xFFFF
    begins = np.concatenate(([0], np.cumsum(1 + supplementary)))  # where the units of each character begin
    units = np.empty(begins[-1], np.uint16)
    units[begins[:-1]] = np.where(supplementary, 0xD800 + ((points - 0x10000) >> 10), points)
    pairs = np.flatnonzero(supplementary)
    units[begins[pairs] + 1] = 0xDC00 + ((points[pairs] - 0x10000) & 0x3FF)
    return units, begins[np.searchsorted(leads, starts)]


def _utf8_bytes(strings: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the UTF-8 bytes of all strings, the offset of each string in the bytes, and the end offset. A null counts
    as an empty string.
    """
    if strings.null_count:
        strings = strings.fill_null("")
    strings = strings.cast(pa.large_string())
    if not len(strings):
        return np.empty(0, np.uint8), np.zeros(1, np.int64)
    _, offsets, data = strings.buffers()
    starts = np.frombuffer(offsets, np.int64, len(strings) + 1, strings.offset * np.dtype(np.int64).itemsize)
    octets = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    return octets[starts[0] : starts[-1]], starts - starts[0]


def _code_points(octets: npt.NDArray[np.uint8], leads: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    padded = np.concatenate((octets, np.zeros(_LOOKAHEAD, np.uint8))).astype(np.int64)
    lead = padded[leads]
    second, third, fourth = (padded[leads + ahead] & 0x3F for ahead in range(1, _LOOKAHEAD + 1))
    return np.select(
        [lead < 0x80, lead < 0xE0, lead < 0xF0],
        [lead, (lead & 0x1F) << 6 | second, (lead & 0x0F) << 12 | second << 6 | third],
        (lead & 0x07) << 18 | second << 12 | third << 6 | fourth,
    )
