"""How the records of one key become one row: the record with the greatest rank wins, and a delete is such a record.

RFC-66 leaves the rank to the merge mode of the table: the ordering value (event time), or the completion (commit time).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.marks import Marks
from .table import Log
from .tombstones import keeps_deletes

if TYPE_CHECKING:
    from ..combination import Combination, Window


class Ranked(NamedTuple):
    """A record within a merge: `place` ranks by completion and log version, later is greater."""

    ordering: int
    place: float
    deleted: bool
    content: Any
    log: Log | None = None  # the log file that it came from, set within a merge


class Merger(NamedTuple):
    """How records merge in one table under one protocol.

    `event_time`: the ordering value ranks first. `keeps_tombstones`: compactions keep deletes. `logs_first`: logs merge
    among themselves before they meet the base file. `combination`: None if one record is the whole row.
    """

    event_time: bool
    keeps_tombstones: bool = True
    logs_first: bool = False
    combination: Combination | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of which a record sets some; () if every record is a whole row."""
        return self.combination.columns if self.combination else ()


def merger_of(world: Any) -> Merger:
    """How records merge in the table of a world: by its merge mode."""
    event_time = world.merge_mode == "EVENT_TIME_ORDERING"
    return Merger(event_time, keeps_tombstones=event_time)


def rank(record: Ranked, event_time: bool) -> tuple[float, ...]:
    """Event time: the ordering value first; commit time: the place alone."""
    return (record.ordering, record.place) if event_time else (record.place,)


def merge(one: Ranked | None, other: Ranked | None, event_time: bool) -> Ranked | None:
    """The record with the greatest rank; either may be absent."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda record: rank(record, event_time))


class Fold(NamedTuple):
    """A read of one file group as a small tree: the base file, then logs in the order in which they merge.

    `base` was folded earlier, by a compaction. A log that is a fold itself replaces the logs that it holds.
    `tombstones`: how many logs merge before the tombstones of the base file (only where logs merge first).
    `shown`: a winner counts only if it came from one of these logs. `deletes`: False if a winning delete is no answer.
    `logs_first`, `drops_deletes`: how the compaction that wrote this base file merged, where that is not the way of the
    table. `files`: a window over base files, which is evaluated in its own way. `marks`: records of mechanisms.
    """

    base: Fold | None
    logs: tuple[Log | Fold, ...]
    logs_before_tombstones: int = 0
    shown: tuple[Log, ...] | None = None
    deletes: bool = True
    logs_first: bool = False
    drops_deletes: bool = False
    files: Window | None = None
    marks: Marks = ()


NOTHING = Fold(None, ())


def logs_of(shape: Fold) -> Iterator[Log]:
    """Every log whose records are in the answer or were in a compaction that is."""
    if shape.base is not None:
        yield from logs_of(shape.base)
    for log in shape.logs:
        if isinstance(log, Fold):
            yield from logs_of(log)
        else:
            yield log
    if shape.files is not None:
        yield from shape.files.logs()


def evaluate(shape: Fold, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
    """The winner for one key, which may be a delete; `record_of` returns the key's record in a log, its place unset.

    A record of the base file has lost its place: it ranks at the barrier, before every log of the slice. Since the
    greatest rank wins, folding the logs among themselves first changes nothing for rows. It matters for the tombstones
    of the base file, which then are one of the logs.
    """
    if shape.files is not None:
        return shape.files.winner(record_of, merger)
    base = evaluate(shape.base, record_of, merger) if shape.base is not None else None
    if base is not None:
        base = base._replace(place=-1.0)
        if base.deleted and not keeps_deletes(shape, merger):
            base = None
    if (shape.logs_first or merger.logs_first) and base is not None and base.deleted:
        base = base._replace(place=shape.logs_before_tombstones - 0.5)
    winner = base
    for place, log in enumerate(shape.logs):
        record, name = (evaluate(log, record_of, merger), None) if isinstance(log, Fold) else (record_of(log), log)
        if record is not None:
            record = Ranked(record.ordering, float(place), record.deleted, record.content, record.log or name)
            winner = merge(winner, record, merger.event_time)
    return winner if winner is None or _is_shown(shape, winner) else None


def _is_shown(shape: Fold, winner: Ranked) -> bool:
    return (shape.shown is None or winner.log in shape.shown) and (shape.deletes or not winner.deleted)
