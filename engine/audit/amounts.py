"""Formats counts and sizes, and sorts names in natural order."""

from __future__ import annotations

import re


def several(count: int, noun: str) -> str:
    """Return a count with its noun, like ``1 file`` or ``1,200 files``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """Return a size as text, like ``812 B``, ``4.3 kB`` or ``1.2 GB``."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.95 or unit == "TB":
            return f"{amount:.1f} {unit}"
    raise AssertionError("the last unit always returns")


def natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key under which numbers in names are ordered by value: ``month=2`` comes before ``month=10``."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name) if part]
