"""Compares rows by value. Two nulls are equal, two NaNs are equal, and nested columns are compared recursively."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .codes import Mask, Numbers
from .columns import one_array


def rows_differ(left: pa.Table, right: pa.Table, columns: Sequence[str]) -> Mask:
    """Return a mask of the positions at which two tables of equal length differ in one of `columns`."""
    differing = np.zeros(len(left), np.bool_)
    for name in columns:
        differing |= values_differ(one_array(left[name]), one_array(right[name]))
    return differing


def values_differ(left: pa.Array, right: pa.Array) -> Mask:
    """Return a mask of the positions at which two arrays of equal type and length differ."""
    only_one_null = pc.xor(left.is_null(), right.is_null()).to_numpy(zero_copy_only=False)
    both = pc.and_(left.is_valid(), right.is_valid())
    differing: Mask = np.array(only_one_null, np.bool_)
    if pa.types.is_nested(left.type):
        places = np.flatnonzero(both.to_numpy(zero_copy_only=False))
        differing[places] = _nested_differ(left.take(places), right.take(places))
        return differing
    unequal = pc.not_equal(left, right)
    if pa.types.is_floating(left.type):
        unequal = pc.and_not(unequal, pc.and_(pc.is_nan(left), pc.is_nan(right)))
    differing |= pc.fill_null(unequal, False).to_numpy(zero_copy_only=False)
    return differing


def _nested_differ(left: pa.Array, right: pa.Array) -> Mask:
    """Implement `values_differ` for structs, lists and maps, whose top-level values must be non-null."""
    if pa.types.is_struct(left.type):
        differing: Mask = np.zeros(len(left), np.bool_)
        for place in range(left.type.num_fields):
            differing |= values_differ(pc.struct_field(left, [place]), pc.struct_field(right, [place]))
        return differing
    lefts, rights = lengths(left), lengths(right)
    differing = lefts != rights
    places = np.flatnonzero(~differing)
    owners = np.repeat(places, lefts[places])
    inside = values_differ(elements(left.take(places)), elements(right.take(places)))
    differing[owners[inside]] = True
    return differing


def lengths(lists: pa.Array) -> Numbers:
    """Return the number of elements of each list or map. `lists` must not contain nulls."""
    return np.diff(np.asarray(lists.offsets)).astype(np.int64)


def elements(lists: pa.Array) -> pa.Array:
    """Return the elements of all lists as one array. The elements of a map are its entries as structs, in their stored
    order.
    """
    offsets = np.asarray(lists.offsets)
    return (
        pa.StructArray.from_arrays([lists.keys, lists.items], names=["key", "value"])
        if pa.types.is_map(lists.type)
        else lists.values
    ).slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
