"""The merge of the records of one key into one row: the record with the greatest rank wins. A delete is a record.

The merge mode of the table defines the rank: the ordering value (event time) or the completion time (commit time). The
module `tombstones` decides whether a base file keeps a winning delete.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from ..machine.marks import Marks
from .table import Log
from .tombstones import keeps_deletes, needs_tombstones

if TYPE_CHECKING:
    from ..combination import Combination, Window


class Ranked(NamedTuple):
    """A record within a merge. `place` is its position in the merge order (by completion, then by log version)."""

    ordering: int
    place: float
    deleted: bool
    content: Any
    log: Log | None = None  # its log file, set within a merge


class Merger(NamedTuple):
    """The rules by which records merge in one table under one protocol.

    `event_time`: the ordering value ranks first. `keeps_tombstones`: compactions keep deletes. `logs_first`: logs merge
    with each other first, and the result merges with the base file. `combination`: how several records form one row;
    None if each record is a whole row.
    """

    event_time: bool
    keeps_tombstones: bool = True
    logs_first: bool = False
    combination: Combination | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that partial updates may set; () if every record is a whole row."""
        return self.combination.columns if self.combination else ()


def merger_of(world: Any) -> Merger:
    """The merger for the merge mode of a world."""
    event_time = world.merge_mode == "EVENT_TIME_ORDERING"
    return Merger(event_time, keeps_tombstones=needs_tombstones(event_time))


def rank(record: Ranked, event_time: bool) -> tuple[float, ...]:
    """In event time the rank is the ordering value, then the place. In commit time the rank is the place alone."""
    return (record.ordering, record.place) if event_time else (record.place,)


def merge(one: Ranked | None, other: Ranked | None, event_time: bool) -> Ranked | None:
    """The record with the greatest rank; either may be absent."""
    if one is None or other is None:
        return other if one is None else one
    return max(one, other, key=lambda record: rank(record, event_time))


def combined(records: Iterable[Any]) -> Any:
    """The record that a writer puts for a key of which its batch holds several: the one of the greatest ordering value.

    In both merge modes: the rows of a batch have no order of their own. Equal ordering values are refused.
    """
    return max(records, key=lambda record: record.ordering)


class Fold(NamedTuple):
    """A read of one file group as a tree: the base file, then logs in merge order. The fold does not contain the rows.

    `base`: the fold of the compaction that wrote the base file. A log that is itself a fold was written by a log
    compaction and replaces its input logs. `logs_before_tombstones`: the number of logs that merge before the
    tombstones of the base file (only with `logs_first`). `shown`: the logs that the answer shows; a winner from another
    log is left out. `deletes`: whether a winning delete is part of the answer. `logs_first`, `drops_deletes`: how the
    compaction that wrote this base file merged, if it did not follow the table's merger. `files`: a window over base
    files, evaluated by its own rule.
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
    """Every log whose records the read merges, directly or through a base file."""
    if shape.base is not None:
        yield from logs_of(shape.base)
    for log in shape.logs:
        yield from logs_of(log) if isinstance(log, Fold) else (log,)
    if shape.files is not None:
        yield from shape.files.logs()


def evaluate(shape: Fold, record_of: Callable[[Log], Ranked | None], merger: Merger) -> Ranked | None:
    """The winner for one key, which may be a delete; None if there is no record.

    `record_of` returns the record of the key in a log, without its place. The winner in a base file ranks at the
    barrier, before every log of the slice. If logs merge with each other first, rows have the same winner, but the
    tombstones of the base file rank among the logs.
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
