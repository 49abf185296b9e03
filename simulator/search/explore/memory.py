"""Memory bounds: a search stops before the operating system kills the process for lack of memory."""

from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

GIB = 1 << 30
SHARE = 0.8
"""The share of the free memory that a search without a bound may use."""


def held() -> int:
    """Return the resident memory of this process in bytes, or the peak if the operating system does not report the
    current value.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return peak_memory()
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory() -> int:
    """Return the peak memory of this process, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS reports bytes, other systems report KiB.
    return peak if sys.platform == "darwin" else peak * 1024


def free() -> int | None:
    """Return the available memory in bytes, or None if the operating system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return int(found) * 1024 if found else None


def is_of_memory(reason: str) -> bool:
    """True if a search stopped for lack of memory; the search may finish on another machine."""
    return "GiB" in reason


@contextmanager
def without_gc() -> Iterator[None]:
    """Disable Python's cyclic garbage collector within the context.

    A search creates millions of objects without reference cycles. The garbage collector would traverse them repeatedly,
    but could free none of them.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        # A search within a search must leave the collector off for the outer one.
        if collecting:
            gc.enable()


class MemoryBound:
    """A limit on the memory of this process: `gib` GiB, or by default a share of the free memory."""

    def __init__(self, gib: float | None) -> None:
        left = free()
        self.asked = gib
        self.bytes = int(gib * GIB) if gib else int(held() + left * SHARE) if left else None

    def reached(self, growth: int) -> str | None:
        """Return the reason why the search must stop, or None. `growth` is the number of bytes that the search may need
        at once in addition to those in use.
        """
        if self.bytes is None or held() + growth <= self.bytes:
            return None
        if self.asked:
            return f"more than {self.asked:g} GiB of memory"
        return f"more than {SHARE:.0%} of the memory that was free ({self.bytes / GIB:.1f} GiB)"


def growth_of(table: dict[Any, Any]) -> int:
    """Return the bytes that a dictionary needs at once if it grows before the next check, otherwise 0. While it grows,
    its old and its new table need memory at the same time.
    """
    size = sys.getsizeof(table)
    # CPython doubles a dict below 30 bytes an entry; 33 leaves time until the next check.
    return 2 * size if len(table) * 33 > size else 0
