"""The storage protocol over obstore: local file system and object stores by the same code."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.exceptions import NotFoundError as ObstoreNotFound
from obstore.store import LocalStore, from_url

from .protocol import Entry, NotFound

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_ABSENT = (FileNotFoundError, ObstoreNotFound)


class ObjectStorage:
    """A table's root in any store that obstore can open.

    Atomicity of `put_if_absent`: obstore stages the bytes and links them into place on a file system, and sends a
    conditional put to an object store; either way nobody sees a part of an object.
    """

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url
        self._options = dict(options or {})
        self._store: ObjectStore | None = None

    def __reduce__(self) -> tuple[type[ObjectStorage], tuple[str, dict[str, Any]]]:
        return ObjectStorage, (self.url, self._options)

    def __repr__(self) -> str:
        return f"ObjectStorage({self.url!r})"

    @cached_property
    def _local(self) -> bool:
        return self.url.startswith("file:")

    def _reach(self, create: bool = False) -> ObjectStore:
        """The opened store. A missing local folder is made by the first write, and only by it."""
        if self._store is None:
            if not self._local:
                self._store = from_url(self.url, **self._options)
            else:
                root = unquote(urlsplit(self.url).path)
                if not create and not os.path.isdir(root):
                    raise NotFound(root)
                self._store = LocalStore(root, mkdir=True, **self._options)
        return self._store

    def put_if_absent(self, path: str, data: bytes) -> bool:
        try:
            obstore.put(self._reach(create=True), path, data, mode="create")
        except AlreadyExistsError:
            return False
        self._drop_checksum(path)
        return True

    def put(self, path: str, data: bytes) -> None:
        obstore.put(self._reach(create=True), path, data, mode="overwrite")
        self._drop_checksum(path)

    def get(self, path: str) -> bytes:
        try:
            return bytes(obstore.get(self._reach(), path).bytes())
        except _ABSENT:
            raise NotFound(path) from None

    def list(self, prefix: str) -> list[Entry]:
        try:
            pages = obstore.list(self._reach(), prefix or None)
        except NotFound:
            return []
        return sorted(
            Entry(found["path"], found["size"], found["last_modified"].timestamp())
            for page in pages
            for found in page
            if not is_checksum(found["path"])
        )

    def delete(self, path: str) -> None:
        self._remove(path)
        self._drop_checksum(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        if self._local:  # there it is one call a file anyway, and the side files go, too
            for path in paths:
                self.delete(path)
        elif paths:
            self._remove(list(paths))

    def _remove(self, path: str | Sequence[str]) -> None:
        try:
            obstore.delete(self._reach(), path)
        except _ABSENT:
            return

    def _drop_checksum(self, path: str) -> None:
        """A stale Hadoop side file beside a new object would make Java readers refuse it (hudi-format §1)."""
        if self._local:
            self._remove(checksum_of(path))


def open_storage(location: str | os.PathLike[str], options: Mapping[str, Any] | None = None) -> ObjectStorage:
    """The store at `location`: a path of the local file system, or a URL (``file:``, ``s3:``, ``gs:``, ``az:``, …).

    `options` go to obstore (credentials, region, …). Nothing is read or created yet.
    """
    text = os.fspath(location)
    parts = urlsplit(text)
    if parts.scheme == "file":
        return ObjectStorage(_local_url(unquote(parts.path)), options)
    if "://" in text:
        return ObjectStorage(text.rstrip("/"), options)
    return ObjectStorage(_local_url(text), options)


def _local_url(path: str) -> str:
    """One spelling for each folder: executors, locks and caches go by it."""
    return Path(path).expanduser().resolve().as_uri()


def checksum_of(path: str) -> str:
    """Name of the Hadoop checksum side file of `path` on a local file system."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.crc" if folder else f".{name}.crc"


def is_checksum(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith(".") and name.endswith(".crc")
