"""A storage that counts what is asked of it, so that a reader can say what it cost."""

from __future__ import annotations

from collections.abc import Sequence

from ..storage import Entry, Storage, confined, confined_folder
from ..storage.conditional import ConditionalObject, conditional_object
from .amounts import several


class CountingStorage:
    """Passes everything on. `listings` and `objects_listed` count `list` and what it returned; `reads` and
    `bytes_read` count `get`.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.listings = self.objects_listed = self.reads = self.bytes_read = 0

    @property
    def url(self) -> str:
        return self._storage.url

    def list(self, prefix: str) -> list[Entry]:
        found = self._storage.list(confined_folder(prefix))
        self.listings += 1
        self.objects_listed += len(found)
        return found

    def get(self, path: str) -> bytes:
        self.reads += 1  # also of what is not there
        data = self._storage.get(confined(path))
        self.bytes_read += len(data)
        return data

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._storage.put_if_absent(confined(path), data)

    def put(self, path: str, data: bytes) -> None:
        self._storage.put(confined(path), data)

    def delete(self, path: str) -> None:
        self._storage.delete(confined(path))

    def delete_all(self, paths: Sequence[str]) -> None:
        self._storage.delete_all([confined(path) for path in paths])

    def conditional_object(self, path: str) -> ConditionalObject:
        return conditional_object(self._storage, path)

    def says(self) -> str:
        """One line: ``listed 43 objects in 3 listings, read 9 (31,209 bytes)``."""
        return (
            f"listed {self.objects_listed:,} objects in {several(self.listings, 'listing')}, "
            f"read {self.reads:,} ({self.bytes_read:,} bytes)"
        )
