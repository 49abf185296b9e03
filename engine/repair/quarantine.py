"""The quarantine: a folder of the table that holds what repairs removed, so that a repair can be undone.

A repair removes files because something is absent, such as the instant of a data file. The absence does not prove that
a write failed: its timeline files may have been removed. Only a purge of the quarantine deletes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ..audit.amounts import several
from ..clock import to_millis
from ..errors import BadInput, Conflict
from ..storage import Entry, NotFound, Storage, StorageWrapper, confined, content_or_none, put_unique
from ..storage.conditional import ConditionalObject, conditional_object
from ..timeline.timeline import FOLDER as TIMELINE

FOLDER: Final = ".hoodie/.nbcc/quarantine"
ADDED: Final = "added"
"""The folder of a repair with copies of the timeline files that it put in the place of others."""
MIN_AGE_MS: Final = 7 * 86_400_000
"""Only a repair of this age may be purged: a missing row is often noticed days later."""


@dataclass(frozen=True, slots=True)
class Quarantined:
    """What one repair moved into the quarantine. `name` is the time of the repair; `files` are the paths that the files
    had, data files first; `size` is their total size in bytes. `added` are the paths of the timeline files that the
    repair put.
    """

    name: str
    files: tuple[str, ...]
    size: int
    added: tuple[str, ...] = ()


class QuarantiningStorage(StorageWrapper):
    """A storage wrapper that moves deleted data files and timeline files into the quarantine. Other files, such as
    heartbeats and markers, are deleted.

    `name` is the name of the repair, which is the folder in the quarantine.
    """

    def __init__(self, storage: Storage, name: str) -> None:
        super().__init__(storage)
        self._name = name

    def put_in_parts(self, path: str, data: bytes) -> bool:
        return put_unique(self.inner, path, data)

    def put(self, path: str, data: bytes) -> None:
        self.inner.put(path, data)
        if path.startswith(f"{TIMELINE}/"):  # the undo of the repair must take it back
            self.inner.put(f"{FOLDER}/{self._name}/{ADDED}/{confined(path)}", data)

    def delete(self, path: str) -> None:
        if not path.startswith(".hoodie/") or path.startswith(f"{TIMELINE}/"):
            self._keep(path)
        self.inner.delete(path)

    def delete_all(self, paths: Sequence[str]) -> None:
        for path in paths:
            self.delete(path)

    def conditional_object(self, path: str) -> ConditionalObject:
        return conditional_object(self.inner, path)

    def _keep(self, path: str) -> None:
        try:
            data = self.inner.get(path)
        except NotFound:
            return
        self.inner.put(f"{FOLDER}/{self._name}/{confined(path)}", data)


def quarantined(storage: Storage) -> tuple[Quarantined, ...]:
    """Return the content of the quarantine, oldest repair first."""
    files: dict[str, list[Entry]] = {}
    for entry in storage.list(FOLDER):
        name, _, path = entry.path.removeprefix(f"{FOLDER}/").partition("/")
        files.setdefault(name, []).append(entry._replace(path=path))
    return tuple(_part(name, each) for name, each in sorted(files.items()))


def _part(name: str, entries: Sequence[Entry]) -> Quarantined:
    prefix = f"{ADDED}/"
    moved = [entry for entry in entries if not entry.path.startswith(prefix)]
    added = tuple(entry.path.removeprefix(prefix) for entry in entries if entry.path.startswith(prefix))
    files = tuple(sorted((entry.path for entry in moved), key=_order))
    return Quarantined(name, files, sum(entry.size for entry in moved), added)


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
        if content_or_none(storage, path) not in (None, data):
            asked, exists = f"put back the quarantine {part.name}", f"{path} exists, with other content"
            raise Conflict(asked, exists, "compare the two, and move the one away that is wrong")
    for path in part.added:
        if content_or_none(storage, path) not in (None, storage.get(f"{FOLDER}/{part.name}/{ADDED}/{path}")):
            asked, exists = f"put back the quarantine {part.name}", f"{path} has changed since the repair"
            raise Conflict(asked, exists, "compare it with the copy in the quarantine")
    for path, data in contents.items():
        storage.put_if_absent(path, data)
    storage.delete_all([path for path in part.added if path not in part.files])
    _delete(storage, part)


def purge(storage: Storage, part: Quarantined, now: str, min_age_ms: int = MIN_AGE_MS) -> None:
    """Delete the files of a repair for good. `now` is a timestamp. Raises `Conflict` if the repair is younger than
    `min_age_ms`.
    """
    age = to_millis(now) - to_millis(part.name)
    if age < min_age_ms:
        exists = (
            f"it is {several(age // 3_600_000, 'hour')} old, and must be {several(min_age_ms // 3_600_000, 'hour')}"
        )
        raise Conflict(f"purge the quarantine {part.name}", exists, "wait, or state another age with --min-age")
    _delete(storage, part)


def _delete(storage: Storage, part: Quarantined) -> None:
    copies = (*part.files, *(f"{ADDED}/{path}" for path in part.added))
    storage.delete_all([f"{FOLDER}/{part.name}/{path}" for path in copies])


def _order(path: str) -> tuple[bool, str]:
    return path.startswith(".hoodie/"), path  # data files go back before the instants that list them
