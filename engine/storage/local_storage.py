"""Implements the storage protocol on the local file system, with durable puts.

Local storage starts no threads, so it also works in a child that was forked from a process with an open table.
"""

from __future__ import annotations

import os
import stat
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import groupby
from typing import Any, BinaryIO, Final
from urllib.parse import unquote, urlsplit

from .conditional import ConditionalObject, LocalObject
from .failures import of_file_system
from .local_files import LocalFiles
from .object_storage import is_checksum
from .options import local_options
from .paths import confined, confined_folder
from .protocol import Entry, Listable, NotFound
from .ranged import ByteRange

_HEARTBEATS: Final = ".hoodie/.heartbeat/"
_TEMPORARY: Final = (_HEARTBEATS, ".hoodie/.temp/")
_FOLDERS_OF_ONE: Final = (".hoodie/.temp", ".hoodie/.nbcc/batches")
"""Each instant or batch has a folder of its own below these, which is removed with its last file."""


class LocalStorage(Listable):
    """The storage of a table in a local folder. The first write creates the table's folder.

    Puts and deletes are durable when the call returns, unless the option `durable` is false. Puts of heartbeats are not
    durable, because a heartbeat is useless after a power failure. Deletes of heartbeats and markers are not durable. A
    marker that reappears after a power failure is harmless: it names a published data file, or a file that the next
    rollback deletes.
    """

    may_tear = True

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url
        self._options = dict(options or {})
        self._root = unquote(urlsplit(url).path)
        self._files = LocalFiles(self._root, local_options(self._options))

    def __reduce__(self) -> tuple[type[LocalStorage], tuple[str, dict[str, Any]]]:
        return type(self), (self.url, self._options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    @contextmanager
    def _asked(self, operation: str, path: str, *, of_file: bool = False) -> Iterator[None]:
        """Raise `StorageError` for an error of the file system; `NotFound` if a file is read that does not exist."""
        try:
            yield
        except OSError as refused:
            if of_file and isinstance(refused, FileNotFoundError | NotADirectoryError):
                raise NotFound(path) from None
            raise of_file_system(operation, path, self.url, refused) from refused

    def put_if_absent(self, path: str, data: bytes) -> bool:
        with self._asked("create", path):
            return self._files.create(confined(path), data)

    def put_file(self, path: str, file: BinaryIO) -> bool:
        """Create `path` with the content of an open file; return False if `path` exists."""
        with self._asked("create", path):
            return self._files.create(confined(path), file)

    def put(self, path: str, data: bytes) -> None:
        with self._asked("write", path):
            self._files.replace(confined(path), data, durable=not path.startswith(_HEARTBEATS))

    def get(self, path: str) -> bytes:
        with self._asked("read", path, of_file=True):
            return self._files.read(confined(path))

    def make_durable(self, path: str) -> bool:
        with self._asked("sync", path, of_file=True):
            return self._files.sync(confined(path))

    def get_ranges(self, path: str, ranges: Sequence[ByteRange]) -> list[bytes]:
        """Return the bytes of each range of a file; fewer bytes if the file ends within the range."""
        with self._asked("read", path, of_file=True):
            return self._files.read_ranges(confined(path), ranges)

    def list(self, prefix: str) -> list[Entry]:
        entries = []
        with self._asked("list", prefix):
            for path, entry in self._below(prefix):
                with suppress(FileNotFoundError):  # removed since its folder was read
                    status = entry.stat()
                    entries.append(Entry(path, status.st_size, status.st_mtime))
        return sorted(entries)

    def paths(self, prefix: str) -> Sequence[str]:
        with self._asked("list", prefix):
            return [path for path, _ in self._below(prefix)]

    def sizes_but(self, folder: str) -> tuple[dict[str, int], Sequence[str]]:
        head = f"{folder}/"
        sizes, inside = dict[str, int](), []
        with self._asked("list", ""):
            for path, entry in self._below(""):
                if path.startswith(head):
                    inside.append(path)
                    continue
                try:
                    size = entry.stat().st_size
                except FileNotFoundError:  # removed since its folder was read
                    continue
                sizes[path] = size
        return sizes, inside

    def _below(self, prefix: str) -> Iterator[tuple[str, os.DirEntry[str]]]:
        """Yield the files below a folder, each with its path. Links to folders are skipped, because a link may lead
        outside the root or form a cycle.
        """
        # `has_folder` refuses a link that leads out of the table, which `os.scandir` would follow.
        folders = [prefix] if self._files.has_folder(confined_folder(prefix)) else []
        while folders:
            folder = folders.pop()
            head = f"{folder}/" if folder else ""
            with suppress(FileNotFoundError, NotADirectoryError), os.scandir(f"{self._root}/{folder}") as entries:
                for entry in entries:
                    name = entry.name
                    if not entry.is_file(follow_symlinks=False):  # one question for most entries of a long timeline
                        if entry.is_dir(follow_symlinks=False):
                            folders.append(head + name)
                            continue
                        if entry.is_symlink() and not self._is_linked_file(head + name, entry):
                            continue
                    if not (name[-4:] == ".crc" or "#" in name) or not _is_hidden(name):
                        yield head + name, entry

    def _is_linked_file(self, path: str, entry: os.DirEntry[str]) -> bool:
        try:
            is_folder = stat.S_ISDIR(entry.stat().st_mode)
        except OSError:  # a dangling or circular link
            return False
        if is_folder:
            notice = f"{path} of the table at {self._root} is a link to a folder: files in it are left out of listings"
            warnings.warn(notice, stacklevel=2)
        return not is_folder

    def delete(self, path: str) -> None:
        self.delete_all([path])

    def delete_all(self, paths: Sequence[str]) -> None:
        split = [confined(path).rpartition("/")[::2] for path in paths]
        # Not sorted first: files are deleted in the order that the caller has chosen.
        for folder, names in groupby(split, lambda each: each[0]):
            durable = not f"{folder}/".startswith(_TEMPORARY)
            below = next((above for above in _FOLDERS_OF_ONE if folder.startswith(f"{above}/")), "")
            with self._asked("delete", folder):
                self._files.remove(folder, [name for _, name in names], durable, below)

    def conditional_object(self, path: str) -> ConditionalObject:
        return LocalObject(self._root, confined(path), self.url)


def _is_hidden(name: str) -> bool:
    """Return True for a checksum side file, or for a temporary file of nbcc or obstore (``x#1``)."""
    return is_checksum(name) or ("#" in name and name.partition("#")[2].isdecimal())
