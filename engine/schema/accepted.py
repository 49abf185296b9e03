"""Defines which Arrow types a table accepts for a column: those that can be cast to the column's type without loss."""

from __future__ import annotations

from typing import Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import BadInput

_STORED: Final = (
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_large_binary, pa.binary()),
    (pa.types.is_binary_view, pa.binary()),
    (pa.types.is_int8, pa.int32()),
    (pa.types.is_int16, pa.int32()),
    (pa.types.is_uint8, pa.int32()),
    (pa.types.is_uint16, pa.int32()),
    (pa.types.is_uint32, pa.int64()),
    (pa.types.is_date64, pa.date32()),
)
_WIDER: Final = ((pa.int32(), pa.int64()), (pa.float32(), pa.float64()))
_BY_VALUE: Final = ((pa.int64(), pa.int32()), (pa.uint64(), pa.int64()), (pa.uint64(), pa.int32()))


def stored_type(kind: pa.DataType, zone: str | None = None) -> pa.DataType:
    """Return the Arrow type that a new table stores for a column of type `kind`; `kind` itself if no conversion is
    needed.

    `zone` is the time zone assumed for timestamps without a time zone.
    """
    plain = next((stored for matches, stored in _STORED if matches(kind)), None)
    if plain is not None or kind.num_fields == 0:
        return plain or _stored_scalar(kind, zone)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_stored_field(kind.value_field, zone))
    if pa.types.is_map(kind):
        return pa.map_(stored_type(kind.key_type, zone), _stored_field(kind.item_field, zone))
    return pa.struct([_stored_field(field, zone) for field in kind]) if pa.types.is_struct(kind) else kind


def _stored_scalar(kind: pa.DataType, zone: str | None) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return stored_type(kind.value_type, zone)
    if pa.types.is_timestamp(kind) and (kind.tz is not None or zone is not None):
        return pa.timestamp("us" if kind.unit in ("us", "ns") else "ms", "UTC")
    return kind


def _stored_field(field: pa.Field, zone: str | None) -> pa.Field:
    return field.with_type(stored_type(field.type, zone))


def stored_schema(schema: pa.Schema, zone: str | None = None) -> pa.Schema:
    """Return the schema that a new table stores for data with the given schema."""
    return pa.schema([_stored_field(field, zone) for field in schema])


def fits(found: pa.DataType, wanted: pa.DataType, zone: str | None = None, *, by_value: bool = True) -> bool:
    """Return True if values of type `found` can be stored in a column of type `wanted` without loss.

    If `by_value` is True, it suffices that some values of the type can be stored; `fitted` then checks each value.
    """
    stored = stored_type(found, zone)
    if same_type(stored, wanted):
        return by_value or not _loses_nanoseconds(found, wanted)
    if pa.types.is_timestamp(stored) and pa.types.is_timestamp(wanted) and None not in (stored.tz, wanted.tz):
        return by_value or (stored.unit, wanted.unit) == ("ms", "us")
    pairs = (*_WIDER, *_BY_VALUE) if by_value else _WIDER
    return pa.types.is_null(found) or (stored, wanted) in pairs


def fitted(column: pa.ChunkedArray, wanted: pa.DataType, zone: str | None = None) -> pa.ChunkedArray:
    """Return the column, cast to the type `wanted` if `fits` allows the cast. Raises `pa.ArrowInvalid` for a value that
    the type `wanted` cannot represent.
    """
    if pa.types.is_timestamp(column.type) and column.type.tz is None and zone is not None:
        column = pc.assume_timezone(column, zone)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column.cast(wanted)


def checked_zone(zone: str | None, asked: str) -> str | None:
    """Return `zone` unchanged; raise `BadInput` if it is neither None nor the name of a time zone."""
    if zone is not None:
        try:
            ZoneInfo(zone)
        except (ValueError, OSError, TypeError, KeyError):  # ZoneInfoNotFoundError is a KeyError
            asked = f"{asked} with session_time_zone={zone!r}"
            raise BadInput(asked, "there is no such time zone", "use a name like UTC or Asia/Tokyo") from None
    return zone


def same_type(one: pa.DataType, other: pa.DataType) -> bool:
    """Return True if two types are equal, apart from the names and nullability of nested items."""
    if pa.types.is_list(one) and pa.types.is_list(other):
        return same_type(one.value_type, other.value_type)
    if pa.types.is_map(one) and pa.types.is_map(other):
        return same_type(one.key_type, other.key_type) and same_type(one.item_type, other.item_type)
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        return [f.name for f in one] == [f.name for f in other] and all(
            same_type(a.type, b.type) for a, b in zip(one, other, strict=True)
        )
    return bool(one.equals(other))


def _loses_nanoseconds(found: pa.DataType, wanted: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(wanted) and pa.types.is_timestamp(found) and found.unit == "ns")
