"""Reads of a table whose writes set some columns each: what a fold remembers of one key, and what it shows.

The same tree as of whole rows (`fold`), evaluated column by column: each column is that of the highest record that set
it, above the greatest delete. What a base file or a compacted log holds of a key is all that later merges need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import NamedTuple, Protocol

from ..table import Log
from .fold import Fold, keeps_deletes
from .partial import Part, Rank, State, join, row_of, state_of
from .record import Record, Rule

ROW = ""
"""The row itself, like a column that every record sets: whose it is tells the row's ordering value and its write."""


class Said(Protocol):
    """What a log says of one key: it deletes, or sets some columns; under an ordering value."""

    @property
    def ordering(self) -> int: ...
    @property
    def deleted(self) -> bool: ...
    @property
    def sets(self) -> tuple[str, ...]: ...


class Made(NamedTuple):
    """What is shown of one key: by column, `ROW` first, the log that it is taken from; and the greatest delete, where
    deletes are part of an answer."""

    columns: tuple[tuple[str, Log], ...] = ()
    delete: Log | None = None


Says = Callable[[Log], Said | None]


def read(shape: Fold, said: Says, rule: Rule, deletes: bool) -> Made | None:
    """What a read shows of the key; None: nothing."""
    state = state_of_fold(shape, said, rule)
    logs = {name: log for name, _, log in state.columns if state.row > state.delete}
    if shape.shown is not None and logs.get(ROW) not in shape.shown:
        logs = {}
    delete = _log(state.delete) if deletes and shape.deletes and state.delete else None
    return Made(tuple(logs.items()), delete) if logs or delete else None


def state_of_fold(shape: Fold, said: Says, rule: Rule) -> State:
    """All that a fold holds of the key.

    A rank is the ordering value, the place in the fold, in the fold that is at this place, ..., and the log itself; a
    base file has the first place.
    """
    base = State() if shape.base is None else _placed(state_of_fold(shape.base, said, rule), -1)
    if rule.column_merge != "by_column":
        base = _of_one_rank(base)
    if not keeps_deletes(shape, rule):
        base = base._replace(delete=())
    merge = _join_rows if rule.column_merge == "by_row" else join
    logs = (_placed(_of_log(log, said, rule), place) for place, log in enumerate(shape.logs))
    return reduce(merge, logs, base)


def _of_log(log: Log | Fold, said: Says, rule: Rule) -> State:
    if isinstance(log, Fold):
        return state_of_fold(log, said, rule)
    found = said(log)
    return State() if found is None else state_of(_part(log, found, (float(found.ordering) * rule.event_time, *log)))


def _part(log: Log, said: Said, rank: Rank) -> Part:
    return Part(rank, None if said.deleted else dict.fromkeys((ROW, *said.sets), log))


def _placed(state: State, place: float) -> State:
    def placed(rank: Rank) -> Rank:
        return (rank[0], place, *rank[1:]) if rank else ()

    columns = tuple((name, placed(rank), log) for name, rank, log in state.columns)
    return State(placed(state.delete), placed(state.row), columns)


def _of_one_rank(state: State) -> State:
    """A row as a base file shows it: that its columns were set under lower ranks than its own is forgotten."""
    if state.row <= state.delete:
        return State(state.delete)
    return state._replace(columns=tuple((name, state.row, log) for name, _, log in state.columns))


def _join_rows(older: State, newer: State) -> State:
    """As readers merge who know one rank a row: the higher one's columns over those of the lower one, all of the higher
    one's rank from then on. A delete is held against the row that comes out, not against each column."""
    low, high = sorted((older, newer), key=lambda state: state.row)
    columns = {name: log for name, _, log in (*low.columns, *high.columns)}
    every = tuple((name, high.row, columns[name]) for name in sorted(columns))
    return State(max(older.delete, newer.delete), high.row, every)


def _log(rank: Rank) -> Log:
    return (int(rank[-2]), int(rank[-1]))


def by_definition(logs: Iterable[Log], rows: Mapping[Log, Said], rule: Rule, deletes: bool) -> Made | None:
    """What completed writes make of a key, whose logs come by rank: no file slice, no base file is known here."""
    parts = [
        _part(log, rows[log], (float(rows[log].ordering) * rule.event_time, place, *log))
        for place, log in enumerate(logs)
        if log in rows
    ]
    row = row_of(parts) or {}
    delete = max((part.rank for part in parts if part.values is None), default=())
    made = Made(tuple(sorted(row.items())), _log(delete) if deletes and delete else None)
    return made if row or (delete and deletes) else None


def records_of(made: Made, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
    """The rows of an answer. In a window: each record that a column is taken from, with these columns alone and its own
    ordering value, so that whoever merges them on does it right; and the delete."""
    logs = dict(made.columns)
    top = logs.pop(ROW, None)
    if top is not None and not window:
        yield _with(records(top), {name: records(log).value for name, log in logs.items()}, top)
    for source in dict.fromkeys(logs.values()) if window else ():
        record = records(source)
        yield _with(record, {name: record.value for name, log in logs.items() if log == source}, source)
    if made.delete is not None:
        yield records(made.delete)._replace(requested=made.delete[0], sets=())


def _with(record: Record, columns: Mapping[str, object], log: Log) -> Record:
    return Record(record.ordering, told(columns), requested=log[0])


def told(columns: Mapping[str, object]) -> str:
    """The columns of a row in one text: `a:w1.1 b:w2.1`."""
    return " ".join(f"{name}:{value}" for name, value in sorted(columns.items()))
