"""Functions of tests that run at the same time, and waits for what another thread does."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Call `work` with the numbers below `count`, each in a thread of its own. Raises the first error among them."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))


def within(seconds: float, holds: Callable[[], bool]) -> bool:
    """Return whether `holds` returns True within some seconds."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.005)
    return False
