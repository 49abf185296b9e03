"""How a reader comes by the active timeline, and by one that is settled."""

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
    """The timeline by one listing, as its restores leave it. Raises `Unsupported` for instants of layout 1."""
    paths, torn = _listing(storage)
    timeline = timeline_of(paths)
    restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
    if restores:
        timeline = timeline.without_undone(load_restore_plan(storage, each) for each in restores)
    if not torn:
        return timeline
    return replace(timeline, torn=tuple(i for i in timeline.completed if f"{FOLDER}/{i.file_name}" in torn))


def _listing(storage: Storage) -> tuple[Sequence[str], Collection[str]]:
    """The paths in the timeline's folder, and those of torn files.

    An object store puts whole objects, so that the size in its listing says enough. On a file system each completed
    instant that is new to this process is read once.
    """
    if not isinstance(storage, LocalStorage):
        entries = storage.list(FOLDER)
        return [entry.path for entry in entries], {entry.path for entry in entries if not entry.size}
    paths, sound = storage.paths(FOLDER), _SOUND.setdefault(storage.url, set())
    torn: set[str] = set()
    for path in paths:
        if path in sound or (instant := parse_instant(path.rpartition("/")[2])) is None or not instant.completed:
            continue
        with suppress(NotFound):  # archived or undone since it was listed
            (sound if is_whole(storage.get(path)) else torn).add(path)
    return paths, torn


_SOUND: Final[dict[str, set[str]]] = {}
"""By the address of a table on a file system: the completed instants that were whole. They never change."""


def load_settled(
    storage: Storage, rules: Rules = NBCC, now: str | None = None, commits: Commits | None = None
) -> Timeline:
    """A timeline that holds every instant completed by some T, and no later one.

    One listing may show a late publication and miss an earlier one. So T is the greatest completion of a first
    listing: all that completed by T was published before T was, and is in the second. What an archiver takes off
    meanwhile is in the archive, which `commits` looks into after each listing. `Rules(listing="once")` trusts the
    first; `Rules(read_time="clock")` takes the time `now` for T, settled or not.
    """
    listed = look(storage, rules, commits)
    time = read_time(listed, rules, now)
    if lists_twice(rules):
        listed = look_again(listed, time, storage, rules, commits)
    return listed.until(time)


def look_again(listed: Timeline, time: str, storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """What a reader sees by one listing more, which misses nothing of what the one before had completed by `time`.

    A restore may take instants off while a listing runs, which then shows a part of them, and its plan perhaps not.
    The listing after that shows the plan.
    """
    again = look(storage, rules, commits)
    while again.misses(listed, time):
        listed, again = again, look(storage, rules, commits)
    return again


def look(storage: Storage, rules: Rules, commits: Commits | None) -> Timeline:
    """What a reader sees by one listing and a look into the archive, if its rules have it look there."""
    if commits is None or rules.files == "directory":
        return load(storage)
    if rules.archive_lookup == "never":
        return replace(load(storage), archived=False)
    return commits.whole(load(storage))


def read_time(listed: Timeline, rules: Rules, now: str | None) -> str:
    """The T of a snapshot; '' is before every completion."""
    if rules.read_time == "clock" and now is not None:
        return now
    return listed.greatest_completion or ""


def lists_twice(rules: Rules) -> bool:
    return rules.listing == "twice"
