"""A storage that records its puts and deletes; a dry run simulates them instead of executing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .conditional import ConditionalObject, Version, conditional_object
from .paths import confined, confined_folder
from .protocol import Entry, Listable, NotFound, Storage
from .verified_puts import put_unique


def _nothing(_path: str) -> None:
    ...


class Recording(Listable):
    """The storage of one operation, which records all puts and deletes. `put_paths` and `deleted` list the paths of all
    puts and deletes, in order.

    If `dry_run` is True, nothing is written to `storage`. In a dry run, reads see the simulated puts and deletes, so
    that every operation can run to completion. `deleting` is called with each path before the path is deleted.
    """

    def __init__(self, storage: Storage, dry_run: bool = False, deleting: Callable[[str], None] = _nothing) -> None:
        self._storage = storage
        self._dry = dry_run
        self._deleting = deleting
        self._pretended: dict[str, bytes] = {}
        self.put_paths: list[str] = []
        self.deleted: list[str] = []

    @property
    def url(self) -> str:
        return self._storage.url

    def put_if_absent(self, path: str, data: bytes) -> bool:
        confined(path)
        if not self._dry:
            done = self._storage.put_if_absent(path, data)
        elif done := not self._holds(path):
            self._pretended[path] = data
        if done:
            self.put_paths.append(path)
        return done

    def put_in_parts(self, path: str, data: bytes) -> bool:
        confined(path)
        if self._dry:
            self._pretended[path] = data
        elif not put_unique(self._storage, path, data):
            return False
        self.put_paths.append(path)
        return True

    def put(self, path: str, data: bytes) -> None:
        confined(path)
        if self._dry:
            self._pretended[path] = data
        else:
            self._storage.put(path, data)
        self.put_paths.append(path)

    def get(self, path: str) -> bytes:
        if confined(path) in self._pretended:
            return self._pretended[path]
        if self._dry and path in self.deleted:
            raise NotFound(path)
        return self._storage.get(path)

    def list(self, prefix: str) -> list[Entry]:
        entries = self._storage.list(confined_folder(prefix))
        if not self._dry:
            return entries
        folder = f"{prefix}/" if prefix else ""
        hidden = {*self.deleted, *self._pretended}
        here = [Entry(path, len(data)) for path, data in self._pretended.items() if path.startswith(folder)]
        return sorted([*(entry for entry in entries if entry.path not in hidden), *here])

    def delete(self, path: str) -> None:
        self.delete_all([path])

    def delete_all(self, paths: Sequence[str]) -> None:
        # All paths are validated before the first callback, so that nothing happens for a list with one bad path.
        for path in [confined(path) for path in paths]:
            self._deleting(path)
        if self._dry:
            for path in paths:
                self._pretended.pop(path, None)
        else:
            self._storage.delete_all(paths)
        self.deleted.extend(paths)

    def conditional_object(self, path: str) -> ConditionalObject:
        """Return the object at `path` as a `ConditionalObject`. A dry run simulates its writes."""
        return _Simulated(self, path) if self._dry else conditional_object(self._storage, path)

    def _holds(self, path: str) -> bool:
        if path in self._pretended:
            return True
        folder = path.rpartition("/")[0]
        return path not in self.deleted and any(entry.path == path for entry in self._storage.list(folder))


class _Simulated:
    """A conditional object in a dry run, which no other process replaces."""

    def __init__(self, storage: Recording, path: str) -> None:
        self._storage, self._path = storage, path

    def read(self) -> Version | None:
        try:
            return Version(self._storage.get(self._path))
        except NotFound:
            return None

    def write(self, data: bytes, known: Version | None) -> Version | None:
        current = self.read()
        if (current and current.data) != (known and known.data):
            return None
        self._storage.put(self._path, data)
        return Version(data)
