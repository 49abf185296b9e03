"""From the paths of a listing to a timeline. What a listing shares with the last one was worked out then.

A timeline is a function of its paths and of nothing else: what is remembered saves work and never an answer. A table
with a long history is listed again and again, and shows a few files more each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from ..errors import Unsupported
from .instant import Instant, is_layout_1, parse_instant
from .timeline import FOLDER, Timeline

REMEMBERED: Final = 4
"""So many listings; a process rarely works on more tables at once."""


class Listing(NamedTuple):
    """The paths of a listing, and what they add up to."""

    paths: frozenset[str]
    timeline: Timeline


_LAST: list[Listing] = []
"""Newest first. Only ever replaced by a new list's content in one step, so that threads need no lock."""


def timeline_of(paths: Iterable[str]) -> Timeline:
    """What lies in the timeline's folder and below it, as a timeline. Raises `Unsupported` for instants of layout 1."""
    seen = frozenset(paths)
    known = max((each for each in _LAST if each.paths <= seen), key=lambda each: len(each.paths), default=_NOTHING)
    if len(known.paths) == len(seen):
        return known.timeline
    new = seen - known.paths
    archived = known.timeline.archived or any(map(_in_archive, new))
    timeline = known.timeline.grown(_instants(new), archived)
    _LAST[:] = [Listing(seen, timeline), *(each for each in _LAST if each is not known)][:REMEMBERED]
    return timeline


_NOTHING: Final = Listing(frozenset(), Timeline())


def _in_archive(path: str) -> bool:
    """Whether a path below the timeline's folder is a file of archived instants."""
    return path.endswith(".parquet") and path.rpartition("/")[0] != FOLDER


def _instants(paths: Iterable[str]) -> Iterator[Instant]:
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder != FOLDER:
            continue  # the archive lies below
        if instant := parse_instant(name):
            yield instant
        elif is_layout_1(name):
            raise Unsupported(
                "read the timeline",
                f"its instant {name} has no completion time (timeline layout 1)",
                "upgrade the table with Apache Hudi 1.x first",
            )
