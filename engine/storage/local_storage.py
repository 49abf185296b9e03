"""The local file system. Puts go through obstore, which makes them atomic; for the rest the operating system is asked.

obstore hands every call to threads of its own and makes a dictionary of every file it lists. For an object store that
is nothing beside a request; here it was most of what a small commit took.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from obstore.store import LocalStore

from ..errors import BadInput
from .conditional import ConditionalObject, LocalObject
from .object_storage import ObjectStorage, is_checksum
from .protocol import Entry, NotFound, Storage

if TYPE_CHECKING:
    from obstore.store import ObjectStore


class LocalStorage(ObjectStorage):
    """A table's root in a folder, which the first write makes, and only a write."""

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        super().__init__(url, options)
        self._root = unquote(urlsplit(url).path)

    def _open(self) -> ObjectStore:
        try:
            return LocalStore(self._root, mkdir=True, **self._options)
        except OSError as unfit:  # a file lies there, or above it, or the folder may not be made
            raise BadInput(f"write below {self._root}", str(unfit), "name a folder that can be made") from unfit

    def put_if_absent(self, path: str, data: bytes) -> bool:
        created = super().put_if_absent(path, data)
        if created:
            self._drop_checksum(path)
        return created

    def put(self, path: str, data: bytes) -> None:
        super().put(path, data)
        self._drop_checksum(path)

    def get(self, path: str) -> bytes:
        try:
            with open(f"{self._root}/{path}", "rb", buffering=0) as file:
                return file.read()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            raise NotFound(path) from None

    def list(self, prefix: str) -> list[Entry]:
        found = []
        for path, entry in self._files(prefix):
            with suppress(FileNotFoundError):  # gone since its folder was read
                stat = entry.stat()
                found.append(Entry(path, stat.st_size, stat.st_mtime))
        return sorted(found)

    def paths(self, prefix: str) -> Sequence[str]:
        """Those of `list`, in any order."""
        return [path for path, _ in self._files(prefix)]

    def sizes(self, folder: str) -> tuple[dict[str, int], Sequence[str]]:
        """As `sizes_but`."""
        head = f"{folder}/"
        found, inside = dict[str, int](), []
        for path, entry in self._files(""):
            if path.startswith(head):
                inside.append(path)
                continue
            try:
                found[path] = entry.stat().st_size
            except FileNotFoundError:  # gone since its folder was read
                continue
        return found, inside

    def _files(self, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """What lies below a folder, by its path."""
        folders = [prefix] if os.path.isdir(f"{self._root}/{prefix}") else []
        while folders:
            folder = folders.pop()
            head = f"{folder}/" if folder else ""
            with suppress(FileNotFoundError), os.scandir(f"{self._root}/{folder}") as entries:
                for entry in entries:
                    name = entry.name
                    if entry.is_dir():
                        folders.append(head + name)
                    elif not (name[-4:] == ".crc" or "#" in name) or not _is_hidden(name):
                        yield head + name, entry

    def delete(self, path: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(f"{self._root}/{path}")
        self._drop_checksum(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)

    def conditional_object(self, path: str) -> ConditionalObject:
        return LocalObject(Path(self._root, path))

    def _drop_checksum(self, path: str) -> None:
        """A stale Hadoop side file beside a new object would make Java readers refuse it (hudi-format §1)."""
        with suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(f"{self._root}/{checksum_of(path)}")


def paths_below(storage: Storage, prefix: str) -> Sequence[str]:
    """The paths that a listing shows, in any order: on a file system names cost a fifth of names, sizes and times."""
    if isinstance(storage, LocalStorage):
        return storage.paths(prefix)
    return [entry.path for entry in storage.list(prefix)]


def sizes_but(storage: Storage, folder: str) -> tuple[dict[str, int], Sequence[str]]:
    """By one listing, in any order: the sizes of all objects but those in `folder`, by path; and the paths of those."""
    if isinstance(storage, LocalStorage):
        return storage.sizes(folder)
    entries, head = storage.list(""), f"{folder}/"
    sizes = {entry.path: entry.size for entry in entries if not entry.path.startswith(head)}
    return sizes, [entry.path for entry in entries if entry.path.startswith(head)]


def checksum_of(path: str) -> str:
    """Name of the Hadoop checksum side file of `path`."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.crc" if folder else f".{name}.crc"


def _is_hidden(name: str) -> bool:
    """Whether a file of that name is none of the table's: a side file, or what obstore has not put into place yet."""
    return is_checksum(name) or ("#" in name and name.partition("#")[2].isdecimal())
