"""A subfolder of a table's storage, accessed as a separate storage. Hudi's metadata table is read through a
`Subfolder`.
"""

from __future__ import annotations

from collections.abc import Sequence

from .paths import confined, confined_folder
from .protocol import Entry, Listable, Storage


class Subfolder(Listable):
    """The storage of the objects below `folder` in another storage. Paths are relative to `folder`."""

    def __init__(self, storage: Storage, folder: str) -> None:
        self._storage = storage
        self._folder = confined(folder)

    @property
    def url(self) -> str:
        return f"{self._storage.url}/{self._folder}"

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._storage.put_if_absent(self._inside(path), data)

    def put(self, path: str, data: bytes) -> None:
        self._storage.put(self._inside(path), data)

    def get(self, path: str) -> bytes:
        return self._storage.get(self._inside(path))

    def list(self, prefix: str) -> list[Entry]:
        inside = f"{self._folder}/{confined_folder(prefix)}".rstrip("/")
        return [entry._replace(path=entry.path[len(self._folder) + 1 :]) for entry in self._storage.list(inside)]

    def delete(self, path: str) -> None:
        self._storage.delete(self._inside(path))

    def delete_all(self, paths: Sequence[str]) -> None:
        self._storage.delete_all([self._inside(path) for path in paths])

    def _inside(self, path: str) -> str:
        return f"{self._folder}/{confined(path)}"
