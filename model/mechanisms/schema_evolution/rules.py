"""Defines which of the added columns a read returns. A schema is modelled as the number of nullable columns that have
been added to the table.

The schema evolver chooses the time of a schema change under the lock; the table has the new column from that time on.
An instant that records the change completes later. An actor that opened the table before a column was added continues
without the new column. `schemas` contains the time at which each column was added.

    A snapshot query shows the current columns of the table. By default, a read as of a time shows the columns that the
    table had at that time. A row has a value in each column that its writer knew, unless a compaction has dropped the
    column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Any, Literal, NamedTuple

from ...answers import Query, Record
from ...kernel.merge import Fold, Ranked, logs_of
from ...kernel.table import Log, Table, Write
from ...machine.marks import in_shapes, mark, with_mark
from ...machine.options import Limits, Options, limit, option
from ...rules import Rules


class SchemaEvolution(Options):
    """The options that decide which added columns reads show and table services write."""

    columns_shown: Literal["as_of_time", "current", "last_commit"] = option(
        "as_of_time",
        "which columns a read as of a time shows. as_of_time: those that the table had then; current: those of now; "
        "last_commit: those that the commit requested last names, even if its writer did not find all (Apache Hudi)",
    )
    columns_written: Literal["current", "at_open"] = option(
        "current",
        "which columns a service writes: those that the table has when the service starts its plan, or those that it "
        "had when the service opened the table",
    )


class Alterations(Limits):
    """The limit on how many columns are added to the table."""

    alterations: int = limit(0, "how often a column is added to the table")


class Altered(NamedTuple):
    """A published commit without files that records a schema change. `columns` is the total number of added columns."""

    requested: int
    completed: int
    actor: str
    columns: int

    @property
    def action(self) -> str:
        return "deltacommit"


@in_shapes("found", "kind")
class Columns(NamedTuple):
    """Data attached to a write: `found` is the number of added columns when the writer opened the table."""

    found: int = 0
    kind: str = "columns"


@in_shapes("written", "kind")
class PlanColumns(NamedTuple):
    """Data attached to a plan: `written` is the number of added columns in its base files, or None if not recorded."""

    written: int | None = None
    kind: str = "plan columns"


class Schemas(NamedTuple):
    """Data attached to a table: `since` lists the times at which columns were added, and `altered` the commits that
    record them.
    """

    since: tuple[int, ...] = ()
    altered: tuple[Altered, ...] = ()
    kind: str = "schemas"


def columns(write: Write) -> int:
    """Return how many added columns the writer of `write` knew when it wrote."""
    return mark(write, Columns).found if write.marks else 0


def columns_in(table: Table, schemas: tuple[int, ...], published: Iterable[Any]) -> Table:
    """Add to the table's state when each column was added, and which commits record the schema changes."""
    altered = tuple(each for each in published if isinstance(each, Altered))
    return table._replace(marks=with_mark(table.marks, Schemas(schemas, altered)))


def schemas_of(table: Table) -> tuple[int, ...]:
    """Return the times at which columns were added to the table."""
    return mark(table, Schemas).since if table.marks else ()


class WithAddedColumns(Rules):
    """The rules for reading tables with added columns."""

    compares_requested_times = False

    def base_file(self, table: Table, group: int, barrier: int | None) -> Fold | None:
        fold = super().base_file(table, group, barrier)
        plan = next((plan for plan in table.plans if plan.requested == barrier), None)
        if fold is None or plan is None or not plan.marks:
            return fold
        return fold._replace(marks=with_mark(fold.marks, mark(plan, PlanColumns)))

    def shown_row(self, table: Table, query: Query) -> Callable[[Fold, Ranked], Record]:
        show = super().shown_row(table, query)
        return with_columns(self, table, query, show) if schemas_of(table) else show


def with_columns(
    rules: Rules, table: Table, query: Query, show: Callable[[Fold, Ranked], Record]
) -> Callable[[Fold, Ranked], Record]:
    """Return a version of the function `show` whose rows include the values of the visible columns."""
    # An incremental window with an end shows the columns of its end, like a read as of that time.
    of_now = query.kind not in ("as_of", "incremental") or query.until is None
    shown = shown_at(rules, table, inf if of_now else query.until or 0)

    def show_columns(fold: Fold, won: Ranked) -> Record:
        row = show(fold, won)
        if row.deleted or won.log is None:
            return row
        # Each compaction may have been by a service that knew fewer columns than the writer.
        own = min(columns_of(table.writes, won.log), kept_of(fold, won.log))
        return row._replace(value=text_of(str(row.value), own, shown))

    return show_columns


def had_at(schemas: Iterable[int], time: float) -> int:
    """Return the number of columns that had been added to a table at or before `time`."""
    return sum(since <= time for since in schemas)


def shown_at(rules: Rules, table: Table, time: float) -> int:
    """Return how many of the added columns a read as of `time` shows. For a snapshot query, `time` is infinity."""
    shown, schemas = rules[SchemaEvolution].columns_shown, mark(table, Schemas)
    if shown == "current":
        return len(schemas.since)
    if shown == "as_of_time":
        return had_at(schemas.since, time)
    commits = [(write.completed, write.requested, columns(write)) for write in table.writes]
    commits += [(each.completed, each.requested, each.columns) for each in schemas.altered]
    # By requested time, although the others go by completion: this choice is Hudi's, which takes the last commit's
    # schema.
    done = [(requested, count) for at, requested, count in commits if at is not None and at <= time]
    return max(done, default=(0, 0))[1]


def kept_of(fold: Fold, log: Log) -> float:
    """Return an upper bound on the number of added columns that a log's rows have after compactions. If no compaction
    has merged the log, return infinity, which means that no column was dropped.
    """
    # The log is read as it is, so no service has rewritten its rows.
    if log in fold.logs:
        return inf
    for part in (*((fold.base,) if fold.base else ()), *(each for each in fold.logs if isinstance(each, Fold))):
        if log in logs_of(part):
            written = mark(part, PlanColumns).written
            return min(inf if written is None else written, kept_of(part, log))
    return 0


def text_of(value: str, own: float, shown: int) -> str:
    """Return the values of a row's visible columns as text, for example `w1.1 c1:w1.1 c2:-`, where `-` means null. A
    row has values only in its first `own` added columns.
    """
    return " ".join((value, *(f"c{n}:{value if n <= own else '-'}" for n in range(1, shown + 1))))


def columns_of(writes: Iterable[Write], log: Log) -> int:
    """Return how many added columns the writer of a log knew when it wrote the log."""
    return next((columns(write) for write in writes if write.requested == log[0]), 0)
