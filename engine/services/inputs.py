"""Finds the input files of a compaction plan. A plan records only file names, so the file sizes are read from the
commits that list the files.
"""

from __future__ import annotations

from ..context import Context
from ..data.tasks import BaseInput, LogInput
from ..errors import Damaged
from ..file_names import in_partition, parse_base, parse_log
from ..timeline import CompactionOperation, Instant, WriteStat
from ..timeline.history import Active


class PlanInputs:
    """The input files of one compaction plan. Each commit that lists an input file is read only once."""

    def __init__(self, context: Context, active: Active, requested: str) -> None:
        self.context = context
        self.active = active
        self._requested = requested
        self._stats: dict[str, dict[str, WriteStat]] = {}

    def base(self, operation: CompactionOperation) -> BaseInput | None:
        """Return the base file of one entry of the plan; None if the entry has only logs."""
        if operation.base_file is None:
            return None
        named = parse_base(operation.base_file)
        if named is None:
            raise self._not_a_name(operation.base_file, "a base file")
        path = in_partition(operation.partition, operation.base_file)
        stat = self._stat(path, named.instant)
        return BaseInput(path, stat.size if stat else None)

    def logs(self, operation: CompactionOperation) -> list[LogInput]:
        """Return the logs that the given operation of the plan merges, in the order of the plan."""
        return [self._log(operation.partition, name) for name in operation.logs]

    def _log(self, partition: str, name: str) -> LogInput:
        named = parse_log(name)
        if named is None:
            raise self._not_a_name(name, "a log file")
        path = in_partition(partition, name)
        stat = self._stat(path, named.instant)
        # Hudi may have planned a log of a write that no completed instant lists. Its size and checksum are then
        # unknown.
        if stat is None:
            return LogInput(path, named.instant)
        return LogInput(path, named.instant, stat.size, checksum=stat.checksum)

    def find(self, requested: str) -> Instant | None:
        """Return the write with the given requested time. The archive is read only if the write is not active."""
        return self.active.find(requested) or self.context.history(self.active).write_at(requested)

    def _stat(self, path: str, instant: str) -> WriteStat | None:
        """Return the write stat of a file in a commit; None if no completed instant lists the file."""
        if instant not in self._stats:
            write = self.find(instant)
            stats = self.context.commits.commit(write).stats if write is not None and write.completed else ()
            self._stats[instant] = {stat.path: stat for stat in stats}
        return self._stats[instant].get(path)

    def _not_a_name(self, name: str, kind: str) -> Damaged:
        return Damaged(
            f"carry out the plan {self._requested}",
            f"it lists {name!r}, which is not the name of {kind}",
            "restore the plan from a copy, or cancel it with the engine that made it",
        )
