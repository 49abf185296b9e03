"""How much memory a search may hold, and how much it holds: a search ends by itself before the machine ends it."""

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
"""Of the memory that is free when a search begins, what it takes if nobody sets a bound."""


def held() -> int:
    """The memory that this process holds, in bytes; where the system does not say, the most that it has held."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, IndexError, ValueError):
        return peak_memory()
    return pages * os.sysconf("SC_PAGE_SIZE")


def peak_memory() -> int:
    """The most memory that this process has held, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def free() -> int | None:
    """The memory that processes can still have, in bytes; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = next((line.split()[1] for line in lines if line.startswith("MemAvailable:")), None)
    return int(found) * 1024 if found else None


def is_of_memory(reason: str) -> bool:
    """Whether this is why a search stopped: then it may see more on another machine, or another day."""
    return "GiB" in reason


@contextmanager
def not_collecting() -> Iterator[None]:
    """Without looking for garbage in cycles: among millions of plain numbers and small tuples there are none, and
    it would look at all of them."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


class MemoryBound:
    """`gib` of this process, or a share of what is free now. `reached` looks ahead: a table that is about to grow is
    copied first, and both copies must fit."""

    def __init__(self, gib: float | None) -> None:
        left = free()
        self.asked = gib
        self.bytes = int(gib * GIB) if gib else int(held() + left * SHARE) if left else None

    def reached(self, table: dict[Any, Any]) -> str | None:
        """Why to stop now, None to go on. `table` is the largest that the search holds."""
        if self.bytes is None:
            return None
        size = sys.getsizeof(table)
        # CPython makes a dict twice as large once it holds less than 30 bytes an entry; a tenth earlier is near.
        about_to_grow = len(table) * 33 > size
        if held() + (2 * size if about_to_grow else 0) <= self.bytes:
            return None
        if self.asked:
            return f"more than {self.asked:g} GiB of memory"
        return f"more than {SHARE:.0%} of the memory that was free ({self.bytes / GIB:.1f} GiB)"
