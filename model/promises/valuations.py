"""A valuation assigns a possible record of one key to each log of a file group. The functions of this module search for
a valuation in which two reads, or a read and the required answer, return different rows.

In a valuation, each log contains no record of the key, an upsert (of some columns) or a delete. Ordering values can be
tied. The answer for one key depends only on the valuation (the key's record in each log). Before a comparison, each log
is renamed to its position in merge order. States whose merge trees are then equal share cached results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import chain, combinations, product

from ..answers import Record
from ..kernel.merge import Fold, Merger, Ranked, evaluate, logs_of
from ..kernel.table import Log
from ..mechanisms.merge_function import MergedRecords
from ..mechanisms.partial_updates import Made
from .oracle import Row, winner
from .promise import NotJudged

Valuation = dict[Log, Row]
Shown = Log | Made | MergedRecords | None
"""What a read shows for the key: the log whose row it is, or how several records form the row; None: no row."""
LARGEST = 5
"""The most logs in one file group. The number of valuations is 2^n times the number of weak orders of n."""


@cache
def valuations(count: int, event_time: bool, columns: tuple[str, ...] = ()) -> tuple[Valuation, ...]:
    """Return every valuation of `count` logs, sorted by the number of records. The logs are named (1, 0) to (count, 0):
    requested time and version, as for real logs. If `event_time` is False, ordering values are all equal.

    `columns` names the columns that partial updates may set; () if there are no partial updates.
    """
    if count > LARGEST:
        raise NotJudged(f"{count} logs in one file group are more than the {LARGEST} that rows are evaluated for")
    sets = tuple(some for size in range(len(columns)) for some in combinations(columns, size + 1)) or ((),)
    every = (None, *((False, some) for some in sets), (True, ()))
    every_valuation = []
    for kinds in product(every, repeat=count):
        present = [index for index, kind in enumerate(kinds) if kind is not None]
        for orders in weak_orders(len(present)) if event_time else ((1,) * len(present),):
            ordering = dict(zip(present, orders, strict=True))
            every_valuation.append({(i + 1, 0): Row(ordering[i], *kind) for i in present if (kind := kinds[i])})
    return tuple(sorted(every_valuation, key=lambda rows: (len(rows), [(log, row) for log, row in rows.items()])))


def of_merger(count: int, merger: Merger) -> tuple[Valuation, ...]:
    """Return every valuation of `count` logs. The records' ordering values differ only if `merger` uses event-time
    ordering.
    """
    return valuations(count, merger.event_time, merger.columns)


def weak_orders(count: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to order `count` values with ties, as a tuple of ranks from 1 without gaps."""
    for ranks in product(range(1, count + 1), repeat=count):
        if set(ranks) == set(range(1, max(ranks, default=0) + 1)):
            yield ranks


def renamed(fold: Fold, names: Mapping[Log, Log]) -> Fold:
    """Return a copy of a merge tree in which each log is replaced by its name in `names`."""
    base = renamed(fold.base, names) if fold.base is not None else None
    files = fold.files and fold.files.renamed(lambda file: renamed(file, names))
    shown = None if fold.shown is None else tuple(names[log] for log in fold.shown if log in names)
    logs = tuple(renamed(log, names) if isinstance(log, Fold) else names[log] for log in fold.logs)
    return fold._replace(base=base, logs=logs, shown=shown, files=files)


def records_by_definition(
    logs: tuple[Log, ...], rows: Mapping[Log, Record], merger: Merger, window: bool
) -> list[Record]:
    """Return the records that a correct read returns for one key. If `window` is True, the answer may include a delete.
    """
    found = expected(logs, {log: Row(row.ordering, row.deleted, row.sets) for log, row in rows.items()}, merger, window)
    if found is None:
        return []
    if isinstance(found, Made | MergedRecords):
        assert merger.combination is not None, "only a combination makes such an answer"
        return list(merger.combination.records_of(found, lambda log: rows[log], window))
    return [rows[found]._replace(requested=found[0])]


def names_for(logs: tuple[Log, ...]) -> dict[Log, Log]:
    """Return a short name for each log, which depends only on its position: (1, 0), (2, 0), and so on."""
    return {log: (place + 1, 0) for place, log in enumerate(logs)}


def read(fold: Fold, rows: Valuation, merger: Merger, deletes: bool) -> Shown:
    """Return the row that a read returns for one key; None if there is none. If the highest-ranked record is a delete,
    it is returned only if `deletes` is True.
    """
    if merger.combination:
        combined: Shown = merger.combination.read(fold, rows.get, merger, deletes)
        return combined
    won = evaluate(fold, {log: _ranked(log, row) for log, row in rows.items()}.get, merger)
    if won is None or (won.deleted and not deletes):
        return None
    log: Log = won.content
    return log


@cache
def _ranked(log: Log, row: Row) -> Ranked:
    return Ranked(row.ordering, 0, row.deleted, log, log)


def expected(logs: tuple[Log, ...], rows: Valuation, merger: Merger, deletes: bool) -> Shown:
    """Return the required answer for one key, which the oracle computes from the completed `logs` alone."""
    if merger.combination:
        combined: Shown = merger.combination.by_definition(logs, rows, merger, deletes)
        return combined
    log = winner(logs, rows, merger.event_time)
    return None if log is None or (rows[log].deleted and not deletes) else log


@lru_cache(maxsize=1 << 16)
def reads_right(fold: Fold, logs: tuple[Log, ...], merger: Merger, deletes: bool) -> bool:
    """True if a read through the merge tree `fold` always returns the same row as merging the completed `logs`."""
    names = names_for(_once_each(logs, logs_of(fold)))
    wanted = tuple([names[log] for log in logs])
    return differs_from_oracle(renamed(fold, names), wanted, len(names), merger, deletes) is None


def _once_each(*several: Iterable[Log]) -> tuple[Log, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(several)))


@lru_cache(maxsize=1 << 16)
def differs_from_oracle(
    fold: Fold, logs: tuple[Log, ...], count: int, merger: Merger, deletes: bool
) -> Valuation | None:
    """Return the first valuation (records of one key) for which a read shows a wrong row; None if there is none. The
    correct row is the merge of the completed `logs`.
    """
    for rows in of_merger(count, merger):
        if read(fold, rows, merger, deletes) != expected(logs, rows, merger, deletes):
            return rows
    return None


@lru_cache(maxsize=1 << 16)
def differ(one: Fold, other: Fold, count: int, merger: Merger, deletes: bool) -> Valuation | None:
    """Return the first valuation (records of one key) on which two reads differ; None if there is none."""
    for rows in of_merger(count, merger):
        if read(one, rows, merger, deletes) != read(other, rows, merger, deletes):
            return rows
    return None


@lru_cache(maxsize=1 << 16)
def adds_up_wrongly(before: Fold, window: Fold, after: Fold, count: int, merger: Merger) -> Valuation | None:
    """Merge an incremental query's answer into the state at the start of its window, and compare the result with the
    state at the end. Return the first valuation (records of one key) for which the merged row differs from the row at
    the end; None if there is none.

    Tombstones (retained deletes) in the state at the start of the window are merged as well. The final comparison
    ignores tombstones, because a table service may drop them.
    """
    names = tuple((place + 1, 0) for place in range(count))
    states, windows = (_every_read(fold, count, merger, deletes=True) for fold in (before, window))
    ends = _every_read(after, count, merger)
    for rows, state, inside, end in zip(of_merger(count, merger), states, windows, ends, strict=True):
        if end != _without_delete(_merged_on(names, rows, state, inside, merger), rows):
            return rows
    return None


def _without_delete(shown: Shown, rows: Valuation) -> Shown:
    if isinstance(shown, Made):
        return shown._replace(delete=None) if shown.columns else None
    if isinstance(shown, MergedRecords):
        return shown._replace(delete=None) if shown.value else None
    return None if shown is None or rows[shown].deleted else shown


def _merged_on(names: tuple[Log, ...], rows: Valuation, state: Shown, window: Shown, merger: Merger) -> Shown:
    if merger.combination:
        combined: Shown = merger.combination.merged_on(names, rows, state, window, merger)
        return combined
    left = {log: row for log, row in rows.items() if log in (state, window)}
    return expected(names, left, merger, deletes=True)


End = tuple[Fold, tuple[Log, ...]]
"""One end of a window: the read of its state, and the logs that the read must merge."""


@lru_cache(maxsize=1 << 16)
def changes_right(before: End, after: End, merger: Merger) -> bool:
    """True if the change log computed from two reads equals the change log that the oracle requires."""
    if all(reads_right(*end, merger, False) for end in (before, after)):
        return True
    names = names_for(_once_each(after[1], before[1], logs_of(after[0]), logs_of(before[0])))
    ends = [(renamed(fold, names), tuple([names[log] for log in logs])) for fold, logs in (before, after)]
    return changes_differ(ends[0], ends[1], len(names), merger) is None


@lru_cache(maxsize=1 << 16)
def changes_differ(before: End, after: End, count: int, merger: Merger) -> Valuation | None:
    """Return the first valuation (records of one key) for which a change log is wrong; None if there is none."""
    shown = zip(_every_read(before[0], count, merger), _every_read(after[0], count, merger), strict=True)
    right = zip(_every_expected(before[1], count, merger), _every_expected(after[1], count, merger), strict=True)
    for rows, is_now, should in zip(of_merger(count, merger), shown, right, strict=True):
        if is_now != should and (is_now[0] != is_now[1] or should[0] != should[1]):
            return rows
    return None


@lru_cache(maxsize=64)
def _every_read(fold: Fold, count: int, merger: Merger, deletes: bool = False) -> tuple[Shown, ...]:
    return tuple(read(fold, rows, merger, deletes) for rows in of_merger(count, merger))


@lru_cache(maxsize=64)
def _every_expected(logs: tuple[Log, ...], count: int, merger: Merger) -> tuple[Shown, ...]:
    return tuple(expected(logs, rows, merger, False) for rows in of_merger(count, merger))
