"""The rows a page shows: which read broke, and a valuation of one key that makes the break visible.

A trace of a search holds no rows. Of all ways to let each write put, delete or leave alone the key k1, the simplest one
for which the reader's answer differs from what it must be is put into the picture.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from typing import Any, NamedTuple

from nbcc.model import Model, Protocol, Query, Record
from nbcc.model.answers import Data, answer
from nbcc.model.record import Change, Rule

KEY = "k1"
MOST_TRIED = 6000
MOST_WRITES = 4


class Put(NamedTuple):
    """One write of the trace: requested time, writer, number of its write, its log files as (group, version)."""

    requested: int
    actor: str
    number: int
    files: tuple[tuple[int, int], ...]


class Reading(NamedTuple):
    """A read whose answer is shown at every step. `reader`: what that actor answered; else the query at the state.

    `stable`: it must be what the same query answered one step before the break, not what the completed writes say.
    """

    query: Query
    reader: str = ""
    stable: bool = False

    def says(self) -> str:
        """``snapshot``, ``as of 4``, ``incremental (0, 5]``, ``r1's snapshot``."""
        query = self.query
        if self.reader:
            return f"{self.reader}'s snapshot"
        if query.kind == "as_of":
            return f"as of {query.until}"
        window = f" ({query.after or 0}, {query.until}]" if query.kind in ("incremental", "changes") else ""
        return query.kind.replace("_", "-") + window


class Case(NamedTuple):
    """What is shown: a reading over rows, `key` the one whose answer is wrong ("" if none is)."""

    reading: Reading
    data: Data
    key: Any


class Answers(NamedTuple):
    """What the reader must answer and what it got: key -> record, deletes marked; None: it does not answer yet."""

    must: Mapping[Any, Record] | None
    got: Mapping[Any, Record] | None

    def wrong(self) -> list[Any]:
        """The keys whose rows differ; which write set an equal row does not count."""
        if self.must is None or self.got is None:
            return []
        keys = sorted(self.must.keys() | self.got.keys(), key=str)
        return [key for key in keys if visible(self.must.get(key)) != visible(self.got.get(key))]


def visible(record: Record | None) -> Any:
    """The value of a row, None where there is no row."""
    return None if record is None or record.deleted else record.value


def answers(model: Model, states: Sequence[Any], step: int, case: Case, broke: int) -> Answers:
    """Both answers after `step` steps; `broke` is the number of steps after which the break is seen."""
    reading, data, state = case.reading, case.data, states[step]
    if reading.reader:
        return _of_reader(model, states, step, reading.reader, data)
    query = reading.query
    if query.until is not None and query.until > model.settled(state):
        return Answers(None, None)
    got = _records(model.rows(state, query, data))
    if reading.stable and step >= broke - 1:
        return Answers(_records(model.rows(states[broke - 1], query, data)), got)
    return Answers(_promised(model, state, query, data), got)


def _of_reader(model: Model, states: Sequence[Any], step: int, reader: str, data: Data) -> Answers:
    """A reader answers when it has read; until it reads again, that is its answer."""
    while step and model.component(states[step], reader).step != "answered":
        step -= 1
    while step and model.component(states[step - 1], reader).step == "answered":
        step -= 1
    if not step:
        return Answers(None, None)
    before = states[step - 1]
    time = model.component(before, reader).time
    got = _records(model.answer(before, reader, data))
    return Answers(_promised(model, before, Query("as_of", until=time), data), got)


def _promised(model: Model, state: Any, query: Query, data: Data) -> dict[Any, Record]:
    """The merge of exactly the writes that completed in time: no file and no slice is asked."""
    until = model.settled(state) if query.until is None else query.until
    window = Query("incremental", query.after if query.kind == "incremental" else 0, until)
    rule = Rule(event_time=model.rule.event_time, keeps_tombstones=True, fold="rank")
    return _records(answer(model.table(state), model.world.groups, window, until, data, Protocol(), rule))


def _records(rows: Mapping[Any, Record | Change]) -> dict[Any, Record]:
    return {key: row for key, row in rows.items() if isinstance(row, Record)}


# Looking for what to show


def choose(
    model: Model, states: Sequence[Any], broke: int, puts: Sequence[Put], data: Data, promise: str
) -> Case:
    """The case that shows the break: given rows if they do, else the simplest valuation of k1 that does."""
    given = [data] if data else []
    for rows in chain(given, valuations(puts, model.rule.event_time)):
        for reading in readings(model, states, broke, promise):
            case = Case(reading, rows, "")
            wrong = answers(model, states, broke, case, broke).wrong()
            if wrong:
                return case._replace(key=wrong[0])
    rows = data or next(iter(valuations(puts, model.rule.event_time)), {})
    return Case(Reading(Query("snapshot")), rows, "")


def readings(model: Model, states: Sequence[Any], broke: int, promise: str) -> list[Reading]:
    """The reads that can show the break, those that the promise speaks of first."""
    ends = sorted({i.completed for i in model.timeline(states[broke]) if i.completed})
    readers = [r for r in model.actors.get("reader", ()) if model.component(states[broke], r).step == "answered"]
    now = [Reading(Query("snapshot"))]
    by_reader = [Reading(Query("snapshot"), reader) for reader in readers]
    then = [Reading(Query("as_of", until=end)) for end in ends]
    before = model.settled(states[broke - 1]) if broke else 0
    again = [Reading(Query("as_of", until=end), stable=True) for end in ends if end <= before]
    windows = [Reading(Query("incremental", a, b)) for a, b in zip([0, *ends], ends, strict=False)]
    order = {
        "TRAVEL": [then, again, now, by_reader],
        "ATOM": [by_reader, now, then],
        "INCR": [windows, now],
        "QUIET": [now, again, then],
    }.get(promise.partition("_")[0].upper(), [now, by_reader, then, again, windows])
    return list(chain.from_iterable(order))


def valuations(puts: Sequence[Put], event_time: bool) -> Iterator[Data]:
    """Valuations of k1, simplest first: few writes that leave it alone, few deletes, few ordering values."""
    seen = list(puts)[-MOST_WRITES:]
    orderings = range(1, len(seen) + 1) if event_time else range(1, 2)
    kinds = [*((deleted, ordering) for deleted in (False, True) for ordering in orderings), None]
    tried = sorted(product(kinds, repeat=len(seen)), key=_cost) if seen else []
    for choice in tried[:MOST_TRIED]:
        yield _rows_of(puts, dict(zip((put.requested for put in seen), choice, strict=True)))


def _cost(choice: tuple[tuple[bool, int] | None, ...]) -> tuple[int, ...]:
    there = [each for each in choice if each is not None]
    orderings = {ordering for _, ordering in there}
    # Where orderings differ they must be 1, 2, ...: others are the same valuation with other numbers.
    gaps = max(orderings, default=0) - len(orderings)
    return (gaps, len(choice) - len(there) + sum(deleted for deleted, _ in there), len(orderings))


def _rows_of(puts: Iterable[Put], chosen: Mapping[int, tuple[bool, int] | None]) -> dict[int, Any]:
    data: dict[int, Any] = {}
    for number, put in enumerate(puts):
        kind = chosen.get(put.requested)
        if kind is None or not put.files:
            continue
        deleted, ordering = kind
        group = put.files[0][0]
        version = max(version for in_group, version in put.files if in_group == group)
        record = Record(ordering, None if deleted else letter(number), deleted)
        data[put.requested] = {(group, version): {KEY: record}}
    return data


def letter(number: int) -> str:
    """A, B, ... Z, A1, ...: the value that a write writes."""
    more, place = divmod(number, 26)
    return chr(ord("A") + place) + (str(more) if more else "")
