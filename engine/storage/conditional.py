"""Conditional replacement of one object of a table's storage: put if absent, put if unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import obstore
from obstore.exceptions import AlreadyExistsError, NotFoundError, NotSupportedError, PreconditionError

from ..errors import Unsupported
from .flock import locked
from .protocol import Storage


class Version(NamedTuple):
    """One version of an object: its content, the store's name for it, and when it was put (epoch milliseconds)."""

    data: bytes
    mark: Any = None
    modified_ms: int = 0


class ConditionalObject(Protocol):
    """An object of a store that can compare before it replaces."""

    def read(self) -> Version | None:
        """The current version; None if there is no object."""
        ...

    def write(self, data: bytes, known: Version | None) -> bool:
        """Replace the version `known` (None: no object). False if the store answers that it holds another version."""
        ...


@runtime_checkable
class ConditionalStorage(Protocol):
    """A storage with conditional replacement."""

    def conditional_object(self, path: str) -> ConditionalObject:
        """The object at `path`, which need not exist."""
        ...


def conditional_object(storage: Storage, path: str) -> ConditionalObject:
    """The object at `path` of the table's own storage; `Unsupported` if that cannot compare before it replaces."""
    if isinstance(storage, ConditionalStorage):
        return storage.conditional_object(path)
    raise _unsupported(f"{storage.url}/{path}")


class LocalObject:
    """An object of a local file system, compared and renamed under a `flock`.

    It excludes the processes of one machine that use this class, and no others.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Version | None:
        try:
            with self._path.open("rb") as file:
                return Version(file.read(), None, os.fstat(file.fileno()).st_mtime_ns // 1_000_000)
        except FileNotFoundError:
            return None

    def write(self, data: bytes, known: Version | None) -> bool:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self._path.with_name(f".{self._path.name}.guard")):
            found = self.read()
            if (found and found.data) != (known and known.data):
                return False
            staged = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            try:
                staged.write_bytes(data)
                staged.replace(self._path)
            except OSError:
                staged.unlink(missing_ok=True)
                raise
            return True


class StoreObject:
    """An object of an object store, by conditional puts. `reach` returns the opened store."""

    def __init__(self, reach: Callable[[], Any], url: str, path: str) -> None:
        self._reach, self._name, self._path = reach, f"{url}/{path}", path

    def read(self) -> Version | None:
        try:
            found = obstore.get(self._reach(), self._path)
        except (FileNotFoundError, NotFoundError):
            return None
        mark = {"e_tag": found.meta["e_tag"], "version": found.meta.get("version")}
        named = {name: value for name, value in mark.items() if value is not None}
        return Version(bytes(found.bytes()), named, int(found.meta["last_modified"].timestamp() * 1000))

    def write(self, data: bytes, known: Version | None) -> bool:
        if known is not None and not known.mark:
            raise _unsupported(self._name)
        try:
            obstore.put(self._reach(), self._path, data, mode="create" if known is None else known.mark)
        except (AlreadyExistsError, PreconditionError):
            return False
        except (NotSupportedError, NotImplementedError):
            raise _unsupported(self._name) from None
        return True


def _unsupported(name: str) -> Unsupported:
    return Unsupported(
        f"replace {name} only if it is unchanged",
        "this store has no conditional update",
        "set hoodie.write.lock.provider=NumberedLockProvider, which needs put-if-absent only",
    )
