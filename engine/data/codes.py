"""Encodes keys and ordering values as integers, for fast comparisons in a merge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from .columns import one_array

Numbers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

LOWEST: Final = np.iinfo(np.int64).min
"""The code of a null ordering value, below every other."""


def key_codes(keys: pa.Array | pa.ChunkedArray) -> tuple[Numbers, int]:
    """Return an integer in ``0..n-1`` for each key, and the number n of distinct keys. Equal keys have equal integers.
    """
    encoded = one_array(keys).dictionary_encode()
    return encoded.indices.to_numpy(), len(encoded.dictionary)


def order_numbers(parts: Sequence[pa.ChunkedArray]) -> Numbers:
    """Map ordering values to integers that sort in the same order; a null becomes `LOWEST`."""
    kind = parts[0].type
    if pa.types.is_string(kind) or pa.types.is_decimal(kind):
        values = one_array(pa.chunked_array([chunk for part in parts for chunk in part.chunks], kind))
        ranks = pc.rank(values, tiebreaker="dense").to_numpy().astype(np.int64)
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), ranks, LOWEST)
    return np.concatenate([_as_integers(part) for part in parts])


def _as_integers(values: pa.ChunkedArray) -> Numbers:
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    return np.asarray(pc.fill_null(values.cast(pa.int64()), LOWEST).to_numpy(), np.int64)
