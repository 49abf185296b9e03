"""Independent requests of one operation: in an object store at the same time, elsewhere one after the other.

On a file system they would gain nothing, and the simulator stops an operation before each of its calls.
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
    """The answers of calls that access `storage`, in order. Their order in time matters only if they fail."""
    if isinstance(storage, ObjectStorage) and len(calls) > 1:
        return in_parallel(calls)
    return [call() for call in calls]


class ListedAhead(ObjectStorage):
    """An object store whose listings of some folders have begun. They stay the same until `forget`.

    It is made under a lock, whose holder would list the folders one after the other.
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
        """List again from now on."""
        self._listings.clear()


def listed_ahead(storage: Storage, *folders: str) -> Storage:
    """The storage with listings of these folders under way, if it is an object store."""
    return ListedAhead(storage, folders) if isinstance(storage, ObjectStorage) else storage
