"""Validates the Avro schema of a file before the Avro decoder uses it.

The Avro decoder is native code whose stack overflows on a recursive schema or one nested thousands of levels deep. If
array items are encoded in zero bytes, a few bytes can encode any number of items. Hudi writes neither recursive schemas
nor arrays of zero-byte types.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from ..json_text import parse_json
from ..limits import Limits, exceeded, limits

_NAMED: Final = ("record", "error", "enum", "fixed")


def checked_schema(text: str | bytes, name: str, bounds: Limits | None = None) -> Any:
    """Return the parsed Avro schema. Raises ValueError if the schema is recursive or contains a type that is encoded in
    zero bytes. Raises `LimitExceeded` if the schema is too deep or too large.

    `name` is the name of the file in error messages.
    """
    schema = parse_json(text)
    _Check(name, bounds or limits()).width(schema, "", 0, frozenset())
    return schema


class _Check:
    def __init__(self, name: str, bounds: Limits) -> None:
        self._name = name
        self._bounds = bounds
        self._types = 0
        self._known: dict[str, tuple[Any, str]] = {}

    def width(self, kind: Any, space: str, depth: int, within: frozenset[str]) -> int:
        """Return the size of the shortest encoding of this type, in bytes. `within` contains the named types that
        enclose this type, to detect recursion.
        """
        self._types += 1
        if depth > self._bounds.schema_depth:
            raise exceeded(self._name, f"its schema is nested deeper than {depth - 1} levels", "schema_depth")
        if self._types > self._bounds.schema_types:
            raise exceeded(self._name, f"its schema has more than {self._types - 1} types", "schema_types")
        if isinstance(kind, list):
            return self._union(kind, space, depth, within)
        if isinstance(kind, Mapping):
            return self._complex(kind, space, depth, within)
        if not isinstance(kind, str):
            raise ValueError(f"its schema has {str(kind)[:50]!r} where a type must be")
        return self._named(kind, space, depth, within)

    def _union(self, branches: list[Any], space: str, depth: int, within: frozenset[str]) -> int:
        for branch in branches:
            if branch != "null":  # null has no bytes, but the branch number of the union takes one
                self.width(branch, space, depth + 1, within)
        return 1

    def _named(self, kind: str, space: str, depth: int, within: frozenset[str]) -> int:
        full = kind if "." in kind else f"{space}.{kind}" if space else kind
        full = full if full in self._known else kind
        if full not in self._known:
            if kind == "null":
                raise ValueError("its schema has a type that takes no bytes (null outside a union)")
            return 1  # a primitive type; the decoder refuses unknown names
        if full in within:
            raise ValueError(f"its schema is recursive (in {full})")
        return self.width(*self._known[full], depth + 1, within)

    def _complex(self, kind: Mapping[str, Any], space: str, depth: int, within: frozenset[str]) -> int:
        what = kind.get("type")
        if what in _NAMED:
            space, full = _full_name(kind, space)
            self._known[full] = (kind, space)
            within |= {full}
        match what:
            case "record" | "error":
                fields = kind.get("fields")
                if not isinstance(fields, list) or not fields:
                    raise ValueError("its schema has a record without fields")
                return sum(self.width(field["type"], space, depth + 1, within) for field in fields)
            case "fixed":
                if not isinstance(kind.get("size"), int) or kind["size"] < 1:
                    raise ValueError("its schema has a fixed type without bytes")
                return int(kind["size"])
            case "array" | "map":
                self.width(kind.get("items" if what == "array" else "values"), space, depth + 1, within)
                return 1
            case "enum":
                return 1
        return self.width(what, space, depth + 1, within)


def _full_name(kind: Mapping[str, Any], space: str) -> tuple[str, str]:
    name = kind.get("name")
    if not isinstance(name, str):
        raise ValueError("its schema has a named type without a name")
    if "." in name:
        return name.rpartition(".")[0], name
    own = kind.get("namespace", space) or ""
    return own, f"{own}.{name}" if own else name
