"""Counts and sizes in words."""

from __future__ import annotations


def several(count: int, what: str) -> str:
    """``1 file``, ``1,200 files``."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def size(count: int) -> str:
    """``812 B``, ``4.3 kB``, ``1.2 GB``."""
    if count < 1000:
        return f"{count} B"
    amount = float(count)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.95 or unit == "TB":
            return f"{amount:.1f} {unit}"
    raise AssertionError("the last unit always returns")
