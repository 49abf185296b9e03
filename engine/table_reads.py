"""The read methods of `Table`, which call the operations of the same names."""

from __future__ import annotations

from .actions import as_of, changes, file_slices, incremental, read_optimized, replaced, settled, snapshot, timeline
from .config import TableConfig
from .context import Context
from .methods import reads
from .services.consumers import progress_of_consumers


class TableReads:
    """The read methods of a table. Reads return a Spark DataFrame if the table was opened with a Spark session, and a
    pyarrow Table otherwise.
    """

    context: Context
    config: TableConfig

    snapshot = reads(snapshot)
    read_optimized = reads(read_optimized)
    as_of = reads(as_of)
    incremental = reads(incremental)
    replaced = reads(replaced)
    changes = reads(changes)
    settled = reads(settled)
    timeline = reads(timeline)
    file_slices = reads(file_slices)

    def consumers(self) -> dict[str, str]:
        """Return the names of the streams that follow the table, each with the completion time that the stream has
        reached.
        """
        return dict(progress_of_consumers(self.context))
