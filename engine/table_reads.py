"""The read methods of `Table`, which call the operations of the same names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, cast

from .context import Context
from .files.slices import FileSlice
from .reads.selection import Where
from .reads.times import Time
from .reads.windows import Replaced
from .services.consumers import progress_of_consumers
from .timeline import Instant

READS: Final = frozenset(
    {"as_of", "changes", "file_slices", "incremental", "read_optimized", "replaced", "settled", "snapshot", "timeline"}
)
"""The operations that write nothing."""


class TableReads:
    """The read methods of a table. Reads return a Spark DataFrame if the table was opened with a Spark session, and a
    pyarrow Table otherwise.
    """

    context: Context

    def run(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation by name."""
        raise NotImplementedError

    def snapshot(
        self,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the rows of the table as of the newest completion time (see `settled`). `columns` lists the columns to
        read and return (default: all).

        `where` is a pyarrow expression, or a list of triples (column, operator, value) that must all be true. Files and
        row groups without rows that match `where` are skipped. `partitions` lists the paths of the partitions to read
        (default: all).
        """
        return self.run("snapshot", columns=columns, where=where, partitions=partitions)

    def read_optimized(
        self,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the rows in the newest base file of each file group, without the writes since the last compaction.

        `columns`, `where` and `partitions` have the same meaning as in `snapshot`.
        """
        return self.run("read_optimized", columns=columns, where=where, partitions=partitions)

    def as_of(
        self,
        time: Time,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the rows of the table as of a completion time. Every call with the same time returns the same rows.

        `columns`, `where` and `partitions` have the same meaning as in `snapshot`.
        """
        return self.run("as_of", time=time, columns=columns, where=where, partitions=partitions)

    def incremental(
        self,
        after: Time,
        until: Time | None = None,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the merged records of the writes that completed in (after, until]. In rows that represent deletes,
        `_hoodie_is_deleted` is true.

        After partial updates, the result can contain several records of a key; `nbcc_set_columns` lists the columns set
        by each record. `columns`, `where` and `partitions` have the same meaning as in `snapshot`. Deletes have null in
        all columns except key, partition and ordering columns, so most conditions in `where` do not match deletes.
        """
        part = {"columns": columns, "where": where, "partitions": partitions}
        return self.run("incremental", after=after, until=until, **part)

    def replaced(self, after: Time, until: Time | None = None) -> tuple[Replaced, ...]:
        """Return the partitions replaced in (after, until], each with the requested and completion times of the
        replacing write.

        Before merging the result of an incremental query, a consumer must delete the rows of the replaced partitions
        from its copy of the table. If a replacing write was pending when a consumer last updated its copy of the table,
        the consumer must rebuild the copy from a snapshot.
        """
        return cast("tuple[Replaced, ...]", self.run("replaced", after=after, until=until))

    def changes(
        self,
        after: Time,
        until: Time | None = None,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the changes between the snapshots at `after` and `until`, with the columns op (i, u or d), completed,
        before and after.

        `columns` lists the columns of the table that `before` and `after` contain. `where` and `partitions` have the
        same meaning as in `snapshot`. A change is returned if its `before` row or its `after` row matches `where`.
        """
        part = {"columns": columns, "where": where, "partitions": partitions}
        return self.run("changes", after=after, until=until, **part)

    def settled(self) -> str | None:
        """Return the newest completion time, which is the default end of incremental queries. Returns None before the
        first commit.
        """
        return cast("str | None", self.run("settled"))

    def consumers(self) -> dict[str, str]:
        """Return the names of the streams that follow the table, each with the completion time that the stream has
        reached.
        """
        return dict(progress_of_consumers(self.context))

    def timeline(self) -> tuple[Instant, ...]:
        """Return all instants of the active timeline, sorted by requested time."""
        return cast("tuple[Instant, ...]", self.run("timeline"))

    def file_slices(self, as_of: Time | None = None) -> tuple[FileSlice, ...]:
        """Return all file slices at present or as of a time, sorted by partition, file group and barrier (requested
        time of the base file).
        """
        return cast("tuple[FileSlice, ...]", self.run("file_slices", as_of=as_of))
