"""In a table with partial updates, a record may set only some columns of a row (promise SNAP in docs/contract.md).

Each record has a rank (merge priority), and either deletes the row or sets some columns. A key has a row if and only if
an upsert outranks every delete. The value of a column comes from the highest-ranked record that sets the column and
outranks every delete. A `MergeState` contains the rank of the highest-ranked delete, and each column value with a
higher rank.

A read merges the records of one key column by column, file by file, in the same order as in a table without partial
updates. A base file or compacted log retains everything about a key that subsequent merges need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from typing import Any, Literal, NamedTuple, Protocol

from ..answers import Record
from ..kernel.merge import Fold, Merger, keeps_tombstones
from ..kernel.table import Log
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, limit, option
from ..rules import Rules
from ..world import World
from .copy_on_write import is_copy_on_write

Rank = tuple[float, ...]


class RankedPart(NamedTuple):
    """A record of one key. `values` maps each column set by the record to its value; None for a delete."""

    rank: Rank
    values: Mapping[str, Any] | None


class MergeState(NamedTuple):
    """The merge state of one key. `delete` is the rank of the key's highest-ranked delete; () if there is no delete.
    `row` is the rank of the highest-ranked upsert; () if no upsert outranks the delete. `columns` contains (name, rank,
    value) for each column value that outranks the delete.
    """

    delete: Rank = ()
    row: Rank = ()
    columns: tuple[tuple[str, Rank, Any], ...] = ()


def row_of(parts: Iterable[RankedPart]) -> dict[str, Any] | None:
    """Return the correct row of a key from all its records, as a dict of column values; None if the key has no row."""
    parts = sorted(parts, key=lambda part: part.rank)
    deleted = max((part.rank for part in parts if part.values is None), default=())
    above = [part for part in parts if part.values is not None and part.rank > deleted]
    return {name: value for part in above for name, value in (part.values or {}).items()} if above else None


def state_of(part: RankedPart) -> MergeState:
    """Return the state of a key that has a single record."""
    if part.values is None:
        return MergeState(delete=part.rank)
    columns = tuple((name, part.rank, value) for name, value in sorted(part.values.items()))
    return MergeState(row=part.rank, columns=columns)


def join(one: MergeState, other: MergeState) -> MergeState:
    """Merge two states of one key. Merges may be reordered and repeated, because the merge is commutative, associative
    and idempotent.
    """
    delete, row = max(one.delete, other.delete), max(one.row, other.row)
    best: dict[str, tuple[str, Rank, Any]] = {}
    for column in (*one.columns, *other.columns):
        name, rank, _ = column
        if rank > delete and (name not in best or rank > best[name][1]):
            best[name] = column
    return MergeState(delete, row if row > delete else (), tuple(best[name] for name in sorted(best)))


def row_of_state(state: MergeState) -> dict[str, Any] | None:
    """Return the row of a state as a dict of column values; None if the key has no row."""
    return {name: value for name, _, value in state.columns} if state.row else None


ROW = ""
"""The row itself, like a column that every record sets: its record has the row's ordering value and write."""


class Made(NamedTuple):
    """The answer of a read for one key. `columns` lists pairs (column, log that contains its value). The first pair is
    for `ROW`, a pseudo-column that every record sets. `delete` is the log of the highest-ranked delete, if the answer
    includes deletes.
    """

    columns: tuple[tuple[str, Log], ...] = ()
    delete: Log | None = None


class Content(Protocol):
    """The record of one key in a log file: a delete, or a record that sets some columns."""

    @property
    def ordering(self) -> int: ...
    @property
    def deleted(self) -> bool: ...
    @property
    def sets(self) -> tuple[str, ...]: ...


Contents = Callable[[Log], Content | None]


def read(fold: Fold, content: Contents, merger: Merger, column_merge: str, deletes: bool) -> Made | None:
    """Return the answer of a read for one key; None if the answer contains neither a row nor a delete."""
    state = state_of_fold(fold, content, merger, column_merge)
    logs = {name: log for name, _, log in state.columns if state.row > state.delete}
    if fold.shown is not None and logs.get(ROW) not in fold.shown:
        logs = {}
    delete = _log(state.delete) if deletes and fold.deletes and state.delete else None
    return Made(tuple(logs.items()), delete) if logs or delete else None


def state_of_fold(fold: Fold, content: Contents, merger: Merger, column_merge: str) -> MergeState:
    """Return the state of one key in a merge tree of files.

    A record's rank consists of its ordering value, the position of its log in the merge tree, and the log's identifier.
    """
    base = MergeState() if fold.base is None else _placed(state_of_fold(fold.base, content, merger, column_merge), -1)
    if column_merge != "by_column":
        base = _of_one_rank(base)
    if not keeps_tombstones(fold, merger):
        base = base._replace(delete=())
    merge = _join_rows if column_merge == "by_row" else join

    def of_log(log: Log | Fold) -> MergeState:
        if isinstance(log, Fold):
            return state_of_fold(log, content, merger, column_merge)
        record = content(log)
        if record is None:
            return MergeState()
        return state_of(_part(log, record, (float(record.ordering) * merger.event_time, *log)))

    return reduce(merge, (_placed(of_log(log), place) for place, log in enumerate(fold.logs)), base)


def _part(log: Log, record: Content, rank: Rank) -> RankedPart:
    return RankedPart(rank, None if record.deleted else dict.fromkeys((ROW, *record.sets), log))


def _placed(state: MergeState, place: float) -> MergeState:
    def placed(rank: Rank) -> Rank:
        return (rank[0], place, *rank[1:]) if rank else ()

    columns = tuple((name, placed(rank), log) for name, rank, log in state.columns)
    return MergeState(placed(state.delete), placed(state.row), columns)


def _of_one_rank(state: MergeState) -> MergeState:
    if state.row <= state.delete:
        return MergeState(state.delete)
    return state._replace(columns=tuple((name, state.row, log) for name, _, log in state.columns))


def _join_rows(older: MergeState, newer: MergeState) -> MergeState:
    """Merge two rows whose columns have the rank of their row. If both rows set a column, the value of the
    higher-ranked row wins.

    All columns of the merged row get the rank of the higher-ranked row. A delete is compared with the rank of the
    merged row, not column by column.
    """
    low, high = sorted((older, newer), key=lambda state: state.row)
    columns = {name: log for name, _, log in (*low.columns, *high.columns)}
    every = tuple((name, high.row, columns[name]) for name in sorted(columns))
    return MergeState(max(older.delete, newer.delete), high.row, every)


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


class PartialUpdates(Options):
    """The option that decides how partial updates of one column are ordered."""

    column_merge: Literal["by_column", "by_row", "by_row_in_base"] = option(
        "by_column",
        "The rank of a column: the one with which it was set; by_row: that of the row, wherever two records merge; "
        "by_row_in_base: that of the row, once several records are one row of a base file.",
    )


class PartialColumns(Limits):
    """The number of columns that partial updates may set."""

    columns: int = limit(
        0, "how many columns there are of which a write sets some; 0: rows are written whole", section="table"
    )


class ByColumns(NamedTuple):
    """Combines several records into one row, column by column. Implements `kernel.merge.Combination`."""

    columns: tuple[str, ...]
    column_merge: str = "by_column"

    def read(self, fold: Fold, content: Contents, merger: Merger, deletes: bool) -> Made | None:
        return read(fold, content, merger, self.column_merge, deletes)

    def by_definition(
        self, logs: Iterable[Log], rows: Mapping[Log, Content], merger: Merger, deletes: bool
    ) -> Made | None:
        return by_definition(logs, rows, merger, deletes)

    def records_of(self, made: Made, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        return records_of(made, records, window)

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Made | None, window: Made | None, merger: Merger
    ) -> Made | None:
        left = {**left_of(state, rows), **left_of(window, rows)}
        return by_definition(logs, left, merger, deletes=True)


def column_names(world: World) -> tuple[str, ...]:
    """Return the names of the columns that partial updates may set."""
    return tuple(chr(ord("a") + number) for number in range(world[PartialColumns].columns))


class MergesColumns(Rules):
    """In a table with partial updates, the records of a key are merged column by column."""

    compares_requested_times = False

    def merger(self, world: Any) -> Merger:
        kernel, names = super().merger(world), column_names(world)
        if not names or kernel.combination is not None:
            return kernel
        return kernel._replace(combination=ByColumns(names, self[PartialUpdates].column_merge))


def check(world: World) -> None:
    """Raise ValueError for partial updates of a copy-on-write table, which has no log files."""
    if world[PartialColumns].columns and is_copy_on_write(world):
        raise ValueError("world: partial updates are merged in log files, which a COPY_ON_WRITE table has none of")


MECHANISM = Mechanism(
    options=PartialUpdates, limits=PartialColumns, rules=lambda protocol: (MergesColumns,), check=check
)
