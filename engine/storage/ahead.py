"""Sends independent requests of one operation concurrently to an object store, or one after another to a file system.

On a file system, concurrent requests would save no time. The simulator relies on sequential requests, because it
suspends an operation before each storage call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

from .object_storage import ObjectStorage
from .protocol import Entry, Storage
from .requests import in_parallel

T = TypeVar("T")


def together(storage: Storage, calls: Sequence[Callable[[], T]]) -> list[T]:
    """Run calls that access `storage`, and return their results in the order of `calls`. The calls must not depend on
    each other, because an object store receives them concurrently.
    """
    if storage.is_remote and len(calls) > 1:
        return in_parallel(calls)
    return [call() for call in calls]


class ListedAhead(ObjectStorage):
    """An object store that lists the given folders concurrently before the listings are requested. `list` returns the
    prefetched listing of a folder until `forget` is called.

    A writer uses `ListedAhead` under the table's lock, because listing one folder after another would hold the lock
    longer.
    """

    lists_ahead = True

    def __init__(self, storage: ObjectStorage, folders: Sequence[str]) -> None:
        vars(self).update(vars(storage))
        self._storage = storage
        self._listings: dict[tuple[str, str], Future[list[Entry]]] = {}
        for folder in folders:
            self.list_ahead(folder)

    def list(self, prefix: str, after: str = "") -> list[Entry]:
        # Valid until `forget_listings`, because the checks of one operation must see one listing.
        listing = self._listings.get((prefix, after))
        return super().list(prefix, after) if listing is None else listing.result()

    def list_ahead(self, folder: str) -> None:
        after = self._storage.last_seen(folder)
        # A copy of the context, so that the time limit of the lease applies in this thread, too.
        pool = ThreadPoolExecutor(1, thread_name_prefix="nbcc-listing")
        self._listings[folder, after] = pool.submit(copy_context().run, self._storage.list, folder, after)
        # No further task follows: the thread ends with its listing, and nothing waits for it here.
        pool.shutdown(wait=False)

    def forget_listings(self) -> None:
        self._listings.clear()


def listed_ahead(storage: Storage, *folders: str) -> Storage:
    """Return the storage; if it is an object store, start the listings of the given folders."""
    return ListedAhead(storage, folders) if isinstance(storage, ObjectStorage) else storage
