"""For a table in a local folder, checks in each Spark task that the executor accesses the driver's disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from ..data.jobs import run_parts
from ..data.tasks import AnyRead
from ..definition.load import PROPERTIES
from ..errors import CannotRun, Missing
from ..storage import NotFound, Storage
from ..timeline import Instant
from ..timeline.timeline import FOLDER
from .worker import host

_ACTIONS: Final = ("deltacommit", "commit", "compaction", "logcompaction")
"""Actions whose tasks put data files."""


class Witness(NamedTuple):
    """A file of the table that the driver has read, with the digest of its content."""

    path: str
    digest: str


def witness_of_instant(storage: Storage, requested: str) -> Witness | None:
    """Return a `Witness` for the ``.requested`` timeline file of an instant; None for an object store."""
    return witness(storage, (f"{FOLDER}/{Instant(requested, action, 'requested').file_name}" for action in _ACTIONS))


def witness(storage: Storage, paths: Iterable[str]) -> Witness | None:
    """Return a `Witness` with the path and digest of the first existing file in `paths`. Return None if no file exists,
    or if the table is not in a local folder.
    """
    if not in_local_folder(storage):
        return None
    for path in paths:
        digest = _digest(storage, path)
        if digest is not None:
            return Witness(path, digest)
    return None


def check_shared(storage: Storage, there: Witness | None) -> None:
    """Raise `CannotRun` unless the file named by `there` has the same content on this task's executor and on the
    driver.
    """
    if there is not None and _digest(storage, there.path) != there.digest:
        raise _other_disk(storage, f"does not have {there.path} as the driver has")


def check_table(storage: Storage) -> None:
    """Raise `CannotRun` if the table is in a local folder and this executor cannot read the table's properties."""
    if in_local_folder(storage) and _digest(storage, PROPERTIES) is None:
        raise _other_disk(storage, f"has no {PROPERTIES}")


def read_shared(storage: Storage, task: AnyRead) -> Iterator[pa.Table]:
    """Yield the rows of a read task, in one or more parts. Raises `CannotRun` if a file is missing because the executor
    does not see the driver's disk.
    """
    try:
        yield from run_parts(storage, task)
    except Missing:
        check_table(storage)
        raise


def _other_disk(storage: Storage, exists: str) -> CannotRun:
    folder = unquote(urlsplit(storage.url).path)
    return CannotRun(
        f"run a task on the table at {storage.url}",
        f"the folder {folder} of the executor on {host()} {exists}, so that it is on another disk",
        "mount one disk at this path on the driver and on every executor, or keep the table in an object store",
    )


def in_local_folder(storage: Storage) -> bool:
    """Return whether the table is in a local folder."""
    return urlsplit(storage.url).scheme == "file"


def _digest(storage: Storage, path: str) -> str | None:
    try:
        return hashlib.sha256(storage.get(path)).hexdigest()
    except NotFound:
        return None
