"""A storage wrapper that counts requests and read bytes, so that commands can report the counts."""

from __future__ import annotations

from collections.abc import Sequence

from ..storage import Entry, Storage, StorageWrapper, confined, confined_folder, put_unique
from ..storage.conditional import ConditionalObject, conditional_object
from .amounts import several


class CountingStorage(StorageWrapper):
    """A storage wrapper that forwards every call and counts the requests. `listings` and `objects_listed` count the
    calls of `list` and the returned entries. `reads` and `bytes_read` count the calls of `get` and the returned bytes.
    """

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.listings = self.objects_listed = self.reads = self.bytes_read = 0

    def list(self, prefix: str) -> list[Entry]:
        entries = self.inner.list(confined_folder(prefix))
        self.listings += 1
        self.objects_listed += len(entries)
        return entries

    def paths(self, prefix: str) -> Sequence[str]:
        paths = self.inner.paths(confined_folder(prefix))
        self.listings += 1
        self.objects_listed += len(paths)
        return paths

    def sizes_but(self, folder: str) -> tuple[dict[str, int], Sequence[str]]:
        sizes, inside = self.inner.sizes_but(confined_folder(folder))
        self.listings += 1
        self.objects_listed += len(sizes) + len(inside)
        return sizes, inside

    def get(self, path: str) -> bytes:
        self.reads += 1  # a request for a missing object counts, too
        data = self.inner.get(confined(path))
        self.bytes_read += len(data)
        return data

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.inner.put_if_absent(confined(path), data)

    def put_in_parts(self, path: str, data: bytes) -> bool:
        return put_unique(self.inner, confined(path), data)

    def put(self, path: str, data: bytes) -> None:
        self.inner.put(confined(path), data)

    def delete(self, path: str) -> None:
        self.inner.delete(confined(path))

    def delete_all(self, paths: Sequence[str]) -> None:
        self.inner.delete_all([confined(path) for path in paths])

    def conditional_object(self, path: str) -> ConditionalObject:
        return conditional_object(self.inner, path)

    def summary(self) -> str:
        """Return one line like ``listed 43 objects in 3 listings, read 9 (31,209 bytes)``."""
        return (
            f"listed {self.objects_listed:,} objects in {several(self.listings, 'listing')}, "
            f"read {self.reads:,} ({self.bytes_read:,} bytes)"
        )
