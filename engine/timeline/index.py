"""Instants in both orders in which a timeline is queried: by requested time and by completion time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from .instant import Instant

Key = tuple[str, str]
"""Requested time and completed action, which identify an instant."""

_ADVANCE: Final = {"requested": 0, "inflight": 1, "completed": 2}
_MANY: Final = ("commit", "deltacommit")


@dataclass(frozen=True)
class Index:
    """`by_key` maps the key of each instant to the instant, in the order of the keys. `completed` contains the
    completed instants, ordered by completion time. `parts` are the two indexes that `joined` has joined.

    A history has up to a hundred thousand instants, is listed for each operation, and grows by a few instants between
    two listings. Each method therefore derives both orders from those of the index that it extends, and sorts only the
    new instants.
    """

    by_key: Mapping[Key, Instant] = field(default_factory=dict)
    completed: tuple[Instant, ...] = field(default=(), compare=False)
    parts: tuple[Index, ...] = field(default=(), compare=False, repr=False)

    @classmethod
    def of(cls, instants: Iterable[Instant]) -> Index:
        """Return the index of instants with different keys, given in the order of the keys."""
        by_key = {instant.key: instant for instant in instants}
        return cls(by_key, _in_order(i for i in by_key.values() if i.completed))

    def advanced(self, states: Iterable[Instant]) -> Index:
        """Return this index with further states, given in any order. An instant has its most advanced state."""
        by_key = dict(self.by_key)
        added, ended, is_renamed = dict[Key, Instant](), list[Instant](), False
        for instant in states:
            key = instant.key
            home = by_key if key in by_key else added
            other = home.get(key)
            if other is not None and not _supersedes(instant, other):
                continue
            # Two completed files of one instant: the one that is replaced is already in `completed`, which then has to
            # be built again.
            is_renamed = is_renamed or (other is not None and other.state == "completed")
            home[key] = instant
            if instant.completed:
                ended.append(instant)
        _insert(by_key, added)
        if is_renamed:
            return Index.of(by_key.values())
        return Index(by_key, _with_ended(self.completed, ended))

    def joined(self, archived: Index) -> Index:
        """Return this index of a listed timeline together with that of the archive."""
        # The archive is extended by the listing and not the other way round, because it has nearly all instants.
        both = archived.advanced(self.by_key.values())
        return Index(both.by_key, both.completed, (self, archived))

    def only(self, is_wanted: Callable[[Key], bool]) -> Index:
        """Return the index of the instants with wanted keys."""
        by_key = {key: instant for key, instant in self.by_key.items() if is_wanted(key)}
        return Index(by_key, tuple(instant for instant in self.completed if instant.key in by_key))

    def until(self, time: str, reopened: Callable[[Instant], Instant]) -> Index:
        """Return this index with each instant that completed after `time` replaced by its pending state."""
        end = bisect_right(self.completed, time, key=completion_of)
        # The usual case, a read of the newest state, copies nothing.
        if end == len(self.completed):
            return self
        later = {instant.key: reopened(instant) for instant in self.completed[end:]}
        return Index({**self.by_key, **later}, self.completed[:end])

    @cached_property
    def few(self) -> tuple[Instant, ...]:
        """All instants but the completed commits and delta commits, which make up nearly all of a long history. A
        joined index need not search them, because its parts have done so.
        """
        if not self.parts:
            return tuple(i for i in self.by_key.values() if not (i.completed and i.action in _MANY))
        keys = sorted({i.key for part in self.parts for i in part.few})
        return tuple(i for i in map(self.by_key.__getitem__, keys) if not (i.completed and i.action in _MANY))


def _supersedes(instant: Instant, other: Instant) -> bool:
    """Return whether `instant` should replace `other`, a less advanced state of the same instant.

    If two files represent the same state, the alphabetically first file name is used, regardless of the listing order.
    """
    advance = _ADVANCE[instant.state] - _ADVANCE[other.state]
    return advance > 0 or (advance == 0 and instant.file_name < other.file_name)


def _insert(by_key: dict[Key, Instant], added: dict[Key, Instant]) -> None:
    """Add instants to those of an index, ordered by key. Only the instants after the first added one are moved."""
    first = min(added, default=None)
    # A dictionary can only grow at its end, so later instants are taken out and put back.
    while first is not None and by_key and next(reversed(by_key)) > first:
        key, instant = by_key.popitem()
        added[key] = instant
    by_key.update((key, added[key]) for key in sorted(added))


def _with_ended(known: tuple[Instant, ...], ended: Iterable[Instant]) -> tuple[Instant, ...]:
    """Return the completed instants `known`, which are ordered by completion time, and `ended` in the same order.
    Instants that end are newer than nearly all of `known`.
    """
    added = _in_order(ended)
    first = bisect_left(known, _order(added[0]), key=_order) if added else len(known)
    later = known[first:]
    return (*known[:first], *(_in_order((*later, *added)) if later else added))


def _in_order(completed: Iterable[Instant]) -> tuple[Instant, ...]:
    return tuple(sorted(completed, key=_order))


def _order(instant: Instant) -> tuple[str, Key]:
    return completion_of(instant), instant.key


def completion_of(instant: Instant) -> str:
    """Return the completion time of an instant that is known to be completed."""
    assert instant.completed is not None, f"{instant} is pending"
    return instant.completed
