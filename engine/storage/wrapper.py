"""A storage that forwards its requests to another one."""

from __future__ import annotations

from collections.abc import Sequence

from .protocol import Entry, Listable, Storage


class StorageWrapper(Listable):
    """A storage that forwards every request to the storage `inner`. A subclass does otherwise for some requests."""

    def __init__(self, inner: Storage) -> None:
        self.inner = inner

    @property
    def url(self) -> str:
        return self.inner.url

    def list(self, prefix: str) -> list[Entry]:
        return self.inner.list(prefix)

    def get(self, path: str) -> bytes:
        return self.inner.get(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.inner.put_if_absent(path, data)

    def put(self, path: str, data: bytes) -> None:
        self.inner.put(path, data)

    def delete(self, path: str) -> None:
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        self.inner.delete_all(paths)
