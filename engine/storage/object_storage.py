"""The storage protocol over obstore: every object store by the same code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, GenericError
from obstore.exceptions import NotFoundError as ObstoreNotFound
from obstore.store import from_url

from ..errors import BadInput
from .conditional import ConditionalObject, StoreObject
from .protocol import Entry, NotFound

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_ABSENT = (FileNotFoundError, ObstoreNotFound)

TRANSIENT: Final = (OSError, BaseError)
"""What a store may raise now and not the next time: whoever asks again and again goes on."""


class ObjectStorage:
    """A table's root in any store that obstore can open.

    Atomicity of `put_if_absent`: obstore sends a conditional put to an object store, and stages the bytes and links
    them into place on a file system; either way nobody sees a part of an object.
    """

    def __init__(self, url: str, options: Mapping[str, Any] | None = None) -> None:
        self.url = url
        self._options = dict(options or {})
        self._store: ObjectStore | None = None

    def __reduce__(self) -> tuple[type[ObjectStorage], tuple[str, dict[str, Any]]]:
        return type(self), (self.url, self._options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _reach(self) -> ObjectStore:
        """The store, opened when it is first needed."""
        if self._store is None:
            self._store = self._open()
        return self._store

    def _open(self) -> ObjectStore:
        try:
            return from_url(self.url, **self._options)
        except GenericError as unfit:
            said = str(unfit).partition("\n")[0].rstrip(".")
            remedy = "give a path, or a URL of file:, s3:, gs:, az: or https:"
            raise BadInput(f"open {self.url}", f"the store answered: {said}", remedy) from unfit

    def put_if_absent(self, path: str, data: bytes) -> bool:
        try:
            obstore.put(self._reach(), path, data, mode="create")
        except AlreadyExistsError:
            return False
        return True

    def put(self, path: str, data: bytes) -> None:
        obstore.put(self._reach(), path, data, mode="overwrite")

    def get(self, path: str) -> bytes:
        try:
            return bytes(obstore.get(self._reach(), path).bytes())
        except _ABSENT:
            raise NotFound(path) from None

    def list(self, prefix: str) -> list[Entry]:
        pages = obstore.list(self._reach(), prefix or None)
        return sorted(
            Entry(found["path"], found["size"], found["last_modified"].timestamp())
            for page in pages
            for found in page
            if not is_checksum(found["path"].rpartition("/")[2])
        )

    def delete(self, path: str) -> None:
        self._remove(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        if paths:
            self._remove(list(paths))

    def conditional_object(self, path: str) -> ConditionalObject:
        return StoreObject(self._reach, self.url, path)

    def _remove(self, path: str | Sequence[str]) -> None:
        try:
            obstore.delete(self._reach(), path)
        except _ABSENT:
            return


def is_checksum(name: str) -> bool:
    """Whether a file of that name is the Hadoop checksum side file of another, which a copied table may still have."""
    return name[:1] == "." and name[-4:] == ".crc"
