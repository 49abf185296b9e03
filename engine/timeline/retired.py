"""Remembers the archived instants that no table service needs any more, in a few bytes each."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from typing import Final, NamedTuple

from .index import Key, completion_of
from .instant import COMPLETES_AS, Instant

_KINDS: Final = (
    ("commit", "commit"),
    ("commit", "compaction"),
    ("deltacommit", "deltacommit"),
    ("deltacommit", "logcompaction"),
)
"""The completed actions of retired instants, each with the action that the instant had while it was pending."""

_TIME: Final = re.compile(r"[0-9]{17}")


class _Rows(NamedTuple):
    """One entry for each instant, ordered by requested time: the requested time, the completion time, and the index in
    `_KINDS`.
    """

    requested: array[int]
    completed: array[int]
    kinds: array[int]

    def place(self, requested: int) -> int:
        return bisect_left(self.requested, requested)

    def instant(self, place: int) -> Instant:
        action, _ = _KINDS[self.kinds[place]]
        return Instant(_text(self.requested[place]), action, "completed", _text(self.completed[place]))


_NONE: Final = _Rows(array("q"), array("q"), array("b"))


@dataclass(frozen=True, slots=True)
class RetiredInstants:
    """Archived commits and delta commits that no table service needs any more, ordered by requested time.

    The history of a table grows without limit. A long-lived service process therefore stores 17 bytes for each of these
    instants instead of an `Instant`.
    """

    _rows: _Rows = _NONE

    def adding(self, instants: Iterable[tuple[Instant, str]]) -> tuple[RetiredInstants, set[Key]]:
        """Return these and further instants, each given with the action that it had while it was pending, and the keys
        of those that were added.

        An instant is not added if its times do not have 17 digits, if its actions are not those of a commit or delta
        commit, or if another instant has the same requested time.
        """
        added: set[Key] = set()
        # A copy, because other threads may be reading the value that is extended.
        rows = _Rows(*map(copy, self._rows))
        for instant, begun_as in instants:
            kind, times = (instant.action, begun_as), (instant.requested, completion_of(instant))
            # Only what fits into 17 bytes is stored this way. The caller keeps all others as instants.
            if kind not in _KINDS or not all(map(_TIME.fullmatch, times)):
                continue
            requested, completed = map(int, times)
            place = rows.place(requested)
            # The compact form finds an instant by its requested time alone.
            if rows.requested[place : place + 1] != array("q", [requested]):
                rows.requested.insert(place, requested)
                rows.completed.insert(place, completed)
                rows.kinds.insert(place, _KINDS.index(kind))
                added.add(instant.key)
        return RetiredInstants(rows), added

    def find(self, requested: str, action: str | None = None) -> Instant | None:
        """Return the instant with the given requested time and action; None if it is not retired, or if `requested` is
        not a time. `action` may be a pending action.
        """
        if not _TIME.fullmatch(requested):
            return None
        rows = self._rows
        place = rows.place(int(requested))
        is_there = place < len(rows.requested) and rows.requested[place] == int(requested)
        instant = rows.instant(place) if is_there else None
        is_other = instant is not None and action is not None and instant.action != COMPLETES_AS.get(action, action)
        return None if is_other else instant

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and (found := self.find(key[0])) is not None and found.key == key

    def __len__(self) -> int:
        return len(self._rows.requested)

    def instants(self) -> Iterator[Instant]:
        """Yield the completed instants, ordered by requested time."""
        rows = self._rows
        return map(rows.instant, range(len(rows.requested)))

    def states(self, after: str = "") -> Iterator[Instant]:
        """Yield the timeline states of the instants requested after `after`: completed and, for a (log) compaction,
        requested.
        """
        rows = self._rows
        for place in range(rows.place(int(after or -1) + 1), len(rows.requested)):
            instant = rows.instant(place)
            yield instant
            action, begun_as = _KINDS[rows.kinds[place]]
            if begun_as != action:
                yield Instant(instant.requested, begun_as, "requested")


def _text(time: int) -> str:
    return f"{time:017d}"
