"""The methods of `Table` that compute rows from the table before they write, and those that describe the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pyarrow as pa

from .actions import as_of, upsert
from .actions.newest_state import Condition, rows_at, state_of
from .arguments import texts
from .config.summary import summary
from .data.jobs import InProcessJobs, PlannedReads, run_parts
from .data.tasks import ReadTask
from .dml import MergeBuilder
from .errors import BadInput
from .methods import perform
from .reads.selection import Where
from .reads.times import Time
from .schema import META_COLUMNS, to_spark
from .table_reads import TableReads
from .timeline import Instant
from .writes.batch import rows_of, schema_of

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .table import Table


class HistoryEntry(NamedTuple):
    """A completed instant with what it did: the operation that its commit records, and the rows and files that it
    wrote.
    """

    completed: str
    requested: str
    action: str
    operation: str
    rows: int
    deletes: int
    files: int


class TableDml(TableReads):
    """Methods that know the table's state. Each verb reads the newest settled state T, and writes one commit.

    With OPTIMISTIC_CONCURRENCY_CONTROL, a verb raises `Conflict` if another write to a partition that it has read has
    completed since T: verbs are serializable. With NON_BLOCKING_CONCURRENCY_CONTROL, a verb writes blindly: it neither
    sees nor excludes writes that complete after T. Where such a write has the greater ordering value, its row stays;
    otherwise the verb's row replaces it, and that update is lost.
    """

    def merge(self, source: Any, on: str | Sequence[str] | None = None) -> MergeBuilder:
        """Begin a merge with the rows of `source`, joined by the columns `on` (default: key and partition columns).

        The result describes the merge by `when_matched_update`, `when_matched_delete` and `when_not_matched_insert`,
        and runs it by `execute`.
        """
        asked, config = "merge", self.config
        names = (on,) if isinstance(on, str) else tuple(texts(on or (*config.record_key, *config.partition_by), asked))
        rows = rows_of(source, asked)
        present = schema_of(rows, asked)
        for name in names:
            if name not in config.schema.names or name not in present.names:
                exists = f"the table has {', '.join(config.schema.names)}; the source has {', '.join(present.names)}"
                raise BadInput(f"merge on {name}", exists, "name columns of both")
        kept = [name for name in present.names if name not in META_COLUMNS]
        spark = not isinstance(self.context.jobs, InProcessJobs)
        if spark == isinstance(rows, pa.Table):
            exists = f"the table was opened {'with' if spark else 'without'} Spark"
            raise BadInput(f"merge a {type(source).__qualname__}", exists, "give a source of the same kind")

        def write(new: Any, time: str | None) -> Instant:
            return perform(cast("Table", self), upsert, new, based_on=time)

        return MergeBuilder(self.context, config, rows.select(kept), names, write)

    def batches(
        self, time: Time | None = None, columns: Sequence[str] = (), *, where: Where | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows as of `time` (default: the newest settled time) as Arrow batches, one file group after
        another, so that the table need not fit into memory. The arguments have the same meaning as in `snapshot`.
        """
        for task in self._tasks(time, columns, where):
            for part in run_parts(self.context.storage, task):
                yield from part.to_batches()

    def _tasks(self, time: Time | None, columns: Sequence[str] = (), where: Where | None = None) -> Sequence[ReadTask]:
        """Return one read task for each file group."""
        at = state_of(self.context) if time is None else time
        if at is None:
            return ()
        tasks, _ = as_of.run(replace(self.context, jobs=PlannedReads()), self.config, at, columns, where=where)
        found: Sequence[ReadTask] = tasks
        return found

    @property
    def schema(self) -> pa.Schema | StructType:
        """The table's columns: a StructType if the table was opened with Spark, otherwise a pyarrow Schema."""
        without_spark = isinstance(self.context.jobs, InProcessJobs)
        return self.config.schema if without_spark else to_spark(self.config.schema)

    def count(self, where: Condition = None) -> int:
        """Return the number of rows that match `where` (default: all rows) in the newest settled state."""
        rows = rows_at(self.context, self.config, state_of(self.context), self.config.record_key[:1], where)
        return len(rows) if isinstance(rows, pa.Table) else int(rows.count())

    def history(self, limit: int | None = None) -> tuple[HistoryEntry, ...]:
        """Return the completed instants of the active timeline, newest first, with the operations of their commits."""
        done = sorted((i for i in self.timeline() if i.completed), key=lambda i: i.completed or "", reverse=True)
        return tuple(self._entry(instant) for instant in done[:limit])

    def _entry(self, instant: Instant) -> HistoryEntry:
        begun = instant.completed or "", instant.requested, instant.action
        if not instant.writes:
            return HistoryEntry(*begun, instant.action.upper(), 0, 0, 0)
        commit = self.context.commits.commit(instant)
        rows, deletes = (sum(getattr(stat, name) for stat in commit.stats) for name in ("writes", "deletes"))
        return HistoryEntry(*begun, commit.operation, rows, deletes, len(commit.stats))

    def detail(self) -> dict[str, object]:
        """Return the properties of the table by readable names, its address, and what a snapshot reads: the number of
        partitions, file groups and files.
        """
        tasks = self._tasks(None)
        files = sum(len(task.logs) + len(task.tombstones) + (task.base is not None) for task in tasks)
        return {
            "name": self.config.name,
            "location": self.context.storage.url,
            **summary(self.config),
            "concurrency mode": self.config.concurrency_mode,
            "columns": ", ".join(self.config.schema.names),
            "partitions": len({task.partition for task in tasks}),
            "file groups": len(tasks),
            "files": files,
        }
