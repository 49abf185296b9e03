"""Accesses the files below one local folder, with atomic, durable puts and protection against links that lead outside.

The first access to a path opens each folder from the root down without following links. If a path component is a link
to a folder below the root, the access continues in the linked folder. A link that leads outside the root folder is
refused. Later accesses open the folder by its path, and compare its device and inode with those of the first access.

A put is durable when it returns. A put syncs the temporary file before linking it to its final name, and syncs the
folder afterwards. Before the first put into a folder, the folder's parent is synced, even if another process created
the folder. A put of an empty file syncs only the folder.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import BinaryIO, Final, TypeVar

from ..errors import BadInput, UnsafePath
from .local_folders import CHANGE, identity, make_folders, opened, remove_empty, sync_folder
from .paths import REMEDY
from .staged_files import staged, unlinked

T = TypeVar("T")

_SEARCH: Final = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY
_LINK: Final = (errno.ELOOP, errno.ENOTDIR)
_UNFIT: Final = (errno.EEXIST, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP)
_KNOWN: Final = 4096
# Each failed try means that another process has removed the folder again. On a busy machine, ten in a row were seen.
_TRIES: Final = 1000


class LocalFiles:
    """The files below the folder `root`. If `durable` is False, nothing is synced, and a power failure may lose or
    truncate files.
    """

    def __init__(self, root: str, durable: bool = True) -> None:
        self._root = root
        self._durable = durable
        self._walks: dict[tuple[str, bool], tuple[int, int]] = {}  # (folder, for a put) -> its device and inode
        self._known: set[str] = set()  # folders that this process has made durable in their parents

    def create(self, path: str, data: bytes | BinaryIO) -> bool:
        """Create a file atomically; return False if a file of that name exists. `data` is the content, or an open file
        from which the content is read.
        """
        head, _, name = path.rpartition("/")

        def put(folder: int) -> bool:
            if not (_created_empty(folder, name) if not data else self._linked(folder, name, data)):
                return False
            unlinked(folder, checksum_of(name))
            self._sync(folder)
            return True

        return self._put(head, put)

    def replace(self, path: str, data: bytes, durable: bool = True) -> None:
        """Create a file atomically, replacing any existing file of the same name."""
        head, _, name = path.rpartition("/")

        def put(folder: int) -> None:
            stage = staged(folder, data, self._durable and durable)
            try:
                os.rename(stage, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                unlinked(folder, stage)
                raise
            unlinked(folder, checksum_of(name))
            if durable:
                self._sync(folder)

        self._put(head, put)

    def _put(self, head: str, put: Callable[[int], T]) -> T:
        """Call `put` with the open folder `head`, which is created if it is missing. If another process has removed the
        folder because it was empty, try again.
        """
        for tries_left in reversed(range(_TRIES)):
            folder = -1
            try:
                folder = self._open(head, make=True)
                return put(folder)
            except FileNotFoundError:
                # A removed folder has no links. If it still exists, the error concerns another file and repeating
                # cannot help.
                still_exists = folder >= 0 and os.fstat(folder).st_nlink
                if still_exists or not tries_left:
                    raise
            finally:
                if folder >= 0:
                    os.close(folder)
        raise AssertionError("the last try returns or raises")

    def read(self, path: str) -> bytes:
        """Return the content of a regular file. Raises FileNotFoundError if `path` does not exist or is a folder.
        `read` never blocks on a FIFO or a device.
        """
        return self._read(path, _content)

    def sync(self, path: str) -> bool:
        """Write a file to the disk, whichever program created it. Returns False if this object syncs nothing."""
        if self._durable:
            self._read(path, lambda file, _: os.fsync(file))
        return self._durable

    def read_ranges(self, path: str, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of each range (start, end) of a regular file; fewer bytes if the file ends within the range.
        """
        return self._read(path, lambda file, _: [_part(file, start, end) for start, end in ranges])

    def _read(self, path: str, take: Callable[[int, int], T]) -> T:
        head, _, name = path.rpartition("/")
        folder = self._open(head)
        try:
            # Without O_NONBLOCK, opening a pipe would wait for a writer of it.
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        except OSError as refused:
            if refused.errno == errno.ENXIO:  # a socket, or a device without a driver
                raise _irregular(path) from None
            if refused.errno != errno.ELOOP:
                raise
            file = -1
        finally:
            os.close(folder)
        if file < 0:
            return self._read_linked(path, take)
        try:
            status = os.fstat(file)
            if stat.S_ISDIR(status.st_mode):
                raise FileNotFoundError(errno.ENOENT, "it is a folder", path)
            if not stat.S_ISREG(status.st_mode):
                raise _irregular(path)
            return take(file, status.st_size)
        finally:
            os.close(file)

    def remove(self, head: str, names: Iterable[str], durable: bool = True, below: str = "") -> None:
        """Remove files of a folder and their checksum side files; missing files are ignored. If the folder is below
        `below`, it is removed when it is empty.
        """
        try:
            folder = self._open(head, flags=CHANGE)
        except (FileNotFoundError, NotADirectoryError):
            return
        try:
            removed = [unlinked(folder, each) for name in names for each in (name, checksum_of(name))]
            if durable and any(removed):
                self._sync(folder)
        finally:
            os.close(folder)
        if below:
            self._known.difference_update(remove_empty(self._root, head, below))

    def has_folder(self, head: str) -> bool:
        """Return True if the folder `head` exists below the root; raises `UnsafePath` if a link leads outside the root.
        """
        try:
            os.close(self._open(head))
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    def _open(self, head: str, *, make: bool = False, flags: int = _SEARCH) -> int:
        """Return an open descriptor of the folder, which the caller closes."""
        flags = CHANGE if make else flags
        # Device and inode are compared, because a link or another folder may stand at the path by now.
        if head and (first := self._walks.get((head, make))):
            with suppress(OSError):  # the walk below raises the precise error
                folder = os.open(f"{self._root}/{head}", flags | os.O_NOFOLLOW)
                if identity(folder) == first:
                    return folder
                os.close(folder)
            self._known.discard(head)  # another process may have removed it and created it again
        folder = self._safely_walked(head, make, flags)
        if len(self._walks) >= _KNOWN:  # a long-lived writer keeps putting markers into new folders
            self._walks.clear()
        self._walks[head, make] = identity(folder)
        return folder

    def _safely_walked(self, head: str, make: bool, flags: int) -> int:
        try:
            return self._walked(head, make, flags)
        except OSError as refused:
            if refused.errno not in _LINK:
                raise
            resolved = self._resolved(head)  # a link, or a file in the place of a folder
            # Nothing was resolved, so it is a file, and another walk would fail in the same way.
            if resolved == head:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), head) from None
        return self._walked(resolved, make, flags)

    def _walked(self, head: str, make: bool, flags: int) -> int:
        folder = self._open_root(make, flags)
        path = ""
        try:
            for name in head.split("/") if head else ():
                path = f"{path}/{name}"
                below, created = opened(folder, name, make, flags)
                above, folder = folder, below
                try:
                    # Another process may have created the folder and died before it synced the parent.
                    if make and self._durable and (created or path not in self._known):
                        sync_folder(above)
                        self._remember(path)
                finally:
                    os.close(above)
        except BaseException:
            os.close(folder)
            raise
        return folder

    def _open_root(self, make: bool, flags: int) -> int:
        try:
            return os.open(self._root, flags)
        except FileNotFoundError:
            if not make:
                raise
        except NotADirectoryError as unfit:
            if make:
                raise self._unfit(unfit) from unfit
            raise
        try:
            make_folders(self._root, self._durable)
            return os.open(self._root, flags)
        except OSError as unfit:
            if unfit.errno in _UNFIT:
                raise self._unfit(unfit) from unfit
            raise

    def _unfit(self, refused: OSError) -> BadInput:
        return BadInput(f"write below {self._root}", str(refused.strerror), "name a folder that can be made")

    def _resolved(self, path: str) -> str:
        """Return the path below the root that results from following all links in `path`. Raises `UnsafePath` if a link
        leads outside the root.
        """
        root, target = os.path.realpath(self._root), os.path.realpath(f"{self._root}/{path}")
        if target == root:
            return ""
        if not target.startswith(root.rstrip("/") + "/"):
            raise UnsafePath(f"access {path!r}", "a symbolic link in it leads out of the table's folder", REMEDY)
        return target[len(root.rstrip("/")) + 1 :]

    def _read_linked(self, path: str, take: Callable[[int, int], T]) -> T:
        resolved = self._resolved(path)
        if resolved in ("", path):  # the root, or a link that leads to itself
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return self._read(resolved, take)

    def _remember(self, path: str) -> None:
        if len(self._known) >= _KNOWN:
            self._known.clear()
        self._known.add(path)

    def _sync(self, folder: int) -> None:
        if self._durable:
            sync_folder(folder)

    def _linked(self, folder: int, name: str, data: bytes | BinaryIO) -> bool:
        if _exists(folder, name):  # cheaper than a staged file when the name exists
            return False
        stage = staged(folder, data, self._durable)
        try:
            os.link(stage, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            return False
        finally:
            unlinked(folder, stage)
        return True


def checksum_of(path: str) -> str:
    """Return the path of the checksum side file of `path`; if the side file is stale, Java readers refuse `path`
    (docs/hudi-format.md).
    """
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.crc" if folder else f".{name}.crc"


def _exists(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _created_empty(folder: int, name: str) -> bool:
    try:
        os.close(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder))
    except FileExistsError:
        return False
    return True


def _content(file: int, size: int) -> bytes:
    """Return the bytes from the file descriptor's position to the end of the file; `size` is the approximate file size.
    """
    parts = []
    # At least one byte is asked for, so that the loop ends where the file ends and not at its reported size.
    while piece := os.read(file, max(size, 0) + 1):
        parts.append(piece)
        size -= len(piece)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _part(file: int, start: int, end: int) -> bytes:
    """Return the bytes of a file from `start` up to `end`; fewer bytes if the file ends before `end`."""
    parts = []
    while start < end and (piece := os.pread(file, end - start, start)):
        parts.append(piece)
        start += len(piece)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _irregular(path: str) -> UnsafePath:
    """Return the error for a path that leads to a pipe, a socket or a device."""
    exists = "it is a pipe, a socket or a device, not a regular file"
    return UnsafePath(f"read {path!r}", exists, "remove it, or restore the file from a copy that you trust")
