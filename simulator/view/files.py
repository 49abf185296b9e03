"""The files of a state as a page shows them: which slice a file lies in, whether the reading takes it, why if not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any

from nbcc.model import FileSlice, Model
from nbcc.model.fold import Fold, evaluate, logs_of
from nbcc.model.reads import as_of, base_file, incremental
from nbcc.model.record import Ranked
from nbcc.model.table import Log, Table

from .rows import Case, reader_table

Shown = list[Any]


def files_of(model: Model, state: Any, case: Case) -> dict[str, Shown]:
    """Name -> what is seen of it, by kind:

    ``slice G/B``   [status, reason]
    ``base G/B``    [status, reason, rows]
    ``log G/T.V``   [status, reason, rows, barrier B of its slice]

    G: file group, B: barrier (0: none), T: requested time, V: log version; rows are [key, value or null for a delete, ordering].
    Status: read | merged (its rows are in the base file that is read) | hidden | pending (its write is not completed,
    its plan has no base file yet).
    """
    found: dict[str, Shown] = {}
    by_group: dict[int, list[FileSlice]] = {group: [] for group in range(model.world.groups)}
    for each in model.slices(state):
        by_group[each.group].append(each)
    table = _seen(model, state, case)
    for group, slices in by_group.items():
        fold = _fold(model, table, group, case)
        found.update(_in_group(model, state, group, slices, fold, case))
        newest = (slices[-1].barrier or 0) if slices else 0
        for log in _pending(model, state, group):
            name = f"log {group}/{log[0]}.{log[1]}"
            if name not in found:
                found[name] = ["pending", "not completed", _rows(case, group, log), newest]
    return found


def _in_group(
    model: Model, state: Any, group: int, slices: list[FileSlice], fold: Fold, case: Case
) -> Iterator[tuple[str, Shown]]:
    base = _base_read(model, state, group, fold)
    merged = frozenset(logs_of(fold.base)) if fold.base is not None else frozenset()
    table = model.table(state)
    for each in slices:
        old = base is not None and (each.barrier or 0) < base
        yield f"slice {group}/{each.barrier or 0}", ["hidden", f"replaced by base t{base}"] if old else ["read", ""]
        if each.barrier is not None:
            yield f"base {group}/{each.barrier}", _base(model, table, each, base, case)
        for log in each.logs:
            status = _status(log, fold, merged, base, each, model, state, case)
            yield f"log {group}/{log[0]}.{log[1]}", [*status, _rows(case, group, log), each.barrier or 0]


def _base(model: Model, table: Table, each: FileSlice, read: int | None, case: Case) -> Shown:
    shape = base_file(table, each.group, each.barrier, model.protocol)
    rows = list(_base_rows(shape, each.group, model, case)) if shape is not None else []
    if each.base is None:
        return ["pending", "being compacted", rows]
    if each.barrier == read:
        return ["read", "", rows]
    return ["hidden", f"replaced by base t{read}" if read else "not seen by this read", rows]


def _base_rows(shape: Fold, group: int, model: Model, case: Case) -> Iterator[list[Any]]:
    keys = {key for log in logs_of(shape) for key in case.data.get(log[0], {}).get((group, log[1]), {})}
    for key in sorted(keys, key=str):

        def record_of(log: Log, key: Any = key) -> Ranked | None:
            record = case.data.get(log[0], {}).get((group, log[1]), {}).get(key)
            return None if record is None else Ranked(record.ordering, 0, record.deleted, record)

        won = evaluate(shape, record_of, model.rule)
        if won is not None and not (won.deleted and not model.rule.keeps_tombstones):
            yield [str(key), None if won.deleted else str(won.content.value), won.ordering]


def _status(
    log: Log, fold: Fold, merged: frozenset[Log], base: int | None, each: FileSlice, model: Model, state: Any, case: Case
) -> tuple[str, str]:
    if log in fold.logs:
        return "read", ""
    if log in merged:
        return "merged", f"in base t{base}"
    if base is not None and (each.barrier or 0) < base:
        return "hidden", f"older than base t{base}"
    query = case.reading.query
    if case.reading.reader:
        return "hidden", f"not in {case.reading.reader}'s listing"
    if query.kind == "incremental":
        return "hidden", f"outside (t{query.after or 0}, t{query.until}]"
    return "hidden", f"after t{query.until}"


def _base_read(model: Model, state: Any, group: int, fold: Fold) -> int | None:
    """The barrier of the base file that a fold starts with."""
    if fold.base is None:
        return None
    shapes = {plan.requested: plan.of(group) for plan in model.component(state, "plans")}
    return max(barrier for barrier, part in shapes.items() if part and set(part.logs) <= set(logs_of(fold.base)))


def _fold(model: Model, table: Table, group: int, case: Case) -> Fold:
    query = case.reading.query
    if query.kind == "incremental":
        return incremental(table, group, query.after or 0, query.until or inf, model.protocol)
    until = query.until if query.kind in ("as_of", "changes") else None
    return as_of(table, group, inf if until is None else until, model.protocol)


def _seen(model: Model, state: Any, case: Case) -> Table:
    """The table as the reading sees it: all of it, or what the reader's listing kept, once it has read."""
    seen = reader_table(model, state, case.reading.reader) if case.reading.reader else None
    return seen[1] if seen else model.table(state)


def _pending(model: Model, state: Any, group: int) -> Iterator[Log]:
    """Log files that are there while their write is not completed."""
    for actor in model.actors.get("writer", ()):
        own = model.component(state, actor)
        if own.requested:
            files = model.world.files(actor, own.number)[: own.files]
            yield from ((own.requested, version) for in_group, version in files if in_group == group)


def _rows(case: Case, group: int, log: Log) -> list[list[Any]]:
    records: Mapping[Any, Any] = case.data.get(log[0], {}).get((group, log[1]), {})
    return [[str(key), None if r.deleted else str(r.value), r.ordering] for key, r in records.items()]
