"""The selection of a read: columns, a condition on rows, and partitions."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ..config import TableConfig
from ..context import Context
from ..data.predicate import Predicate, text_of
from ..data.pruning import groups_to_read
from ..data.ranges import LogRanges, decode_ranges
from ..data.tasks import LogInput, ReadTask, TableShape
from ..errors import BadInput
from ..files.group_files import Group
from ..timeline.history import Whole
from ..timeline.metadata import RANGES
from ..writes.batch import named_paths
from .tasks import selected
from .whole_numbers import compared, inside, is_number

Triple = tuple[str, str, Any]
Where: TypeAlias = "pc.Expression | Sequence[Triple]"

_COMPARE: Final = {
    "=": "__eq__",
    "==": "__eq__",
    "!=": "__ne__",
    "<": "__lt__",
    "<=": "__le__",
    ">": "__gt__",
    ">=": "__ge__",
}
_FORMS: Final = 'give a pyarrow expression, or triples like ("day", ">=", "2026-11-01"), all of which must be true'


@dataclass(frozen=True, slots=True)
class ReadSelection:
    """The columns, the row condition and the partitions that a read selects. An empty tuple or None selects everything.
    """

    columns: tuple[str, ...] = ()
    where: Predicate | None = None
    partitions: frozenset[str] | None = None

    def groups(self, groups: Iterable[Group], config: TableConfig, shape: TableShape) -> frozenset[Group]:
        """Return the file groups that can contain a selected row. In a table of another engine, `where` excludes no
        groups, because the columns of a row do not determine its file group.
        """
        kept = frozenset(group for group in groups if self.partitions is None or group[0] in self.partitions)
        return groups_to_read(self.where, shape, kept) if self.where and config.own else kept

    def tasks(
        self, context: Context, config: TableConfig, timeline: Whole, tasks: Sequence[ReadTask]
    ) -> list[ReadTask]:
        """Return the subset of `tasks` that can contain selected rows, each restricted to the selected columns."""
        if not tasks:
            return []
        ranges = RangesOfLogs(context, timeline)
        kept = self.groups(((task.partition, task.file_id) for task in tasks), config, tasks[0].shape)
        wanted = [task for task in tasks if (task.partition, task.file_id) in kept]
        if not self.skips(context):
            return [replace(task, columns=self.columns) for task in wanted]
        return [
            replace(
                task,
                columns=self.columns,
                where=self.where,
                tombstones=ranges.of(task.tombstones),
                logs=ranges.of(task.logs),
            )
            for task in wanted
        ]

    def skips(self, context: Context) -> bool:
        """Return True if the tasks may skip data, because the read has a condition or Spark will add one when the tasks
        run.
        """
        return self.where is not None or context.jobs.takes_conditions_later


EVERYTHING: Final = ReadSelection()


def selection(
    config: TableConfig,
    schema: pa.Schema,
    columns: Sequence[str] = (),
    where: Where | None = None,
    partitions: Collection[str] | None = None,
) -> ReadSelection:
    """Validate and return the selection of a read. `schema` contains the columns that can be selected. Raises
    `BadInput` for an unknown column, an invalid condition, or a path that is not a partition of the table.
    """
    names = tuple(selected(schema, columns).names) if columns else ()
    paths = None
    if partitions is not None:
        asked = "read the partition"
        paths = frozenset(named_paths(partitions, config, asked) if config.own else [*partitions])
    return ReadSelection(names, None if where is None else predicate(where, schema), paths)


def predicate(where: Where, schema: pa.Schema) -> Predicate:
    """Return the predicate for a user's condition on the columns of `schema`."""
    if isinstance(where, pc.Expression):
        return _checked(where, schema, text_of(where), {})
    if isinstance(where, str | tuple | Mapping) or not isinstance(where, Sequence) or not where:
        raise BadInput(f"read where {where!r}", "that is not a condition", _FORMS)
    parts = [_condition(triple, schema) for triple in where]
    expression = parts[0]
    for part in parts[1:]:
        expression = expression & part
    # A comparison with null selects no row, so it must not select a bucket.
    equal = {name: value for name, operator, value in where if _COMPARE.get(operator) == "__eq__" and value is not None}
    return _checked(expression, schema, repr(list(where)), equal)


def _condition(triple: object, schema: pa.Schema) -> pc.Expression:
    asked = f"read where {triple!r}"
    if not isinstance(triple, Sequence) or isinstance(triple, str) or len(triple) != 3:
        raise BadInput(asked, "that is not a triple of column, operator and value", _FORMS)
    name, operator, value = triple
    if not isinstance(name, str):
        raise BadInput(asked, f"the column {name!r} is of type {type(name).__qualname__}", "give the name of a column")
    column, kind = pc.field(selected(schema, [name]).field(0).name), schema.field(name).type
    try:
        if operator in ("in", "not in"):
            values = list(value)
            is_exact = pa.types.is_integer(kind) and all(each is None or is_number(each) for each in values)
            found = inside(column, values, kind) if is_exact else column.isin(values)
            return found if operator == "in" else ~found
        if operator in _COMPARE:
            method = _COMPARE[operator]
            is_exact = pa.types.is_integer(kind) and is_number(value)
            return compared(column, method, value, kind) if is_exact else getattr(column, method)(value)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as unfit:
        remedy = f"compare with a value of type {kind}"
        raise BadInput(asked, f"its value does not fit ({unfit})", remedy) from None
    raise BadInput(asked, f"there is no operator {operator!r}", f"use one of {', '.join([*_COMPARE, 'in', 'not in'])}")


def _checked(expression: pc.Expression, schema: pa.Schema, text: str, equal: Mapping[str, Any]) -> Predicate:
    asked = f"read where {text}"
    if refused := _refusal(expression, schema):
        raise BadInput(asked, refused, f"there are {', '.join(f'{each.name} ({each.type})' for each in schema)}")
    names = [name for place, name in enumerate(schema.names) if _refusal(expression, schema.remove(place))]
    if not names:
        raise BadInput(asked, "the condition names no column", "name a column, or leave the condition out")
    return Predicate(expression, pa.schema([schema.field(name) for name in names]), equal)


def _refusal(expression: pc.Expression, schema: pa.Schema) -> str | None:
    from pyarrow import acero  # it imports pandas, which takes half a second

    rows = acero.Declaration("table_source", acero.TableSourceNodeOptions(schema.empty_table()))
    matching = acero.Declaration("filter", acero.FilterNodeOptions(expression))
    try:
        acero.Declaration.from_sequence([rows, matching]).to_table(use_threads=False)
    except (pa.ArrowException, TypeError, ValueError) as unfit:
        return str(unfit).partition(" in ")[0]
    return None


class RangesOfLogs:
    """Looks up the value range of each column of a log file in the commit that lists the log file."""

    def __init__(self, context: Context, timeline: Whole) -> None:
        self._context = context
        self._timeline = timeline
        self._listed: dict[str, dict[str, LogRanges]] = {}

    def of(self, logs: Sequence[LogInput]) -> tuple[LogInput, ...]:
        """Return the log files, each with the value ranges of its columns. The value ranges are unknown if another
        engine wrote the log file, or if writes have appended to it.
        """
        return tuple(replace(log, ranges=None if log.appended else self._of(log)) for log in logs)

    def _of(self, log: LogInput) -> LogRanges | None:
        # Kept for one read: each commit has the ranges of many logs.
        if log.requested not in self._listed:
            self._listed[log.requested] = self._decoded(log.requested)
        return self._listed[log.requested].get(log.path)

    def _decoded(self, requested: str) -> dict[str, LogRanges]:
        instant = self._timeline.find(requested)
        if instant is None or instant.completed is None:
            return {}
        commit = self._context.commits.commit(instant)
        bounds = decode_ranges(commit.extra[RANGES]) if commit.own and RANGES in commit.extra else {}
        return {
            stat.path: LogRanges(bounds[stat.path], stat.deletes > 0) for stat in commit.stats if stat.path in bounds
        }
