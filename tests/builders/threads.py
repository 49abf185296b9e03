"""Functions of tests that run at the same time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


def in_threads(count: int, work: Callable[[int], object]) -> None:
    """Call `work` with the numbers below `count`, each in a thread of its own. Raises the first error among them."""
    with ThreadPoolExecutor(count) as pool:
        list(pool.map(work, range(count)))
