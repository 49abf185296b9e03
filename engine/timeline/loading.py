"""Loads the active timeline. For reads, listings are repeated until the timeline is complete up to a time T."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..rules import NBCC, Rules
from ..storage import LocalStorage, NotFound, Storage
from .container import is_whole
from .instant import parse_instant
from .listing_cache import timeline_of
from .restores import load_restore_plan
from .timeline import FOLDER, Timeline

if TYPE_CHECKING:
    from .commits import Commits


def load(storage: Storage) -> Timeline:
    """Return the timeline shown by one listing, without the instants that restores have undone. Raises `Unsupported`
    for a timeline of layout 1.
    """
    paths, torn = _listing(storage)
    timeline = _from_paths(storage, paths)
    if not torn:
        return timeline
    return replace(timeline, torn=tuple(i for i in timeline.completed if f"{FOLDER}/{i.file_name}" in torn))


def _from_paths(storage: Storage, paths: Sequence[str]) -> Timeline:
    timeline = timeline_of(paths)
    restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
    if restores:
        timeline = timeline.without_undone(load_restore_plan(storage, each) for each in restores)
    return timeline


def load_to_read(storage: Storage) -> Timeline:
    """Load the timeline without checking for torn files, so `torn` is empty. A reader detects a torn file when it
    decodes the file.
    """
    paths = storage.paths(FOLDER) if isinstance(storage, LocalStorage) else [e.path for e in storage.list(FOLDER)]
    return _from_paths(storage, paths)


def _listing(storage: Storage) -> tuple[Sequence[str], Collection[str]]:
    """Return the paths in the timeline folder, and the paths of its torn files (empty or truncated).

    In an object store, puts are atomic, so only empty objects count as torn. To find torn files on a file system, this
    process reads each completed instant's file when the file first appears in a listing.
    """
    if not isinstance(storage, LocalStorage):
        entries = storage.list(FOLDER)
        return [entry.path for entry in entries], {entry.path for entry in entries if not entry.size}
    paths, sound = storage.paths(FOLDER), _SOUND.setdefault(storage.url, set())
    torn: set[str] = set()
    sound.intersection_update(paths)
    for path in paths:
        if path in sound or (instant := parse_instant(path.rpartition("/")[2])) is None or not instant.completed:
            continue
        with suppress(NotFound):  # archived or undone after the listing
            (sound if is_whole(storage.get(path)) else torn).add(path)
    return paths, torn


_SOUND: Final[dict[str, set[str]]] = {}
"""URL of a local table -> the completed instants of the last listing that were read and whole. They never change."""


def load_settled(
    storage: Storage, rules: Rules = NBCC, now: str | None = None, commits: Commits | None = None
) -> Timeline:
    """Return a timeline that contains every instant completed at or before some time T, and no instant completed after
    T.

    Because a single listing may show a newer instant and miss an older one, the timeline is listed twice. T is the
    greatest completion time in the first listing. The second listing shows every instant that completed at or before T.
    Instants archived between the first and the second listing are found in the archive, which `commits` reads after
    each listing. With `Rules(listing="once")`, the timeline is listed only once. With `Rules(read_time="clock")`, `now`
    replaces the greatest completion time, although instants may still complete at or before `now`.
    """
    listed = list_once(storage, rules, commits)
    time = read_time(listed, rules, now)
    if lists_twice(rules):
        listed = list_again(listed, time, storage, rules, commits)
    return listed.until(time)


def list_again(listed: Timeline, time: str, storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """List the timeline again until the listing contains all instants that the previous listing showed as completed at
    or before `time`.

    If a restore deletes instants during a listing, the listing may show some deleted instants but not the restore. The
    next listing shows the restore's plan, which names the deleted instants.
    """
    again = list_once(storage, rules, commits)
    while again.misses(listed, time):
        listed, again = again, list_once(storage, rules, commits)
    return again


def list_once(storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """Return the timeline from one listing, joined with the archive if `rules` require it."""
    if commits is None or rules.files != "listed":
        return load_to_read(storage)
    if rules.archive_lookup == "never":
        return replace(load_to_read(storage), archived=False)
    return commits.whole(load_to_read(storage))


def read_time(listed: Timeline, rules: Rules, now: str | None) -> str:
    """Return the time of the table state that a snapshot query returns; '' if no instant has completed."""
    if rules.read_time == "clock" and now is not None:
        return now
    return listed.greatest_completion or ""


def lists_twice(rules: Rules) -> bool:
    return rules.listing == "twice"
