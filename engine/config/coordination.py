"""How the writers of a table keep out of each other's way. It is a property of the table: all of them must agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

SKEW: Final = "hoodie.time.generator.max_expected_clock_skew_ms"


@dataclass(frozen=True, slots=True)
class Coordination:
    """`skew_ms`: how far the clocks of two writers may differ; None: as little as one machine's clock does."""

    skew_ms: int | None = None

    def to_properties(self) -> dict[str, str]:
        """What is not the default, by its name in ``hoodie.properties``."""
        given = {name: getattr(self, field) for name, (field, _) in OPTIONS.items()}
        defaults = {field.name: field.default for field in fields(Coordination)}
        return {name: str(value) for name, value in given.items() if value != defaults[OPTIONS[name][0]]}


ALONE: Final = Coordination()
"""Writers on one machine."""

OPTIONS: Final[Mapping[str, tuple[str, str]]] = {SKEW: ("skew_ms", "a whole number of milliseconds")}
"""Name of a property -> field, and what its values are."""


def coordination_from(values: Mapping[str, str]) -> Coordination:
    """From the properties of a table, others among them; ValueError(property, what it must be)."""
    found: dict[str, Any] = {}
    for name, (field, needed) in OPTIONS.items():
        if (text := values.get(name)) is None:
            continue
        if not text.isdecimal():
            raise ValueError(name, needed)
        found[field] = int(text)
    return Coordination(**found)
