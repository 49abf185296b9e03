"""Builds a timeline from the paths in a listing, and reuses the timeline built for an earlier listing.

Caching never changes a result, because a timeline depends only on the listed paths. Caching saves time, because a long
history is listed many times, and each listing adds only a few files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from ..errors import Unsupported
from .archive_files import newest_of
from .instant import Instant, is_layout_1, parse_instant
from .timeline import FOLDER, Timeline

REMEMBERED: Final = 4
"""The number of cached listings, about one for each table in use."""


class Listing(NamedTuple):
    """The paths in a listing, and the timeline built from them."""

    paths: frozenset[str]
    timeline: Timeline


_LAST: list[Listing] = []
"""Newest first. The content is replaced in one atomic step, so threads need no lock."""


def timeline_of(paths: Iterable[str]) -> Timeline:
    """Build a timeline from the paths in and below the timeline folder. Raises `Unsupported` if the listing contains
    instants of timeline layout 1.
    """
    listed = frozenset(paths)
    cached = max((each for each in _LAST if each.paths <= listed), key=lambda each: len(each.paths), default=_NOTHING)
    if len(cached.paths) == len(listed):
        return cached.timeline
    new = listed - cached.paths
    archived = cached.timeline.archived or any(map(_in_archive, new))
    timeline = cached.timeline.with_states(_instants(new), archived)
    newest = max(map(newest_of, filter(_in_archive, new)), default="")
    if newest > timeline.newest_archived:
        timeline = replace(timeline, newest_archived=newest)
    _LAST[:] = [Listing(listed, timeline), *(each for each in _LAST if each is not cached)][:REMEMBERED]
    return timeline


_NOTHING: Final = Listing(frozenset(), Timeline())


def _in_archive(path: str) -> bool:
    return path.endswith(".parquet") and path.rpartition("/")[0] != FOLDER


def _instants(paths: Iterable[str]) -> Iterator[Instant]:
    for path in paths:
        folder, _, name = path.rpartition("/")
        if folder != FOLDER:
            continue  # the archive's folder
        if instant := parse_instant(name):
            yield instant
        elif is_layout_1(name):
            raise Unsupported(
                "read the timeline",
                f"its instant {name} has no completion time (timeline layout 1)",
                "upgrade the table with Apache Hudi 1.x first",
            )
