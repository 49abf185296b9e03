"""Every way in which the logs of a file group can hold rows of one key, and the first on which two answers differ.

A valuation gives each log no row, an upsert (of some columns) or a delete, and orders the ordering values weakly; it is
all that an answer for one key can depend on. Logs are renamed to their rank first, so that one shape is evaluated once
however many states show it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, combinations, product

from ..merging import by_function, mixed
from ..merging.by_function import Merged
from ..merging.columns import ROW, Made
from ..merging.fold import Fold, evaluate, logs_of
from ..merging.record import Ranked, Record, Rule
from ..table import Log
from .oracle import Row, winner

Valuation = dict[Log, Row]
Shown = Log | Made | Merged | None
"""What a read shows of the key: the log whose row it is, or where several make it up what it is of each."""
LARGEST = 5
"""More logs than this in one file group: 2^n times the weak orders of n, beyond what a search can evaluate."""


@cache
def valuations(count: int, event_time: bool, columns: tuple[str, ...] = ()) -> tuple[Valuation, ...]:
    """Every valuation of logs (1, 0) .. (count, 0), fewest rows first; commit time needs no ordering values.

    `columns`: those of which a row sets at least one; (): rows are whole.
    """
    if count > LARGEST:
        raise ValueError(f"{count} logs in one file group are more than the {LARGEST} that rows are evaluated for")
    sets = tuple(some for size in range(len(columns)) for some in combinations(columns, size + 1)) or ((),)
    every = (None, *((False, some) for some in sets), (True, ()))
    found = []
    for kinds in product(every, repeat=count):
        present = [index for index, kind in enumerate(kinds) if kind is not None]
        for orders in weak_orders(len(present)) if event_time else ((1,) * len(present),):
            given = dict(zip(present, orders, strict=True))
            found.append({(i + 1, 0): Row(given[i], *kind) for i in present if (kind := kinds[i])})
    return tuple(sorted(found, key=lambda rows: (len(rows), [(log, row) for log, row in rows.items()])))


def of_rule(count: int, rule: Rule) -> tuple[Valuation, ...]:
    """The valuations that matter to a table's merges."""
    return valuations(count, rule.event_time, rule.columns)


def weak_orders(count: int) -> Iterator[tuple[int, ...]]:
    """Every weak order of `count` values, written as ranks from 1 without a gap."""
    for ranks in product(range(1, count + 1), repeat=count):
        if set(ranks) == set(range(1, max(ranks, default=0) + 1)):
            yield ranks


def renamed(shape: Fold, names: Mapping[Log, Log]) -> Fold:
    """The same tree over other names of logs. Of a log that it does not hold it shows nothing, named or not."""
    base = renamed(shape.base, names) if shape.base is not None else None
    changed = tuple(renamed(file, names) for file in shape.changed)
    shown = None if shape.shown is None else tuple(names[log] for log in shape.shown if log in names)
    logs = tuple(renamed(log, names) if isinstance(log, Fold) else names[log] for log in shape.logs)
    return Fold(base, logs, shape.tombstones, changed, shown, shape.deletes, shape.columns, shape.foreign)


def records_by_definition(logs: tuple[Log, ...], rows: Mapping[Log, Record], rule: Rule, window: bool) -> list[Record]:
    """What completed writes make of a key, in the words of an answer: its row, and in a window its delete."""
    found = expected(logs, {log: Row(row.ordering, row.deleted, row.sets) for log, row in rows.items()}, rule, window)
    if found is None:
        return []
    if isinstance(found, Made | Merged):
        return list(mixed.records_of(found, lambda log: rows[log], rule, window))
    return [rows[found]._replace(requested=found[0])]


def names_for(logs: tuple[Log, ...]) -> dict[Log, Log]:
    """Log -> (place in the order given, 0)."""
    return {log: (place + 1, 0) for place, log in enumerate(logs)}


def read(shape: Fold, rows: Valuation, rule: Rule, deletes: bool) -> Shown:
    """What a read shows; a delete shows nothing, unless deletes are part of the answer."""
    if rule.mixes:
        return mixed.read(shape, rows.get, rule, deletes)

    won = evaluate(shape, {log: _ranked(log, row) for log, row in rows.items()}.get, rule)
    if won is None or (won.deleted and not deletes):
        return None
    log: Log = won.content
    return log


@cache
def _ranked(log: Log, row: Row) -> Ranked:
    return Ranked(row.ordering, 0, row.deleted, log, log)


def expected(logs: tuple[Log, ...], rows: Valuation, rule: Rule, deletes: bool) -> Shown:
    """What the oracle has a read show."""
    if rule.mixes:
        return mixed.by_definition(logs, rows, rule, deletes)
    log = winner(logs, rows, rule.event_time)
    return None if log is None or (rows[log].deleted and not deletes) else log


@lru_cache(maxsize=1 << 16)
def reads_right(shape: Fold, logs: tuple[Log, ...], rule: Rule, deletes: bool) -> bool:
    """Whether a read is what the completed writes `logs` make it, on every valuation. Logs in neither do not matter."""
    names = names_for(_once_each(logs, logs_of(shape)))
    wanted = tuple([names[log] for log in logs])
    return differs_from_oracle(renamed(shape, names), wanted, len(names), rule, deletes) is None


def _once_each(*several: Iterable[Log]) -> tuple[Log, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(several)))


@lru_cache(maxsize=1 << 16)
def differs_from_oracle(shape: Fold, logs: tuple[Log, ...], count: int, rule: Rule, deletes: bool) -> Valuation | None:
    """The first valuation on which a read is not what the completed writes `logs` make it; names are renamed ones."""
    for rows in of_rule(count, rule):
        if read(shape, rows, rule, deletes) != expected(logs, rows, rule, deletes):
            return rows
    return None


@lru_cache(maxsize=1 << 16)
def differ(one: Fold, other: Fold, count: int, rule: Rule, deletes: bool) -> Valuation | None:
    """The first valuation on which two reads differ."""
    for rows in of_rule(count, rule):
        if read(one, rows, rule, deletes) != read(other, rows, rule, deletes):
            return rows
    return None


@cache
def falls_behind(old: int, new: int, rule: Rule) -> Valuation | None:
    """Of logs by rank: the first valuation on which the state of the first `old`, with what the logs up to `new` make
    merged into it, is not the state of the first `new`. States are records and tombstones."""
    names = tuple((place + 1, 0) for place in range(new))
    for rows in of_rule(new, rule):
        state, window = (expected(logs, rows, rule, deletes=True) for logs in (names[:old], names[old:]))
        if _merged_on(names, rows, state, window, rule) != expected(names, rows, rule, deletes=True):
            return rows
    return None


def _merged_on(names: tuple[Log, ...], rows: Valuation, state: Shown, window: Shown, rule: Rule) -> Shown:
    """A window merged into a state: of a user's function two values, else the records that both consist of."""
    if rule.laws:
        older, newer = (shown if isinstance(shown, Merged) else Merged() for shown in (state, window))
        return by_function.goes_on(older, newer, rule)
    return expected(names, {**_left_of(state, rows), **_left_of(window, rows)}, rule, deletes=True)


def _left_of(shown: Shown, rows: Valuation) -> Valuation:
    """The records that an answer consists of."""
    if shown is None or isinstance(shown, Merged):
        return {}
    if not isinstance(shown, Made):
        return {shown: rows[shown]}
    sets: dict[Log, tuple[str, ...]] = {}
    for name, log in shown.columns:
        sets[log] = (*sets.get(log, ()), *((name,) if name != ROW else ()))
    found = {log: rows[log]._replace(sets=names) for log, names in sets.items()}
    return found if shown.delete is None else {**found, shown.delete: rows[shown.delete]}


End = tuple[Fold, tuple[Log, ...]]
"""What a window begins or ends with: a read, and the logs that it should merge."""


@lru_cache(maxsize=1 << 16)
def changes_right(before: End, after: End, rule: Rule) -> bool:
    """Whether the change between two reads is the one between what they should be. Logs in none do not matter."""
    names = names_for(_once_each(after[1], before[1], logs_of(after[0]), logs_of(before[0])))
    ends = [(renamed(shape, names), tuple([names[log] for log in logs])) for shape, logs in (before, after)]
    return changes_differ(ends[0], ends[1], len(names), rule) is None


@lru_cache(maxsize=1 << 16)
def changes_differ(before: End, after: End, count: int, rule: Rule) -> Valuation | None:
    """The first valuation on which the change between two reads is not the one between the two oracles' states."""
    found = zip(_every_read(before[0], count, rule), _every_read(after[0], count, rule), strict=True)
    right = zip(_every_expected(before[1], count, rule), _every_expected(after[1], count, rule), strict=True)
    for rows, is_now, should in zip(of_rule(count, rule), found, right, strict=True):
        if is_now != should and (is_now[0] != is_now[1] or should[0] != should[1]):
            return rows
    return None


@lru_cache(maxsize=64)
def _every_read(shape: Fold, count: int, rule: Rule) -> tuple[Shown, ...]:
    """What a read shows on each valuation: a state is one end of many windows."""
    return tuple(read(shape, rows, rule, False) for rows in of_rule(count, rule))


@lru_cache(maxsize=64)
def _every_expected(logs: tuple[Log, ...], count: int, rule: Rule) -> tuple[Shown, ...]:
    return tuple(expected(logs, rows, rule, False) for rows in of_rule(count, rule))
