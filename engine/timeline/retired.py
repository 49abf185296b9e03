"""Remembers the archived instants that no table service needs any more, in a few bytes each."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from .instant import Instant
from .timeline import completion_of

_KINDS: Final = (
    ("commit", "commit"),
    ("commit", "compaction"),
    ("deltacommit", "deltacommit"),
    ("deltacommit", "logcompaction"),
)
"""The completed actions of retired instants, each with the action that the instant had while it was pending."""

_TIME: Final = re.compile(r"[0-9]{17}")


class RetiredInstants:
    """Archived commits and delta commits that no table service needs any more, ordered by requested time.

    The history of a table grows without limit. A long-lived service process therefore stores 17 bytes for each of these
    instants instead of an `Instant`.
    """

    def __init__(self) -> None:
        self._requested = array("q")
        self._completed = array("q")
        self._kinds = array("b")

    def add(self, instant: Instant, begun_as: str) -> bool:
        """Add an instant that had the action `begun_as` while it was pending. Return False, and do not add the instant,
        if its times do not have 17 digits, or if another instant has the same requested time.
        """
        kind, completed = (instant.action, begun_as), completion_of(instant)
        is_usual = kind in _KINDS and _TIME.fullmatch(instant.requested) and _TIME.fullmatch(completed)
        if not is_usual or self.find(instant.requested) is not None:
            return False
        place = bisect_left(self._requested, int(instant.requested))
        self._requested.insert(place, int(instant.requested))
        self._completed.insert(place, int(completed))
        self._kinds.insert(place, _KINDS.index(kind))
        return True

    def find(self, requested: str) -> Instant | None:
        """Return the instant with the given requested time; None if it is not retired, or if `requested` is no time."""
        if not _TIME.fullmatch(requested):
            return None
        place = bisect_left(self._requested, int(requested))
        is_there = place < len(self) and self._requested[place] == int(requested)
        return self._at(place) if is_there else None

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and (found := self.find(key[0])) is not None and found.key == key

    def __len__(self) -> int:
        return len(self._requested)

    def instants(self) -> Iterator[Instant]:
        """Yield the completed instants, ordered by requested time."""
        return map(self._at, range(len(self)))

    def states(self, after: str = "") -> Iterator[Instant]:
        """Yield the timeline states of the instants requested after `after`: completed and, for a (log) compaction,
        requested.
        """
        for place in range(bisect_left(self._requested, int(after or -1) + 1), len(self)):
            instant = self._at(place)
            yield instant
            action, begun_as = _KINDS[self._kinds[place]]
            if begun_as != action:
                yield Instant(instant.requested, begun_as, "requested")

    def _at(self, place: int) -> Instant:
        action, _ = _KINDS[self._kinds[place]]
        return Instant(_text(self._requested[place]), action, "completed", _text(self._completed[place]))


def _text(time: int) -> str:
    return f"{time:017d}"
