"""Loads the active timeline, and a settled one for reads."""

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
    """The timeline by one listing, without instants that restores have undone. `Unsupported` for layout 1."""
    paths, torn = _listing(storage)
    timeline = timeline_of(paths)
    restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
    if restores:
        timeline = timeline.without_undone(load_restore_plan(storage, each) for each in restores)
    if not torn:
        return timeline
    return replace(timeline, torn=tuple(i for i in timeline.completed if f"{FOLDER}/{i.file_name}" in torn))


def _listing(storage: Storage) -> tuple[Sequence[str], Collection[str]]:
    """The paths in the timeline's folder, and those of torn files (empty or truncated).

    In an object store only an empty object is torn, because puts are atomic. On a file system each completed instant
    that is new to this process is read once.
    """
    if not isinstance(storage, LocalStorage):
        entries = storage.list(FOLDER)
        return [entry.path for entry in entries], {entry.path for entry in entries if not entry.size}
    paths, sound = storage.paths(FOLDER), _SOUND.setdefault(storage.url, set())
    torn: set[str] = set()
    for path in paths:
        if path in sound or (instant := parse_instant(path.rpartition("/")[2])) is None or not instant.completed:
            continue
        with suppress(NotFound):  # archived or undone after the listing
            (sound if is_whole(storage.get(path)) else torn).add(path)
    return paths, torn


_SOUND: Final[dict[str, set[str]]] = {}
"""URL of a local table -> its completed instants that were read and whole. They never change."""


def load_settled(
    storage: Storage, rules: Rules = NBCC, now: str | None = None, commits: Commits | None = None
) -> Timeline:
    """A timeline that contains every instant completed by some time T, and no later one.

    One listing may show a late publication and miss an earlier one. So T is the greatest completion of a first
    listing: every instant that completed by T was published before T, so a second listing shows it. Instants that are
    archived meanwhile are in the archive, which `commits` reads after each listing. `Rules(listing="once")` uses the
    first listing; `Rules(read_time="clock")` uses `now` for T, settled or not.
    """
    listed = list_once(storage, rules, commits)
    time = read_time(listed, rules, now)
    if lists_twice(rules):
        listed = list_again(listed, time, storage, rules, commits)
    return listed.until(time)


def list_again(listed: Timeline, time: str, storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """List again until the listing misses nothing that the one before showed as completed by `time`.

    A restore may delete instants during a listing, which then shows some of them, and perhaps not its plan. The next
    listing shows the plan.
    """
    again = list_once(storage, rules, commits)
    while again.misses(listed, time):
        listed, again = again, list_once(storage, rules, commits)
    return again


def list_once(storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """The timeline by one listing, joined with the archive if the rules say so."""
    if commits is None or rules.files == "directory":
        return load(storage)
    if rules.archive_lookup == "never":
        return replace(load(storage), archived=False)
    return commits.whole(load(storage))


def read_time(listed: Timeline, rules: Rules, now: str | None) -> str:
    """The time T of a snapshot; '' precedes every completion."""
    if rules.read_time == "clock" and now is not None:
        return now
    return listed.greatest_completion or ""


def lists_twice(rules: Rules) -> bool:
    return rules.listing == "twice"
