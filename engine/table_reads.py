"""The read methods of a table: each method calls the operation of the same name."""

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
    """The reads of a table. A read returns a Spark DataFrame with a Spark session, and a pyarrow Table without one."""

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
        """Return the rows as of `settled()`. `columns` contains the columns to read and return (default: all).

        `where` is a pyarrow expression, or a list of triples (column, operator, value) that must all be true. Files and
        row groups that cannot change the answer are not read. `partitions` contains the paths of the only partitions to
        read.
        """
        return self.run("snapshot", columns=columns, where=where, partitions=partitions)

    def read_optimized(
        self,
        columns: Sequence[str] = (),
        *,
        where: Where | None = None,
        partitions: Collection[str] | None = None,
    ) -> Any:
        """Return the rows of each file group's newest base file, which are as old as the last compaction.

        `columns`, `where` and `partitions` are as in `snapshot`.
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
        """Return the rows as of a completion time. Every later call with the same time returns the same rows.

        `columns`, `where` and `partitions` are as in `snapshot`.
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
        """Merge exactly the writes that completed in (after, until]. A deleted row has `_hoodie_is_deleted` true.

        After partial updates a key can have several records; `nbcc_set_columns` lists the columns set by each record.
        `columns`, `where` and `partitions` are as in `snapshot`. A deleted row has null in all columns except key,
        partition and ordering, so most conditions do not match it.
        """
        part = {"columns": columns, "where": where, "partitions": partitions}
        return self.run("incremental", after=after, until=until, **part)

    def replaced(self, after: Time, until: Time | None = None) -> tuple[Replaced, ...]:
        """Return the partitions replaced in (after, until], each with the time before which the replace hides writes.

        A consumer that maintains a copy window by window drops the rows of a replaced partition before it merges the
        window. A copy as of a time between `requested` and `completed` of a replace must be rebuilt from a snapshot.
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
        """Return the changes between the snapshots at `after` and `until`: op (i, u, d), completed, before, after.

        `columns` contains the columns of `before` and `after`. `where` and `partitions` are as in `snapshot`. A change
        is returned if its row before or its row after matches.
        """
        part = {"columns": columns, "where": where, "partitions": partitions}
        return self.run("changes", after=after, until=until, **part)

    def settled(self) -> str | None:
        """Return the newest completion time, the default end of a window; None before the first commit."""
        return cast("str | None", self.run("settled"))

    def consumers(self) -> dict[str, str]:
        """Return each named stream that follows the table, with the completion time that it has reached."""
        return dict(progress_of_consumers(self.context))

    def timeline(self) -> tuple[Instant, ...]:
        """Return all instants of the active timeline, sorted by requested time."""
        return cast("tuple[Instant, ...]", self.run("timeline"))

    def file_slices(self, as_of: Time | None = None) -> tuple[FileSlice, ...]:
        """Return all file slices now or as of a time, sorted by partition, file group and barrier."""
        return cast("tuple[FileSlice, ...]", self.run("file_slices", as_of=as_of))
