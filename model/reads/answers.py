"""Reads over real data: the same folds as the promises use, evaluated once a key.

`data` maps the requested time of a write to its log files, each (group, version) -> key -> Record. A key is opaque and
belongs to one file group; where keys repeat in several partitions, put the partition into the key.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from math import inf
from typing import Any

from ..merging.fold import Fold, evaluate, logs_of
from ..merging.mixed import read, records_of
from ..merging.record import Change, Ranked, Record, Rule, Several
from ..protocol import Protocol
from ..table import Log, Table
from .definitions import Query, as_of, is_refused, read_optimized
from .schemas import columns_of, kept_of, shown_at, told
from .windows import incremental

Key = Hashable
Data = Mapping[int, Mapping[tuple[int, int], Mapping[Any, Record]]]


class Cleaned(ValueError):
    """A read that needs what lies before the horizon."""


class NoAnswer(ValueError):
    """A read that is refused; the message is the class of refusal, the same in every system."""


PENDING = "as of a time at or after the request of a pending write"


def answer(
    table: Table, groups: int, query: Query, settled: int, data: Data, *, protocol: Protocol, rule: Rule
) -> dict[Key, Record | Change | Several]:
    """Key -> Record for the keys that have a row (incremental: deletes too, marked), key -> Change for changes; windows
    of rows that several records make up: key -> Several.

    `settled` is the end of a query that names none.

    Raises:
        NoAnswer: the protocol refuses the read.
    """
    window = (query.after or 0, settled if query.until is None else query.until)
    if query.kind == "as_of" and is_refused(table, window[1], protocol):
        raise NoAnswer(PENDING)
    found: dict[Key, Record | Change | Several] = {}
    columns = Columns(table, query, protocol) if table.schemas else None
    for group in range(groups):
        found.update(_in_group(table, query.kind, window, Lookup(data, group, protocol, rule, columns)))
    return found


class Columns:
    """The columns that an answer shows, where some were added: `shown` is how many of them."""

    def __init__(self, table: Table, query: Query, protocol: Protocol) -> None:
        of_now = query.kind not in ("as_of", "incremental") or query.until is None
        self.table, self.shown = table, shown_at(table, inf if of_now else query.until or 0, protocol)

    def told(self, shape: Fold, won: Ranked) -> Record:
        """The row with what it has in each."""
        row: Record = won.content
        if row.deleted or won.log is None:
            return row
        own = min(columns_of(self.table.writes, won.log), kept_of(shape, won.log))
        return row._replace(value=told(str(row.value), own, self.shown))


class Lookup:
    """The rows of a fold in one file group."""

    def __init__(self, data: Data, group: int, protocol: Protocol, rule: Rule, columns: Columns | None = None) -> None:
        self.data, self.group, self.protocol, self.rule, self.columns = data, group, protocol, rule, columns

    def file(self, log: Log) -> Mapping[Any, Record]:
        return self.data.get(log[0], {}).get((self.group, log[1]), {})

    def rows(self, shape: Fold, deletes: bool = False) -> dict[Key, Record]:
        keys = {key for log in logs_of(shape) for key in self.file(log)}
        if self.rule.mixes:
            return {key: row for key in sorted(keys, key=str) for row in self._made(shape, key, window=False)}
        winners = ((key, evaluate(shape, self._record_of(key), self.rule)) for key in sorted(keys, key=str))
        told = self.columns.told if self.columns else lambda _, won: won.content
        shown = ((key, won) for key, won in winners if won is not None and (deletes or not won.deleted))
        found: dict[Key, Any] = {key: told(shape, won) for key, won in shown}
        if shape.changed:  # what a base file leaves out says no more than that it is gone
            found = {key: row._replace(ordering=None) if row.deleted else row for key, row in found.items()}
        return found

    def window(self, shape: Fold) -> Mapping[Key, Record | Several]:
        """The rows and deletes of a window."""
        if not self.rule.mixes:
            return self.rows(shape, deletes=True)
        keys = sorted({key for log in logs_of(shape) for key in self.file(log)}, key=str)
        found = {key: Several(tuple(self._made(shape, key, window=True))) for key in keys}
        return {key: several for key, several in found.items() if several.records}

    def _made(self, shape: Fold, key: Key, window: bool) -> Iterator[Record]:
        made = read(shape, lambda log: self.file(log).get(key), self.rule, deletes=window)
        if made is None:
            return iter(())
        return records_of(made, lambda log: self.file(log)[key], self.rule, window)

    def _record_of(self, key: Key) -> Callable[[Log], Ranked | None]:
        def record_of(log: Log) -> Ranked | None:
            record = self.file(log).get(key)
            if record is None:
                return None
            return Ranked(record.ordering, 0, record.deleted, record._replace(requested=log[0]))

        return record_of


def _in_group(
    table: Table, kind: str, window: tuple[int, int], lookup: Lookup
) -> Iterator[tuple[Key, Record | Change | Several]]:
    group, protocol = lookup.group, lookup.protocol
    after, until = window
    match kind:
        case "snapshot":
            yield from lookup.rows(as_of(table, group, inf, protocol)).items()
        case "as_of":
            yield from lookup.rows(as_of(table, group, until, protocol)).items()
        case "read_optimized":
            yield from lookup.rows(read_optimized(table, group, inf, protocol)).items()
        case "incremental":
            yield from lookup.window(incremental(table, group, after, until, protocol)).items()
        case "changes":
            before = lookup.rows(as_of(table, group, after, protocol))
            now = lookup.rows(as_of(table, group, until, protocol))
            for key in sorted(before.keys() | now.keys(), key=str):
                change = Change(before.get(key), now.get(key))
                if not _same(change):
                    yield key, change
        case _:
            raise ValueError(f"unknown kind of query {kind!r}; known: {', '.join(KINDS)}")


KINDS = ("snapshot", "as_of", "read_optimized", "incremental", "changes")


def _same(change: Change) -> bool:
    """Rows are compared on data columns: which write set them does not count."""
    if change.before is None or change.after is None:
        return change.before is change.after
    return change.before._replace(requested=None) == change.after._replace(requested=None)
