"""Whether a table's writers archive by themselves, and how much of the timeline stays active then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

AUTOMATIC: Final = "hoodie.archive.automatic"
LEAST: Final = "hoodie.keep.min.commits"
MOST: Final = "hoodie.keep.max.commits"
OPTIONS: Final = (AUTOMATIC, LEAST, MOST)


class Keeping(NamedTuple):
    """Once more than `most` writes are on the active timeline, all but the newest `least` go. Hudi's own numbers.

    Those whose logs are not compacted yet stay, as ever: a table that nobody compacts keeps them all.
    """

    least: int = 20
    most: int = 30

    def to_properties(self) -> dict[str, str]:
        """What ``hoodie.properties`` says of it."""
        return {AUTOMATIC: "true", LEAST: str(self.least), MOST: str(self.most)}


def keeping_from(values: Mapping[str, str]) -> Keeping | None:
    """What these options or properties say; None: nobody archives unasked, as is the default.

    Raises `ValueError` with the name of an option that has no value of its own, and what would be one.
    """
    automatic = values.get(AUTOMATIC, "false").lower()
    if automatic not in ("true", "false"):
        raise ValueError(AUTOMATIC, "true or false")
    numbers = {}
    for name in (LEAST, MOST):
        if name in values:
            if not values[name].isdecimal() or int(values[name]) < 1:
                raise ValueError(name, "a whole number from 1 on")
            numbers[name] = int(values[name])
    least = numbers.get(LEAST, Keeping().least)
    most = numbers.get(MOST, max(Keeping().most, least + 1))
    if least >= most:
        raise ValueError(MOST if MOST in values else LEAST, f"a number above {LEAST}, which is {least}")
    return Keeping(least, most) if automatic == "true" else None
