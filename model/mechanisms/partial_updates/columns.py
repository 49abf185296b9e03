"""Evaluates reads of a table with partial updates: merges the records of one key column by column, file by file.

Files are merged in the same order as in a table without partial updates. The value of a column comes from the
highest-ranked record that sets the column and outranks every delete. A base file or compacted log retains everything
about a key that subsequent merges need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, NamedTuple

from ...answers import Record
from ...combination import Content
from ...kernel.merge import Fold, Merger
from ...kernel.table import Log
from ...kernel.tombstones import keeps_deletes
from .states import Part, Rank, State, join, row_of, state_of

ROW = ""
"""The row itself, like a column that every record sets: its record has the row's ordering value and write."""


class Made(NamedTuple):
    """The answer of a read for one key. `columns` lists pairs (column, log that contains its value). The first pair is
    for `ROW`, a pseudo-column that every record sets. `delete` is the log of the highest-ranked delete, if the answer
    includes deletes.
    """

    columns: tuple[tuple[str, Log], ...] = ()
    delete: Log | None = None


Contents = Callable[[Log], Content | None]


def read(shape: Fold, content: Contents, merger: Merger, column_merge: str, deletes: bool) -> Made | None:
    """Return the answer of a read for one key; None if the answer contains neither a row nor a delete."""
    state = state_of_fold(shape, content, merger, column_merge)
    logs = {name: log for name, _, log in state.columns if state.row > state.delete}
    if shape.shown is not None and logs.get(ROW) not in shape.shown:
        logs = {}
    delete = _log(state.delete) if deletes and shape.deletes and state.delete else None
    return Made(tuple(logs.items()), delete) if logs or delete else None


def state_of_fold(shape: Fold, content: Contents, merger: Merger, column_merge: str) -> State:
    """Return the state of one key in a merge tree of files.

    A record's rank consists of its ordering value, the position of its log in the merge tree, and the log's identifier.
    """
    base = State() if shape.base is None else _placed(state_of_fold(shape.base, content, merger, column_merge), -1)
    if column_merge != "by_column":
        base = _of_one_rank(base)
    if not keeps_deletes(shape, merger):
        base = base._replace(delete=())
    merge = _join_rows if column_merge == "by_row" else join

    def of_log(log: Log | Fold) -> State:
        if isinstance(log, Fold):
            return state_of_fold(log, content, merger, column_merge)
        record = content(log)
        if record is None:
            return State()
        return state_of(_part(log, record, (float(record.ordering) * merger.event_time, *log)))

    return reduce(merge, (_placed(of_log(log), place) for place, log in enumerate(shape.logs)), base)


def _part(log: Log, record: Content, rank: Rank) -> Part:
    return Part(rank, None if record.deleted else dict.fromkeys((ROW, *record.sets), log))


def _placed(state: State, place: float) -> State:
    def placed(rank: Rank) -> Rank:
        return (rank[0], place, *rank[1:]) if rank else ()

    columns = tuple((name, placed(rank), log) for name, rank, log in state.columns)
    return State(placed(state.delete), placed(state.row), columns)


def _of_one_rank(state: State) -> State:
    if state.row <= state.delete:
        return State(state.delete)
    return state._replace(columns=tuple((name, state.row, log) for name, _, log in state.columns))


def _join_rows(older: State, newer: State) -> State:
    """Merge two rows whose columns have the rank of their row. If both rows set a column, the value of the
    higher-ranked row wins.

    All columns of the merged row get the rank of the higher-ranked row. A delete is compared with the rank of the
    merged row, not column by column.
    """
    low, high = sorted((older, newer), key=lambda state: state.row)
    columns = {name: log for name, _, log in (*low.columns, *high.columns)}
    every = tuple((name, high.row, columns[name]) for name in sorted(columns))
    return State(max(older.delete, newer.delete), high.row, every)


def _log(rank: Rank) -> Log:
    return (int(rank[-2]), int(rank[-1]))


def by_definition(logs: Iterable[Log], rows: Mapping[Log, Content], merger: Merger, deletes: bool) -> Made | None:
    """Return the correct answer for one key: the merge of its log records in rank order."""
    parts = [
        _part(log, rows[log], (float(rows[log].ordering) * merger.event_time, place, *log))
        for place, log in enumerate(logs)
        if log in rows
    ]
    row = row_of(parts) or {}
    delete = max((part.rank for part in parts if part.values is None), default=())
    made = Made(tuple(sorted(row.items())), _log(delete) if deletes and delete else None)
    return made if row or (delete and deletes) else None


def records_of(made: Made, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
    """Yield the records that a read returns for one key.

    A consumer must be able to merge the answer of an incremental query into an older state of the table. The answer
    therefore contains each record that supplies a column value: only the columns it supplies, and its ordering value.
    The answer also contains the highest-ranked delete of the key, if any.
    """
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
    return Record(record.ordering, text_of(columns), requested=log[0])


def text_of(columns: Mapping[str, object]) -> str:
    """Return the columns of a row as text, for example `a:w1.1 b:w2.1`."""
    return " ".join(f"{name}:{value}" for name, value in sorted(columns.items()))


def left_of(shown: Made | None, rows: Mapping[Log, Any]) -> dict[Log, Any]:
    """Return the records that supply column values to an answer; each contains only the columns that it supplies."""
    if shown is None:
        return {}
    sets: dict[Log, tuple[str, ...]] = {}
    for name, log in shown.columns:
        sets[log] = (*sets.get(log, ()), *((name,) if name != ROW else ()))
    left = {log: rows[log]._replace(sets=names) for log, names in sets.items()}
    return left if shown.delete is None else {**left, shown.delete: rows[shown.delete]}
