"""Predicts the answers of a foreign reader such as hudi-rs. A foreign reader builds file slices by its own rules. The
rows in base files do not depend on these rules, because the table's writer compacted them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain, combinations
from math import inf
from typing import Any

from nbcc.model import Model, Protocol, Query, State
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.merge import Fold, Merger, Ranked, evaluate, logs_of
from nbcc.model.kernel.reads import base_file
from nbcc.model.kernel.table import Log, Table
from nbcc.model.mechanisms.log_compaction.rules import log_plans_of
from nbcc.model.rules import Rules
from nbcc.model.variants.merging import Merging
from nbcc.model.variants.slicing import Slicing, table_with_unpublished

from ...observables import Batch, canonical_rows

_BASE: Log = (0, 0)  # the rows of a base file, in the place of a log; no log has this name


def foreign_rows(
    model: Model, state: State, query: Query, data: Mapping[int, Batch], reader: Protocol
) -> tuple[Any, ...]:
    """Return the rows that a foreign reader returns for a snapshot, as-of or incremental read. ``reader`` contains the
    rules of the foreign reader; the table was written by the rules of the model's protocol.
    """
    table = model.table(state)
    if reader[Slicing].first_slice == "first_requested":  # such a reader sees the logs of pending writes
        table = table_with_unpublished(table, model.pending_writes(state))
    # By key, in all groups: a key is in one file group, so that no group overwrites the row of another.
    rows = {}
    for group in range(model.world.groups):
        until = inf if query.until is None else query.until
        if query.kind == "incremental":
            shape = rules_of(reader).incremental(table, group, query.after or 0, until)
        else:
            shape = rules_of(reader).as_of(table, group, until)
        written = _base_as_written(table, group, shape, model.rules, rules_of(reader))
        top = shape if written is None else shape._replace(base=Fold(None, (_BASE,)))
        # Whether a base file kept tombstones depends on the writer's rules.
        in_a_log = reader[Merging].fold == "logs_first"
        merger = model.merger._replace(logs_first=in_a_log)
        # The keys of the reader's slice: one that only the writer's slice has is not returned, right or wrong.
        for key in sorted({key for log in logs_of(shape) for key in _file(data, group, log)}):
            record_of = partial(_record, data, group, key)
            base = None if written is None else _of_base(written, record_of, model.merger, in_a_log)
            # The base is one log that has the compacted record: the reader does not look behind a base file.
            won = evaluate(top, partial(_on_base, base, record_of), merger)
            # A window contains deletes, a table does not.
            if won is not None and (query.kind == "incremental" or not won.deleted):
                rows[key] = won.content
    return canonical_rows(rows)


def _base_as_written(table: Table, group: int, shape: Fold, writer: Rules, reader: Rules) -> Fold | None:
    """Return the base file of a file slice, with the contents that the table's writer compacted into it. ``shape`` is
    the file slice under the reader's rules.
    """
    if shape.base is None:
        return None
    whole = shape.base._replace(shown=None)  # a window may hide rows of it
    # Newest first: of two base files with equal inputs the reader opens the newer one.
    for barrier, _ in sorted(writer.bases(table, group), reverse=True):
        if base_file(reader, table, group, barrier) == whole:
            written = base_file(writer, table, group, barrier)
            return written and written._replace(shown=shape.base.shown)
    raise AssertionError(f"no barrier of group {group} has the base {shape.base}")


def _of_base(
    written: Fold, record_of: Callable[[Log], Ranked | None], merger: Merger, deletes_in_a_log: bool
) -> Ranked | None:
    """Return the record of a base file. A window hides rows of it by their commit times, but not the deletes that the
    compaction kept if the reader finds these in a log: the deletes in a log have no commit times.
    """
    whole = evaluate(written._replace(shown=None), record_of, merger)
    is_kept_delete = whole is not None and whole.deleted and deletes_in_a_log
    return whole if is_kept_delete else evaluate(written, record_of, merger)


def _file(data: Mapping[int, Batch], group: int, log: Log) -> Mapping[str, Any]:
    return data.get(log[0], {}).get((group, log[1]), {})


def _record(data: Mapping[int, Batch], group: int, key: str, log: Log) -> Ranked | None:
    record = _file(data, group, log).get(key)
    return None if record is None else Ranked(record.ordering, 0, record.deleted, record._replace(requested=log[0]))


def _on_base(base: Ranked | None, record_of: Callable[[Log], Ranked | None], log: Log) -> Ranked | None:
    return base if log == _BASE else record_of(log)


def rule_of_difference(model: Model, state: State, query: Query, data: Mapping[int, Batch], reader: Protocol) -> str:
    """Return the option, such as the merge order, that explains a foreign reader's wrong answer, or the fewest options
    that explain it together: if the model's protocol is changed only in these, the model gives the same wrong answer.
    """
    answer = foreign_rows(model, state, query, data, reader)
    # From the model's protocol, not from the default one: Apache Hudi's tables differ in options in which hudi-rs does
    # not.
    own = model.protocol.to_mapping()
    options = [(name, value) for name, value in reader.to_mapping().items() if value != own[name]]
    # By size, so that the first that explains the answer has the fewest options.
    for some in chain.from_iterable(combinations(options, count) for count in range(1, len(options))):
        alone = Protocol.from_mapping({**model.protocol.to_mapping(), **dict(some)})
        if foreign_rows(model, state, query, data, alone) == answer:
            return _named(some)
    return _named(options)


def _named(options: Iterable[tuple[str, Any]]) -> str:
    return " and ".join(f"{name} = {value}" for name, value in options)


def is_inverted(table: Table) -> bool:
    """True if requested and completion times differ in order: a write was requested before another write or a completed
    plan, but completed after it.

    If requested and completion times have the same order, readers that order by requested time return correct
    snapshots.
    """
    rules = rules_of(Protocol())
    writes = [write for write in table.writes if write.completed is not None]
    done = [(write.requested, write.completed or 0) for write in writes]
    plans = [
        (plan.requested, plan.requested)
        for plan, completed in zip(table.plans, table.completed, strict=True)
        if completed is not None
    ]
    plans += [
        (plan.requested, int(rules.log_time(table, part.group, part.logs[-1])))
        for plan, completed in log_plans_of(table)
        if completed is not None
        for part in plan.groups
    ]
    return any(one < other and mine > theirs for one, mine in done for other, theirs in (*done, *plans))
