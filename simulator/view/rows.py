"""Selects what a trace's page shows: the read with the wrong answer, and the rows of one key that make the error
visible.

A trace found by a search contains no rows, so this module chooses them. Each write may put the key k1, delete it, or
leave it unchanged. The page shows the simplest combination of puts and deletes for which the read returns a wrong
answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from nbcc.model import Change, Model, Query, Record
from nbcc.model.answers import Cleaned, Data, Several, answer
from nbcc.model.kernel.merge import Merger
from nbcc.model.kernel.reader import READER
from nbcc.model.kernel.table import Table, Write
from nbcc.model.mechanisms.consumers import CONSUMER, time_of
from nbcc.model.mechanisms.partial_updates import text_of
from nbcc.model.promises import oracle
from nbcc.model.promises.oracle import Row
from nbcc.model.promises.valuations import Valuation, of_merger, records_by_definition
from nbcc.model.promises.view import answers as reader_answers

KEY = "k1"
MOST_WRITES = 4


class Put(NamedTuple):
    """One write of a trace. `number` is the write's position among the writes of its actor. `files` contains the
    write's log files as pairs (group, version).
    """

    requested: int
    actor: str
    number: int
    files: tuple[tuple[int, int], ...]


class Reading(NamedTuple):
    """A read whose answer the page shows at every step. If `reader` is not empty, this is the read of that actor,
    otherwise `query`.

    If `stable` is True, the read must still return the same answer as just before the violation.
    """

    query: Query
    reader: str = ""
    stable: bool = False

    def words(self) -> str:
        """Return the read as text, such as ``snapshot``, ``as of t4``, ``incremental (t0, t5]`` or ``r1's snapshot``.
        """
        query = self.query
        if self.reader and query.kind == "incremental":
            return f"what {self.reader} has read in all"
        if self.reader:
            return f"{self.reader}'s snapshot"
        if query.kind == "as_of":
            return f"as of t{query.until}"
        window = f" (t{query.after or 0}, t{query.until}]" if query.kind in ("incremental", "changes") else ""
        return query.kind.replace("_", "-") + window


class Example(NamedTuple):
    """The example that a page shows: a read, and the rows of all writes. `key` is the key for which the read is wrong,
    or "" if the read is correct.
    """

    reading: Reading
    data: Data
    key: Any


class ReadAnswers(NamedTuple):
    """The promised answer and the real answer to a read. Each answer maps keys to records, including deletes. Both are
    None if the read has no answer at the given step.
    """

    must: Mapping[Any, Record] | None
    got: Mapping[Any, Record] | None

    def wrong(self) -> list[Any]:
        """Return the keys whose values differ between the required and the actual answer."""
        if self.must is None or self.got is None:
            return []
        keys = sorted(self.must.keys() | self.got.keys(), key=str)
        return [key for key in keys if visible(self.must.get(key)) != visible(self.got.get(key))]


def visible(record: Record | None) -> Any:
    """Return the value of a row, or None if the row is missing or deleted."""
    return None if record is None or record.deleted else record.value


def shown(record: Record) -> str | None:
    """Return a record as text: the value, or the columns that the record sets. For a delete, return None."""
    if record.deleted:
        return None
    return text_of(dict.fromkeys(record.sets, record.value)) if record.sets else str(record.value)


def answers(model: Model, states: Sequence[Any], step: int, case: Example, broke: int) -> ReadAnswers:
    """Return the required and the actual answer of a read after `step` steps. `broke` is the number of the step that
    violates the promise.
    """
    reading, data, state = case.reading, case.data, states[step]
    if reading.reader in model.actors_of(CONSUMER):
        return _of_consumer(model, state, reading.reader, data)
    if reading.reader:
        return _of_reader(model, state, reading.reader, data)
    query = reading.query
    if query.until is not None and query.until > model.settled(state):
        return ReadAnswers(None, None)
    stable = reading.stable and step >= broke - 1
    shown = [_of_table(model, each, query, data) for each in (state, *([states[broke - 1]] if stable else []))]
    if None in shown:
        return ReadAnswers(None, None)
    got, *before = (_records(rows) for rows in shown if rows is not None)
    return ReadAnswers(before[0] if before else _promised(model, state, query, data), got)


def _of_table(model: Model, state: Any, query: Query, data: Data) -> Mapping[Any, Any] | None:
    """Return the answer to a query, or None if a clean or restore has removed the data. If the model refuses the query
    for another reason, the answer is returned all the same.
    """
    if isinstance(model.read_refusal(state, query), Cleaned):
        return None
    return answer(
        model.rules, model.table(state), model.world.groups, query, model.settled(state), data, model.merger
    )


def reader_table(model: Model, state: Any, reader: str) -> tuple[int, Table] | None:
    """Return the time as of which a reader has read, and the table state that it saw. Returns None if the reader has
    not read yet.

    For a consumer (incremental reader), return its checkpoint, and the table state with only the writes that it has
    read.
    """
    if reader in model.actors_of(CONSUMER):
        own, table = model.component(state, reader), model.table(state)
        return own.checkpoint, table._replace(writes=tuple(w for w in table.writes if w.requested in own.delivered))
    return next(((time, table) for name, time, table in reader_answers(model, state) if name == reader), None)


def _of_reader(model: Model, state: Any, reader: str, data: Data) -> ReadAnswers:
    seen = reader_table(model, state, reader)
    if seen is None:
        return ReadAnswers(None, None)
    time, table = seen
    rows = answer(model.rules, table, model.world.groups, Query("snapshot"), time, data, model.merger)
    return ReadAnswers(_promised(model, state, Query("as_of", until=time), data), _records(rows))


def _of_consumer(model: Model, state: Any, name: str, data: Data) -> ReadAnswers:
    consumer = model.component(state, name)
    writes = oracle.completed(model.component(state, "published"), 0, inf)
    passed = tuple(write for write in writes if time_of(write, model.protocol) <= consumer.checkpoint)
    read = tuple(write for write in writes if write.requested in consumer.delivered)
    return ReadAnswers(_merged(model, passed, data), _merged(model, read, data))


def _promised(model: Model, state: Any, query: Query, data: Data) -> dict[Any, Record]:
    until = model.settled(state) if query.until is None else query.until
    after = (query.after or 0) if query.kind == "incremental" else 0
    return _merged(model, oracle.completed(model.component(state, "published"), after, until), data)


def _merged(model: Model, writes: tuple[Write, ...], data: Data) -> dict[Any, Record]:
    found: dict[Any, Record] = {}
    for group in range(model.world.groups):
        logs = oracle.logs_by_rank(writes, group)
        files = {log: data.get(log[0], {}).get((group, log[1]), {}) for log in logs}
        for key in sorted({key for file in files.values() for key in file}, key=str):
            here = {log: file[key] for log, file in files.items() if key in file}
            right = records_by_definition(logs, here, model.merger, window=False)
            deletes = right or records_by_definition(logs, here, model.merger, window=True)
            if deletes:
                found[key] = deletes[0]
    return found


def _records(rows: Mapping[Any, Record | Change | Several]) -> dict[Any, Record]:
    found = {key: row.records[-1] if isinstance(row, Several) else row for key, row in rows.items()}
    return {key: row for key, row in found.items() if isinstance(row, Record)}


# choosing what to show


def choose(
    model: Model, states: Sequence[Any], broke: int, puts: Sequence[Put], *, data: Data, promise: str
) -> Example:
    """Choose the example for a page: the rows of the writes, a read, and a key for which the read is wrong. Rows in the
    trace (`data`) are tried before other combinations of rows.
    """
    given = [data] if data else []
    for rows in chain(given, valuations(puts, model.merger)):
        for reading in readings(model, states, broke, promise):
            case = Example(reading, rows, "")
            wrong = answers(model, states, broke, case, broke).wrong()
            if wrong:
                return case._replace(key=wrong[0])
    rows = data or next(iter(valuations(puts, model.merger)), {})
    return Example(Reading(Query("snapshot")), rows, "")


def readings(model: Model, states: Sequence[Any], broke: int, promise: str) -> list[Reading]:
    """Return the reads that may return a wrong answer. Reads of the kinds that the promise concerns come first."""
    ends = sorted({i.completed for i in model.timeline(states[broke]) if i.completed})
    readers = [r for r in model.actors_of(READER) if model.component(states[broke], r).step == "answered"]
    now = [Reading(Query("snapshot"))]
    by_reader = [Reading(Query("snapshot"), reader) for reader in readers]
    then = [Reading(Query("as_of", until=end)) for end in ends]
    known = {each.completed for each in model.timeline(states[broke - 1])} | {model.settled(states[broke - 1])}
    again = [Reading(Query("as_of", until=end), stable=True) for end in reversed(ends) if broke and end in known]
    steady = [Reading(Query("snapshot"), stable=True)] if broke else []
    windows = [Reading(Query("incremental", a, b)) for a, b in zip([0, *ends], ends, strict=False)]
    from_start = [Reading(Query("incremental", 0, end)) for end in ends[1:]]
    consumed = [Reading(Query("incremental"), name) for name in model.actors_of(CONSUMER)]
    order = {
        "TRAVEL": [then, again, now, by_reader],
        "ATOM": [by_reader, now, then],
        "INCR": [consumed, windows, now, from_start],
        "QUIET": [steady, now, again, then],
    }.get(promise.partition("_")[0].upper(), [now, by_reader, then, again, windows])
    return list(chain.from_iterable(order))


def valuations(puts: Sequence[Put], merger: Merger) -> Iterator[Data]:
    """Yield combinations of what the writes do with the key k1 (put, delete or nothing), simplest first."""
    shown = [put for put in puts if put.files][-MOST_WRITES:]
    for rows in sorted(of_merger(len(shown), merger), key=lambda rows: _cost(len(shown), rows)):
        yield {
            put.requested: {_last_file(put): {KEY: _record(number, rows[number, 0])}}
            for number, put in enumerate(shown, start=1)
            if (number, 0) in rows
        }


def _cost(writes: int, rows: Valuation) -> tuple[int, ...]:
    deletes = sum(row.deleted for row in rows.values())
    return (writes - len(rows) + deletes, len({row.ordering for row in rows.values()}), deletes)


def _last_file(put: Put) -> tuple[int, int]:
    group = put.files[0][0]
    return max(file for file in put.files if file[0] == group)


def _record(number: int, row: Row) -> Record:
    return Record(row.ordering, None if row.deleted else letter(number - 1), row.deleted, sets=row.sets)


def letter(number: int) -> str:
    """Return the value that a page shows for the write with this number: A to Z, then A1 to Z1, and so on."""
    more, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(more) if more else "")
