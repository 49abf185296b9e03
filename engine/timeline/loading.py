"""Lists the active timeline."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from ..errors import Unsupported
from ..storage import NotFound, Storage
from .archive_files import newest_of
from .container import is_whole
from .history import Active
from .instant import Instant, is_layout_1, parse_instant
from .restores import load_restore_plan
from .state_checkpoint import sound_paths
from .timeline import FOLDER, INDEXED, Timeline

_MANY: Final = 300
"""The number of new timeline files from which a writer looks for a state checkpoint: looking takes as long as reading
the instants of about ten.
"""


class Listings:
    """Lists the timeline of one table, and remembers the last listing. Each listing of a long history adds only a few
    files, and a timeline depends only on the listed paths, so the next timeline is made from the last one.

    `sound` contains the paths of the local completed instants that were read and are whole, by this process or for a
    state checkpoint. They never change.
    `_unread` contains the other paths of the last listing, whose files no check reads.
    """

    def __init__(self) -> None:
        self.sound: set[str] = set()
        self._unread: set[str] = set()
        self._last = frozenset[str](), Timeline()  # replaced in one step, so that threads need no lock

    def active(self, storage: Storage) -> Active:
        """Return the timeline shown by one listing, without the instants that restores have undone. Raises
        `Unsupported` for a timeline of layout 1.
        """
        paths, torn = self._listing(storage)
        timeline = self._present(storage, paths)
        if not torn:
            return timeline
        return replace(timeline, torn=tuple(i for i in timeline.completed if f"{FOLDER}/{i.file_name}" in torn))

    def to_read(self, storage: Storage) -> Active:
        """Return the same as `active`, but do not check for torn files, so `torn` is empty. A reader detects a torn
        file when it decodes the file.
        """
        return self._present(storage, storage.paths(FOLDER))

    def _listing(self, storage: Storage) -> tuple[Sequence[str], Collection[str]]:
        """Return the paths in the timeline folder, and the paths of its torn files (empty or truncated).

        In an object store, puts are atomic, so only empty objects count as torn. To find torn files on a file system,
        this process reads each completed instant's file when the file first appears in a listing. The files of a sound
        state checkpoint are not read again: they have been whole, and no power failure can tear them.
        """
        if not storage.may_tear:
            entries = storage.list(FOLDER)
            return [entry.path for entry in entries], {entry.path for entry in entries if not entry.size}
        paths, torn = storage.paths(FOLDER), set[str]()
        # Names that are gone are dropped, so that the sets do not outgrow the listing in a long-lived process.
        self.sound.intersection_update(paths)
        self._unread.intersection_update(paths)
        if len(paths) - len(self.sound) - len(self._unread) > _MANY:
            self.sound.update(sound_paths(storage).intersection(paths))
        for path in paths:
            # Parsing every name of a long timeline again takes as long as listing it.
            if path in self.sound or path in self._unread:
                continue
            instant = parse_instant(path.rpartition("/")[2])
            # Pending files may be empty by design, so nothing can be learnt from reading them.
            if instant is None or not instant.completed:
                self._unread.add(path)
                continue
            with suppress(NotFound):  # archived or undone after the listing
                (self.sound if is_whole(storage.get(path)) else torn).add(path)
        return paths, torn

    def _present(self, storage: Storage, paths: Iterable[str]) -> Active:
        timeline = self.timeline(paths)
        restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
        if restores:
            timeline = timeline.without_undone(load_restore_plan(storage, each) for each in restores)
        return Active(timeline)

    def timeline(self, paths: Iterable[str]) -> Timeline:
        """Build a timeline from the paths in and below the timeline folder. Raises `Unsupported` if the listing
        contains instants of timeline layout 1.
        """
        listed, (before, timeline) = frozenset(paths), self._last
        # A file has disappeared: archived, rolled back or undone. States can only be added to a timeline, so it is
        # built from scratch.
        if not before <= listed:
            before, timeline = frozenset(), Timeline()
        if new := listed - before:
            archives = [newest_of(path) for path in new if path.endswith(".parquet") and not _is_instant(path)]
            marks = [path.removeprefix(INDEXED) for path in new if path.startswith(INDEXED)]
            timeline = replace(
                timeline.with_states(_instants(new), timeline.lacks_archived or bool(archives)),
                newest_archived=max(timeline.newest_archived, *archives, ""),
                indexed=max(timeline.indexed, *marks, ""),
            )
            self._last = listed, timeline
        return timeline


def load(storage: Storage) -> Active:
    """List the active timeline of a table that this process lists once. Otherwise use `Context.active`."""
    return Listings().active(storage)


def _is_instant(path: str) -> bool:
    return path.rpartition("/")[0] == FOLDER  # else in the archive's folder


def _instants(paths: Iterable[str]) -> Iterator[Instant]:
    for path in filter(_is_instant, paths):
        name = path.rpartition("/")[2]
        if instant := parse_instant(name):
            yield instant
        elif is_layout_1(name):
            raise Unsupported(
                "read the timeline",
                f"its instant {name} has no completion time (timeline layout 1)",
                "upgrade the table with Apache Hudi 1.x first",
            )
