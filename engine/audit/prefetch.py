"""Reading many small objects: a store that is far away, or a slow disk, is waited for by several at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Final

from ..storage import Storage

READERS: Final = 16
PATHS: Final = 32
"""How many objects a reader gets in one go."""


def prefetch(storage: Storage, paths: Iterable[str]) -> Iterator[bytes | None]:
    """The content of each path in turn, None where nothing lies; a few hundred objects are held at a time."""
    left = iter(paths)
    some = iter(lambda: tuple(islice(left, PATHS)), ())
    with ThreadPoolExecutor(READERS, thread_name_prefix="read-ahead") as pool:
        coming = deque(pool.submit(_read, storage, each) for each in islice(some, READERS))
        while coming:
            found = coming.popleft().result()
            coming.extend(pool.submit(_read, storage, each) for each in islice(some, 1))
            yield from found


def _read(storage: Storage, paths: Sequence[str]) -> list[bytes | None]:
    return [_get(storage, path) for path in paths]


def _get(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.get(path)
    except FileNotFoundError:
        return None
