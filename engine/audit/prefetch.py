"""Reads many small objects in several threads, to hide the latency of a remote store or a slow disk."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final

from ..storage import Storage

READERS: Final = 16
PATHS: Final = 32
"""How many objects a thread reads in one task."""


def prefetch(storage: Storage, paths: Iterable[str]) -> Iterator[bytes | None]:
    """Yield the content of each object in the order of `paths`, or None if the object does not exist. The iterator
    keeps a few hundred objects in memory at a time.
    """
    remaining = iter(paths)
    batches = iter(lambda: tuple(islice(remaining, PATHS)), ())
    with ThreadPoolExecutor(READERS, thread_name_prefix="prefetch") as pool:
        tasks = deque(pool.submit(_read, storage, batch) for batch in islice(batches, READERS))
        while tasks:
            contents = tasks.popleft().result()
            # One for one, after the oldest is taken: that bounds the memory for any number of paths.
            tasks.extend(pool.submit(_read, storage, batch) for batch in islice(batches, 1))
            yield from contents


def _read(storage: Storage, paths: Sequence[str]) -> list[bytes | None]:
    return [_get(storage, path) for path in paths]


def _get(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.get(path)
    except FileNotFoundError:
        return None
