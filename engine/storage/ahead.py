"""Sends the independent requests of one operation: to an object store concurrently, to a file system one after the
other.

Concurrent requests to a file system would save no time. The simulator needs sequential requests, because it stops an
operation before each of its calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from .object_storage import ObjectStorage
from .parallel import in_parallel
from .protocol import Entry, Storage

T = TypeVar("T")


def together(storage: Storage, calls: Sequence[Callable[[], T]]) -> list[T]:
    """Return the answers of calls that access `storage`, in the order of `calls`. The order in which the calls run
    matters only if a call fails.
    """
    if isinstance(storage, ObjectStorage) and len(calls) > 1:
        return in_parallel(calls)
    return [call() for call in calls]


class ListedAhead(ObjectStorage):
    """An object store whose listings of some folders were already started. A started listing returns the same objects
    until `forget` is called.

    The holder of a lock creates a `ListedAhead`, because it would otherwise list the folders one after the other.
    """

    def __init__(self, storage: ObjectStorage, folders: Sequence[str]) -> None:
        vars(self).update(vars(storage))
        self._listings: dict[tuple[str, str], Future[list[Entry]]] = {}
        pool = ThreadPoolExecutor(len(folders), thread_name_prefix="nbcc-listing")
        for folder in folders:
            after = storage.last_seen(folder)
            listing = pool.submit(copy_context().run, storage.list, folder, after)
            self._listings[folder, after] = listing
        pool.shutdown(wait=False)

    def list(self, prefix: str, after: str = "") -> list[Entry]:
        listing = self._listings.get((prefix, after))
        return super().list(prefix, after) if listing is None else listing.result()

    def forget(self) -> None:
        """Drop the started listings, so that later calls list the folders again."""
        self._listings.clear()


def listed_ahead(storage: Storage, *folders: str) -> Storage:
    """Return the storage; if it is an object store, start the listings of the given folders."""
    return ListedAhead(storage, folders) if isinstance(storage, ObjectStorage) else storage
