"""Every way in which the logs of a file group can hold rows of one key, and the first on which two answers differ.

A valuation gives each log no row, an upsert or a delete, and orders the ordering values weakly; it is all that an
answer for one key can depend on. Logs are renamed to their rank first, so that one shape is evaluated once however
many states show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from itertools import product

from ..fold import Fold, evaluate
from ..record import Ranked, Rule
from ..table import Log
from .oracle import Row, winner

Valuation = dict[Log, Row]
LARGEST = 5
"""More logs than this in one file group: 2^n times the weak orders of n, beyond what a search can evaluate."""


@cache
def valuations(count: int, event_time: bool) -> tuple[Valuation, ...]:
    """Every valuation of logs (1, 0) .. (count, 0), fewest rows first; commit time needs no ordering values."""
    if count > LARGEST:
        raise ValueError(f"{count} logs in one file group are more than the {LARGEST} that rows are evaluated for")
    found = []
    for kinds in product((None, False, True), repeat=count):
        present = [index for index, kind in enumerate(kinds) if kind is not None]
        for orders in weak_orders(len(present)) if event_time else ((1,) * len(present),):
            given = dict(zip(present, orders, strict=True))
            found.append({(i + 1, 0): Row(given[i], bool(kinds[i])) for i in present})
    return tuple(sorted(found, key=lambda rows: (len(rows), [(log, row) for log, row in rows.items()])))


def weak_orders(count: int) -> Iterator[tuple[int, ...]]:
    """Every weak order of `count` values, written as ranks from 1 without a gap."""
    for ranks in product(range(1, count + 1), repeat=count):
        if set(ranks) == set(range(1, max(ranks, default=0) + 1)):
            yield ranks


def renamed(shape: Fold, names: Mapping[Log, Log]) -> Fold:
    """The same tree over other names of logs."""
    base = renamed(shape.base, names) if shape.base is not None else None
    changed = tuple(renamed(file, names) for file in shape.changed)
    shown = None if shape.shown is None else tuple(names[log] for log in shape.shown)
    logs = tuple(renamed(log, names) if isinstance(log, Fold) else names[log] for log in shape.logs)
    return Fold(base, logs, shape.tombstones, changed, shown, shape.deletes)


def names_for(logs: tuple[Log, ...]) -> dict[Log, Log]:
    """Log -> (place in the order given, 0)."""
    return {log: (place + 1, 0) for place, log in enumerate(logs)}


def read(shape: Fold, rows: Valuation, rule: Rule, deletes: bool) -> Log | None:
    """The log whose row a read shows; a delete shows nothing, unless deletes are part of the answer."""

    def record_of(log: Log) -> Ranked | None:
        row = rows.get(log)
        return None if row is None else Ranked(row.ordering, 0, row.deleted, log)

    won = evaluate(shape, record_of, rule)
    if won is None or (won.deleted and not deletes):
        return None
    log: Log = won.content
    return log


def expected(logs: tuple[Log, ...], rows: Valuation, rule: Rule, deletes: bool) -> Log | None:
    """What the oracle has a read show."""
    log = winner(logs, rows, rule.event_time)
    return None if log is None or (rows[log].deleted and not deletes) else log


@lru_cache(maxsize=1 << 16)
def differs_from_oracle(shape: Fold, logs: tuple[Log, ...], count: int, rule: Rule, deletes: bool) -> Valuation | None:
    """The first valuation on which a read is not what the completed writes `logs` make it; names are renamed ones."""
    for rows in valuations(count, rule.event_time):
        if read(shape, rows, rule, deletes) != expected(logs, rows, rule, deletes):
            return rows
    return None


@lru_cache(maxsize=1 << 16)
def differ(one: Fold, other: Fold, count: int, rule: Rule, deletes: bool) -> Valuation | None:
    """The first valuation on which two reads differ."""
    for rows in valuations(count, rule.event_time):
        if read(one, rows, rule, deletes) != read(other, rows, rule, deletes):
            return rows
    return None


@cache
def falls_behind(old: int, new: int, rule: Rule) -> Valuation | None:
    """Of logs by rank: the first valuation on which the state of the first `old`, with what the logs up to `new` make
    merged into it, is not the state of the first `new`. States are records and tombstones."""
    names = tuple((place + 1, 0) for place in range(new))
    for rows in valuations(new, rule.event_time):
        parts = (expected(logs, rows, rule, deletes=True) for logs in (names[:old], names[old:]))
        merged = winner(tuple(log for log in parts if log is not None), rows, rule.event_time)
        if merged != expected(names, rows, rule, deletes=True):
            return rows
    return None


@lru_cache(maxsize=1 << 16)
def changes_differ(before: tuple[Fold, tuple[Log, ...]], after: tuple[Fold, tuple[Log, ...]], count: int, rule: Rule) \
        -> Valuation | None:  # fmt: skip
    """The first valuation on which the change between two reads is not the one between the two oracles' states."""
    for rows in valuations(count, rule.event_time):
        found = (read(before[0], rows, rule, False), read(after[0], rows, rule, False))
        right = (expected(before[1], rows, rule, False), expected(after[1], rows, rule, False))
        if found != right and (found[0] != found[1] or right[0] != right[1]):
            return rows
    return None
