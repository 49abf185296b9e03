"""Finds the input files of a compaction plan. A plan records only file names, so the file sizes are read from the
commits that list the files.
"""

from __future__ import annotations

from ..context import Context
from ..data.tasks import BaseInput, LogInput
from ..errors import Damaged
from ..file_names import in_partition, parse_base, parse_log
from ..reads.tasks import completed_write
from ..timeline import CompactionOperation, Timeline


class PlanInputs:
    """The input files of one compaction plan. Each commit that lists an input file is read only once."""

    def __init__(self, context: Context, timeline: Timeline, requested: str) -> None:
        self.context = context
        self.timeline = timeline
        self._requested = requested
        self._sizes: dict[str, dict[str, int]] = {}

    def base(self, operation: CompactionOperation) -> BaseInput | None:
        """Return the base file of one entry of the plan; None if the entry has only logs."""
        if operation.base_file is None:
            return None
        named = parse_base(operation.base_file)
        if named is None:
            raise self._not_a_name(operation.base_file, "a base file")
        path = in_partition(operation.partition, operation.base_file)
        return BaseInput(path, self._size(path, named.instant))

    def logs(self, operation: CompactionOperation) -> list[LogInput]:
        """Return the logs that the given operation of the plan merges, in the order of the plan."""
        return [self._log(operation.partition, name) for name in operation.logs]

    def _log(self, partition: str, name: str) -> LogInput:
        named = parse_log(name)
        if named is None:
            raise self._not_a_name(name, "a log file")
        path = in_partition(partition, name)
        return LogInput(path, named.instant, self._size(path, named.instant))

    def _size(self, path: str, instant: str) -> int | None:
        """Return the file size recorded in a commit; None if no completed instant lists the file."""
        if instant not in self._sizes:
            write = completed_write(self.context, self.timeline, instant)
            stats = self.context.commits.commit(write).stats if write is not None and write.completed else ()
            self._sizes[instant] = {stat.path: stat.size for stat in stats}
        return self._sizes[instant].get(path)

    def _not_a_name(self, name: str, kind: str) -> Damaged:
        return Damaged(
            f"carry out the plan {self._requested}",
            f"it lists {name!r}, which is not the name of {kind}",
            "restore the plan from a copy, or cancel it with the engine that made it",
        )
