"""How a reader comes by the active timeline, and by one that is settled."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..rules import NBCC, Rules
from ..storage import Storage, paths_below
from .folding import timeline_of
from .restores import load_restore_plan
from .timeline import FOLDER, Timeline

if TYPE_CHECKING:
    from .commits import Commits


def load(storage: Storage) -> Timeline:
    """The timeline by one listing, as its restores leave it. Raises `Unsupported` for instants of layout 1."""
    timeline = timeline_of(paths_below(storage, FOLDER))
    restores = [instant.requested for instant in timeline.instants if instant.action == "restore"]
    return timeline.without_undone(load_restore_plan(storage, each) for each in restores) if restores else timeline


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
