"""`Table.merge`: updates, deletes and inserts rows by a join with other rows, as SQL's MERGE INTO does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..actions.newest_state import is_empty, rows_at, state_of
from ..config import TableConfig
from ..context import Context
from ..data.columns import IS_DELETED
from ..errors import BadInput
from ..schema.accepted import fitted
from ..timeline import Instant
from ..writes.values import check_names, computed, mask_of, spark_column

ASKED = "merge: set the column"
CONDITION = "merge on the condition"
_TWICE = "a row of the table matches several rows of the source"
_ONE = "aggregate the source, so that it has one row for each row of the table"

Write = Callable[[Any, str | None], Instant]
"""Writes the rows of a merge, which were computed from the state at a time."""


class Clause(NamedTuple):
    """What happens to a pair of rows, or to a row of the source without a partner. `values` maps columns to constants
    and expressions; None means all columns of the source.
    """

    verb: Literal["update", "delete", "insert"]
    condition: Any
    values: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class MergeBuilder:
    """A merge that is being described. Each pair of rows takes the first clause whose condition is true.

    In conditions and values, the columns of the table are called ``target.name`` and those of the source
    ``source.name``: ``pc.field("source.fare") > 3`` without Spark, ``col("source.fare") > 3`` with Spark.
    """

    context: Context
    config: TableConfig
    source: Any
    on: tuple[str, ...]
    write: Write
    clauses: tuple[Clause, ...] = ()

    def when_matched_update(self, set: Mapping[str, Any] | None = None, condition: Any = None) -> MergeBuilder:
        """Update the matching row: the columns in `set`, or all columns that the source has."""
        check_names(set or {}, self.config, ASKED, fixed=True)
        return self._with(Clause("update", condition, set))

    def when_matched_delete(self, condition: Any = None) -> MergeBuilder:
        """Delete the matching row."""
        return self._with(Clause("delete", condition))

    def when_not_matched_insert(self, values: Mapping[str, Any] | None = None, condition: Any = None) -> MergeBuilder:
        """Insert a row for a row of the source that matches none: the columns in `values`, or all columns that the
        source has.
        """
        check_names(values or {}, self.config, ASKED, fixed=False)
        return self._with(Clause("insert", condition, values))

    def execute(self) -> Instant | None:
        """Run the merge as one commit, and return its instant; None if no clause applied to any row.

        The rows are computed from the newest settled state T. An optimistic writer raises `Conflict` if another write
        to the table has completed since T, so that merges are serializable. A non-blocking writer writes blindly: it
        neither sees nor excludes a write that completes after T, and a concurrent update of the same row can be lost.
        """
        if not self.clauses:
            raise BadInput("merge", "no clause says what to do", "add when_matched_update or another clause")
        time = state_of(self.context)
        target = rows_at(self.context, self.config, time)
        rows = self._by_arrow(target) if isinstance(target, pa.Table) else self._by_spark(target)
        return None if is_empty(rows) else self.write(rows, time)

    def _with(self, clause: Clause) -> MergeBuilder:
        return replace(self, clauses=(*self.clauses, clause))

    def _of(self, *verbs: str) -> list[Clause]:
        return [clause for clause in self.clauses if clause.verb in verbs]

    def _all_values(self, names: list[str], column: Callable[[str], Any], clause: Clause) -> dict[str, Any]:
        """Return the values of a clause; without values, the columns of the source that the table has. An update keeps
        the key and the partition of its row.
        """
        if clause.values is not None:
            return dict(clause.values)
        fixed = (*self.config.record_key, *self.config.partition_by) if clause.verb == "update" else ()
        here = [name for name in names if name in self.config.schema.names and name not in fixed]
        return {name: column(f"source.{name}") for name in here}

    def _by_arrow(self, target: pa.Table) -> pa.Table:
        source, schema = self.source, self.config.schema
        of_target, of_source = _pairs(target, source, self.on)
        if len(np.unique(of_target)) < len(of_target):
            raise BadInput("merge", _TWICE, _ONE)
        pairs = _prefixed(target, "target").take(pa.array(of_target))
        for name, column in zip(source.column_names, source.take(pa.array(of_source)).columns, strict=True):
            pairs = pairs.append_column(f"source.{name}", column)
        parts = []
        for clause in self._of("update", "delete"):
            mask = mask_of(pairs, clause.condition, CONDITION)
            here, pairs = pairs.filter(mask), pairs.filter(pc.invert(mask))
            values = {} if clause.verb == "delete" else self._all_values(source.column_names, pc.field, clause)
            new = computed(here, values, schema, ASKED)
            columns = {n: new[n] if n in values else here[f"target.{n}"] for n in schema.names}
            parts.append(_flagged(columns, len(here), clause.verb == "delete"))
        alone = _prefixed(source, "source").take(pa.array(np.setdiff1d(np.arange(len(source)), of_source)))
        for clause in self._of("insert"):
            mask = mask_of(alone, clause.condition, CONDITION)
            here, alone = alone.filter(mask), alone.filter(pc.invert(mask))
            values = self._all_values(source.column_names, pc.field, clause)
            new = computed(here, values, schema, ASKED)
            columns = {n: new[n] if n in values else pa.nulls(len(here), schema.field(n).type) for n in schema.names}
            parts.append(_flagged(columns, len(here), False))
        return pa.concat_tables(parts)

    def _by_spark(self, target: Any) -> Any:
        from pyspark.sql.functions import col, lit, when

        schema, names = self.config.schema, self.source.columns
        left, right = target.alias("target"), self.source.alias("source")
        equal = reduce(and_, (col(f"target.{name}") == col(f"source.{name}") for name in self.on))
        pairs = left.join(right, equal, "inner")
        key = [col(f"target.{name}") for name in (*self.config.record_key, *self.config.partition_by)]
        if not pairs.groupBy(*key).count().where(col("count") > 1).isEmpty():
            raise BadInput("merge", _TWICE, _ONE)
        parts = []
        for place, verbs in ((pairs, ("update", "delete")), (right.join(left, equal, "left_anti"), ("insert",))):
            which = when(lit(False), lit(-1))
            for number, clause in enumerate(self._of(*verbs)):
                which = which.when(lit(True) if clause.condition is None else clause.condition, lit(number))
            for number, clause in enumerate(self._of(*verbs)):
                values = {} if clause.verb == "delete" else self._all_values(names, col, clause)
                columns = [
                    spark_column(values[n] if n in values else None if verbs == ("insert",) else col(f"target.{n}"),
                                 n, schema, ASKED)
                    for n in schema.names
                ]  # fmt: skip
                rows = place.where(which == number).select(*columns)
                parts.append(rows.withColumn(IS_DELETED, lit(clause.verb == "delete")))
        return reduce(lambda one, other: one.unionByName(other), parts)


def _pairs(target: pa.Table, source: pa.Table, on: tuple[str, ...]) -> tuple[Any, Any]:
    """Return the row numbers of the pairs of rows that agree in the columns `on`; null equals nothing."""
    sides = []
    for table, name in ((target, "t"), (source, "s")):
        keys = {column: fitted(table[column], target.schema.field(column).type) for column in on}
        sides.append(pa.table(keys | {name: np.arange(len(table))}))
    joined = sides[0].join(sides[1], list(on), join_type="inner")
    return joined["t"].to_numpy(), joined["s"].to_numpy()


def _prefixed(rows: pa.Table, prefix: str) -> pa.Table:
    return rows.rename_columns([f"{prefix}.{name}" for name in rows.column_names])


def _flagged(columns: Mapping[str, Any], count: int, deletes: bool) -> pa.Table:
    return pa.table({**columns, IS_DELETED: pa.repeat(deletes, count)})
