"""Conditional replacement of one storage object: put if absent, or put if unchanged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import obstore
from obstore.exceptions import AlreadyExistsError, NotFoundError, NotSupportedError, PreconditionError

from ..errors import StorageError, Unsupported
from .failures import of_file_system
from .flock import locked
from .local_files import LocalFiles
from .protocol import Storage


class Version(NamedTuple):
    """One version of an object: its content, the store's tag (`mark`), and its put time in milliseconds since the
    epoch.
    """

    data: bytes
    mark: Any = None
    modified_ms: int = 0


class ConditionalObject(Protocol):
    """A storage object that supports compare-and-swap: a write succeeds only if the object's version is the expected
    one.
    """

    def read(self) -> Version | None:
        """Return the current version of the object; None if there is no object."""
        ...

    def write(self, data: bytes, known: Version | None) -> Version | None:
        """Replace the object if its current version equals `known`, and return the new version. If `known` is None, the
        object must not exist yet.

        If the current version differs from `known`, write nothing and return None.
        """
        ...


@runtime_checkable
class ConditionalStorage(Protocol):
    """A storage that can replace objects conditionally."""

    def conditional_object(self, path: str) -> ConditionalObject:
        """Return the object at `path` as a `ConditionalObject`; the object may not exist yet."""
        ...


def conditional_object(storage: Storage, path: str) -> ConditionalObject:
    """Return the object at `path` in the table's own storage, for conditional writes. Raises `Unsupported` if the
    storage cannot replace objects conditionally.
    """
    if isinstance(storage, ConditionalStorage):
        return storage.conditional_object(path)
    raise _unsupported(f"{storage.url}/{path}")


class LocalObject:
    """A conditional object in a local folder, compared and replaced under a `flock`.

    The `flock` excludes only processes that run on the same machine and use `LocalObject`.
    """

    def __init__(self, root: str, path: str, url: str) -> None:
        self._files, self._path, self._url = LocalFiles(root, durable=False), path, url
        folder, _, name = path.rpartition("/")
        self._guard = f"{folder}/.{name}.guard" if folder else f".{name}.guard"
        self._root = Path(root)

    def read(self) -> Version | None:
        try:
            data = self._files.read(self._path)
            return Version(data, None, (self._root / self._path).stat().st_mtime_ns // 1_000_000)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as refused:
            raise of_file_system("read", self._path, self._url, refused) from refused

    def write(self, data: bytes, known: Version | None) -> Version | None:
        try:
            # This also creates the folder of the guard, and checks that no link leads out of the table.
            self._files.create(self._guard, b"")
            with locked(self._root / self._guard):
                current = self.read()
                # The content is compared, because a file system gives a file no version. Callers never put an earlier
                # content again.
                if (current and current.data) != (known and known.data):
                    return None
                self._files.replace(self._path, data)
                return Version(data)
        except OSError as refused:
            raise of_file_system("replace", self._path, self._url, refused) from refused


class StoreObject:
    """A `ConditionalObject` in an object store. `ask` is the function that sends a request to the store."""

    def __init__(self, ask: Callable[[str, str, Callable[[Any], Any]], Any], url: str, path: str) -> None:
        self._ask, self._name, self._path = ask, f"{url}/{path}", path

    def read(self) -> Version | None:
        try:
            answer = self._ask("read", self._path, self._get)
        except (FileNotFoundError, NotFoundError):
            return None
        return Version(bytes(answer.bytes()), _mark(answer.meta), int(answer.meta["last_modified"].timestamp() * 1000))

    def write(self, data: bytes, known: Version | None) -> Version | None:
        # Without a tag the put would be unconditional and could replace the lease of another writer.
        if known is not None and not known.mark:
            raise _unsupported(self._name)
        mode: Any = "create" if known is None else known.mark
        try:
            done = self._ask("replace", self._path, lambda store: obstore.put(store, self._path, data, mode=mode))
        except (AlreadyExistsError, PreconditionError):
            return None
        except StorageError as refused:
            # The class of obstore's error for a store without conditional updates depends on the store.
            if isinstance(refused.__cause__, (NotSupportedError, NotImplementedError)):
                raise _unsupported(self._name) from None
            raise
        return Version(data, _mark(done))

    def _get(self, store: Any) -> Any:
        return obstore.get(store, self._path)


def _mark(meta: Any) -> dict[str, str]:
    """Return the tags in the store's response that identify the object's version."""
    return {name: meta[name] for name in ("e_tag", "version") if meta.get(name) is not None}


def _unsupported(name: str) -> Unsupported:
    return Unsupported(
        f"replace {name} only if it is unchanged",
        "this store has no conditional update",
        "set hoodie.write.lock.provider=NumberedLockProvider, which needs put-if-absent only",
    )
