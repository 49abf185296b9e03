"""Encodes whole Arrow columns as Avro binary data, for fast encoding of large delete blocks.

Each function returns a binary array with the Avro encoding of each value of a column. Avro records are encoded by
concatenating the encoded columns element by element.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_MOST_BYTES: Final = 10  # length of the longest 64-bit varint


def longs(values: NDArray[np.int64]) -> pa.Array:
    """Encode integers as zigzag varints (the Avro types int, long, date and timestamp)."""
    unsigned = ((values << 1) ^ (values >> 63)).astype(np.uint64)
    shifted = unsigned[:, None] >> (7 * np.arange(_MOST_BYTES, dtype=np.uint64))
    used = shifted > 0
    # Zero has no bit set, but still takes one byte.
    used[:, 0] = True
    octets = (shifted & 0x7F).astype(np.uint8)
    octets[:, :-1] |= used[:, 1:].astype(np.uint8) << 7  # the top bit marks that another byte follows
    return _ragged(octets[used], used.sum(axis=1))


def texts(values: pa.Array) -> pa.Array:
    """Encode strings or binary values as a length and bytes (the Avro types string and bytes)."""
    raw = values.cast(pa.binary())
    lengths = pc.binary_length(raw).cast(pa.int64())
    return pc.binary_join_element_wise(longs(lengths.to_numpy()), raw, b"")


def fixed_width(values: NDArray[np.generic]) -> pa.Array:
    """Encode numbers as little-endian bytes (the Avro types float and double) and booleans as one byte."""
    width = values.dtype.itemsize
    octets = values.astype(values.dtype.newbyteorder("<")).view(np.uint8)
    return _ragged(octets, np.full(len(values), width))


def _ragged(octets: NDArray[np.uint8], lengths: NDArray[np.int64]) -> pa.Array:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(octets))]
    return pa.Array.from_buffers(pa.binary(), len(lengths), buffers)
