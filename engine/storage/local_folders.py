"""Creates, opens, syncs and removes folders of the local file system."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import Final

CHANGE: Final = os.O_RDONLY | os.O_DIRECTORY
"""The flags that open a folder whose entries change; a folder that was opened by O_PATH cannot be synced."""


def make_folders(path: str, durable: bool) -> None:
    """Create a folder and its missing parents; if `durable`, sync the parent of each new folder."""
    missing = []
    while not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        try:
            os.mkdir(folder)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise
        if durable:
            above = os.open(os.path.dirname(folder), CHANGE)
            try:
                sync_folder(above)
            finally:
                os.close(above)


def sync_folder(folder: int) -> None:
    """Sync a folder's entries if the file system supports it."""
    try:
        os.fsync(folder)
    except OSError as refused:
        # Some network file systems cannot sync a folder. They write its entries on their own.
        if refused.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def opened(above: int, name: str, make: bool, flags: int) -> tuple[int, bool]:
    """Return a descriptor of a subfolder, and True if this call created the subfolder."""
    flags |= os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=above), False
    except FileNotFoundError:
        if not make:
            raise
    # Another process was faster, and the open below decides whether it is a folder.
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=above)
    return os.open(name, flags, dir_fd=above), True


def identity(folder: int) -> tuple[int, int]:
    status = os.fstat(folder)
    return status.st_dev, status.st_ino


def remove_empty(root: str, folder: str, below: str) -> list[str]:
    """Remove `folder` and its parents, as long as they are empty and below the folder `below`. Returns the paths of the
    removed folders. All paths are relative to `root`.
    """
    removed = []
    while folder.startswith(f"{below}/"):
        try:
            os.rmdir(f"{root}/{folder}")
        except OSError:  # it has files, or another process has removed it
            break
        removed.append(folder)
        folder = folder.rpartition("/")[0]
    return removed
