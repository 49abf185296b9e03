"""The quarantine: a folder of the table that holds what repairs removed, so that a repair can be undone.

A repair removes files because something is absent, such as the instant of a data file. The absence does not prove that
a write failed: its timeline files may have been removed. Only a purge of the quarantine deletes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..errors import BadInput, Conflict
from ..storage import Entry, NotFound, Storage, confined, put_unique
from ..storage.conditional import ConditionalObject, conditional_object
from ..timeline.timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/quarantine"


@dataclass(frozen=True, slots=True)
class Quarantined:
    """What one repair moved into the quarantine. `name` is the time of the repair; `files` are the paths that the files
    had, data files first; `size` is their total size in bytes.
    """

    name: str
    files: tuple[str, ...]
    size: int


class QuarantiningStorage:
    """A storage wrapper that moves deleted data files and timeline files into the quarantine. Other files, such as
    heartbeats and markers, are deleted.

    `name` is the name of the repair, which is the folder in the quarantine.
    """

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage = storage
        self._name = name

    @property
    def url(self) -> str:
        return self._storage.url

    def list(self, prefix: str) -> list[Entry]:
        return self._storage.list(prefix)

    def get(self, path: str) -> bytes:
        return self._storage.get(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._storage.put_if_absent(path, data)

    def put_in_parts(self, path: str, data: bytes) -> bool:
        return put_unique(self._storage, path, data)

    def put(self, path: str, data: bytes) -> None:
        self._storage.put(path, data)

    def delete(self, path: str) -> None:
        if not path.startswith(".hoodie/") or path.startswith(f"{TIMELINE}/"):
            self._keep(path)
        self._storage.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)

    def conditional_object(self, path: str) -> ConditionalObject:
        return conditional_object(self._storage, path)

    def _keep(self, path: str) -> None:
        try:
            data = self._storage.get(path)
        except NotFound:
            return
        self._storage.put(f"{FOLDER}/{self._name}/{confined(path)}", data)


def quarantined(storage: Storage) -> tuple[Quarantined, ...]:
    """Return the content of the quarantine, oldest repair first."""
    files: dict[str, list[Entry]] = {}
    for entry in storage.list(FOLDER):
        name, _, path = entry.path.removeprefix(f"{FOLDER}/").partition("/")
        files.setdefault(name, []).append(entry._replace(path=path))
    return tuple(
        Quarantined(name, tuple(sorted((entry.path for entry in each), key=_order)), sum(entry.size for entry in each))
        for name, each in sorted(files.items())
    )


def find_quarantined(storage: Storage, name: str, verb: str) -> Quarantined:
    """Return the part of the quarantine with the given name. Raises `BadInput` if there is none."""
    parts = quarantined(storage)
    for part in parts:
        if part.name == name:
            return part
    names = ", ".join(part.name for part in parts)
    exists = f"the quarantine has {names}" if names else "the quarantine is empty"
    raise BadInput(f"{verb} the quarantine {name}", exists, "use one of these names" if names else "leave it out")


def put_back(storage: Storage, part: Quarantined) -> None:
    """Move the files of a repair back to their paths. Raises `Conflict`, and moves nothing, if another file has taken
    one of the paths.
    """
    contents = {path: storage.get(f"{FOLDER}/{part.name}/{path}") for path in part.files}
    for path, data in contents.items():
        if _content(storage, path) not in (None, data):
            asked, exists = f"put back the quarantine {part.name}", f"{path} exists, with other content"
            raise Conflict(asked, exists, "compare the two, and move the one away that is wrong")
    for path, data in contents.items():
        storage.put_if_absent(path, data)
    purge(storage, part)


def purge(storage: Storage, part: Quarantined) -> None:
    """Delete the files of a repair for good."""
    storage.delete_all([f"{FOLDER}/{part.name}/{path}" for path in part.files])


def _order(path: str) -> tuple[bool, str]:
    return path.startswith(".hoodie/"), path  # data files go back before the instants that list them


def _content(storage: Storage, path: str) -> bytes | None:
    try:
        return storage.get(path)
    except NotFound:
        return None
