"""Selects leftover files: batch ids that no writer will send again, and markers and heartbeats of instants that have
ended.

An instant that is neither on the timeline nor in the archive was rolled back. The age of a leftover file is measured
against the newest completion time, so files in an idle table do not age.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, NamedTuple

from ..clock import to_instant, to_millis
from ..context import Context
from ..definition.load import open_table
from ..file_names import marked_file
from ..files.record_index import index_files
from ..timeline.heartbeats import FOLDER as HEARTBEATS
from ..timeline.history import Current, History
from ..writes.claims import requests_without_lock
from ..writes.idempotency import FOLDER as BATCHES

MARKERS: Final = ".hoodie/.temp"


class Leftovers(NamedTuple):
    """The leftover files of a table: paths that can be deleted. `files` are data files that no completed instant lists.
    """

    files: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()
    heartbeats: tuple[str, ...] = ()
    batch_ids: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """Return the number of leftover files of each kind."""
        return {kind: len(paths) for kind, paths in self._asdict().items()}


class MarkerPaths(NamedTuple):
    """The paths of the table's markers, heartbeats and batch ids, listed before the timeline."""

    markers: Sequence[str]
    heartbeats: Sequence[str]
    batch_ids: Sequence[str]

    @classmethod
    def of(cls, context: Context) -> MarkerPaths:
        return cls(*(sorted(context.storage.paths(folder)) for folder in (MARKERS, HEARTBEATS, BATCHES)))


def leftovers(
    context: Context, history: History, listing: MarkerPaths, batch_hours: int, leftover_seconds: int
) -> Leftovers:
    """Return the leftover files of a table. The caller must first create `listing`, and then list the timeline under
    the lock.
    """
    timeline = history.current
    newest = timeline.greatest_completion
    if newest is None:
        return Leftovers()
    bound = _before(newest, leftover_seconds * 1000)
    markers = dict(_ended(timeline, listing.markers, bound))
    files = set[str]()
    for path, requested in markers.items():
        file = marked_file(requested, path)
        # A writer that died after its commit has left the markers of committed files.
        if file is not None and file not in _listed(context, history, requested):
            files.add(file)
    beats = (path for path, _ in _ended(timeline, listing.heartbeats, bound))
    passed = history.active.newest_archived if requests_without_lock(context) else "~"
    ids = _batch_ids(history, listing.batch_ids, _before(newest, batch_hours * 3_600_000), passed)
    return Leftovers(tuple(sorted(files)), tuple(markers), tuple(beats), tuple(ids))


def lost_locations(context: Context, history: History, leftover_seconds: int) -> tuple[str, ...]:
    """Return the files of the record index whose write was undone. The caller holds the lock. The files with which the
    index was built have no write; while it is being built, they are newer than all that has completed.
    """
    newest, files = history.current.greatest_completion, index_files(context.storage)
    if newest is None or not files:
        return ()
    bound, index = _before(newest, leftover_seconds * 1000), open_table(context.storage).record_index
    built = index.built if index else ""
    return tuple(f.path for f in files if f.instant < bound and f.instant != built and not history.at(f.instant))


def _before(time: str, millis: int) -> str:
    return to_instant(max(to_millis(time) - millis, 0))


def _ended(timeline: Current, paths: Iterable[str], bound: str) -> Iterator[tuple[str, str]]:
    """Yield the path and the requested time of each marker or heartbeat whose instant was requested before `bound` and
    is no longer pending. An instant that the timeline does not contain is retired or was undone.
    """
    for path in paths:
        requested = path.split("/")[2]
        # Also true if there is no instant of that time.
        if requested < bound and all(instant.completed for instant in timeline.at(requested)):
            yield path, requested


def _listed(context: Context, history: History, requested: str) -> frozenset[str]:
    done = (instant for instant in history.at(requested) if instant.writes)
    return frozenset(stat.path for instant in done for stat in context.commits.commit(instant).stats)


def _batch_ids(history: History, paths: Iterable[str], bound: str, passed: str) -> Iterator[str]:
    """Yield the batch id files of writes that were undone, or that completed before `bound`. A write that is not on the
    timeline was undone only if it was requested before `passed`: its writer may put the id before the request.

    `paths` are ordered by batch. No batch id file is deleted while a write of its batch is pending, because the
    pending write reads all files of the batch.
    """
    for _, batch in groupby(paths, key=lambda path: path.rpartition("/")[0]):
        attempts = [(path, history.write_at(path.rpartition("/")[2])) for path in batch]
        if not any(instant is not None and not instant.completed for _, instant in attempts):
            for path, instant in attempts:
                requested = path.rpartition("/")[2]
                if requested < passed if instant is None else (instant.completed or "") < bound:
                    yield path
