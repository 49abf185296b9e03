"""Validation of `storage_options`. `durable` is nbcc's own; all others go to the store's library."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..errors import BadInput

DURABLE: Final = "durable"

_MEANINGS: Final[Mapping[str, bool]] = {"true": True, "false": False}


def checked_options(options: object) -> dict[str, Any]:
    """A copy of `storage_options`; `BadInput` unless it maps names to values."""
    if options is None:
        return {}
    if not isinstance(options, Mapping) or not all(isinstance(name, str) for name in options):
        exists = f"storage_options is {type(options).__name__}, or has a name that is not a text"
        raise BadInput("open the table's storage", exists, "give a mapping of option names to values")
    return dict(options)


def local_options(options: Mapping[str, Any]) -> bool:
    """The option `durable` of a local table; `BadInput` for any other option."""
    if unknown := sorted(set(options) - {DURABLE}):
        raise BadInput(
            f"open a local table with the storage option {unknown[0]!r}",
            f"the only storage option of a local table is {DURABLE!r}",
            "leave the others out",
        )
    return is_durable(options)


def is_durable(options: Mapping[str, Any]) -> bool:
    """The value of `durable`: a bool or its text; the default is true."""
    given = options.get(DURABLE, True)
    meaning = given if isinstance(given, bool) else _MEANINGS.get(str(given).strip().lower())
    if meaning is None:
        raise BadInput(f"use the storage option {DURABLE}={given!r}", "it is true or false", "give one of the two")
    return meaning
