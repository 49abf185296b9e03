"""One object that is only replaced by whoever knows what it holds: put if absent, put if unchanged."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, NotFoundError, PreconditionError
from obstore.store import from_url


class Version(NamedTuple):
    """The content that was read, and what the store calls it."""

    data: bytes
    mark: Any = None


class ConditionalObject(Protocol):
    """An object of a store that can compare before it replaces."""

    def read(self) -> Version | None:
        """Its content; None if there is none."""
        ...

    def write(self, data: bytes, known: Version | None) -> bool:
        """Replace what was `known` (None: nothing); False, and nothing changed, if it holds something else by now."""
        ...


class LocalObject:
    """On a local file system: compared and renamed under a `flock`, which the operating system gives back for the dead.

    A machine's own processes see one object; whoever writes it without the flock is not kept out between the two.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Version | None:
        try:
            return Version(self._path.read_bytes())
        except FileNotFoundError:
            return None

    def write(self, data: bytes, known: Version | None) -> bool:
        import fcntl

        self._path.parent.mkdir(parents=True, exist_ok=True)
        guard = os.open(self._path.with_name(f".{self._path.name}.guard"), os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.flock(guard, fcntl.LOCK_EX)
            if self.read() != known:
                return False
            staged = self._path.with_name(f".{self._path.name}.{os.getpid()}")
            staged.write_bytes(data)
            staged.replace(self._path)
            return True
        finally:
            os.close(guard)


class StoreObject:
    """In an object store, by conditional puts."""

    def __init__(self, store: Any, path: str) -> None:
        self._store, self._path = store, path

    def read(self) -> Version | None:
        try:
            found = obstore.get(self._store, self._path)
        except (FileNotFoundError, NotFoundError):
            return None
        mark = {"e_tag": found.meta["e_tag"], "version": found.meta.get("version")}
        return Version(bytes(found.bytes()), {name: value for name, value in mark.items() if value is not None})

    def write(self, data: bytes, known: Version | None) -> bool:
        try:
            obstore.put(self._store, self._path, data, mode="create" if known is None else known.mark)
        except (AlreadyExistsError, PreconditionError):
            return False
        return True


def conditional_object(url: str, path: str) -> ConditionalObject:
    """The object at `path` below a table's url."""
    if url.startswith("file:"):
        return LocalObject(Path(unquote(urlsplit(url).path)) / path)
    return StoreObject(from_url(url), path)
