"""A job runner that caches the rows of file slices, because a check reads the same slices after every step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import AnyRead, ReadTask
from nbcc.engine.storage import NotFound, Storage


class CachedJobs(InProcessJobs):
    """Reads each file slice only once for each set of columns. A cached result is valid while all files of the slice
    exist, because files never change.
    """

    def __init__(self, storage: Storage) -> None:
        none: Any = None
        super().__init__(storage, none)
        self._found: dict[Any, pa.Table] = {}

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> pa.Table:
        parts = [self._read(task, schema) for task in tasks]
        return pa.concat_tables(parts) if parts else schema.empty_table()

    def _read(self, task: AnyRead, schema: pa.Schema) -> pa.Table:
        if not isinstance(task, ReadTask):
            return super().read([task], schema)
        key = (task.base, task.tombstones, task.logs, tuple(task.shape.schema.names))
        if key not in self._found or not self._is_there(task):
            self._found[key] = super().read([task], schema)
        return self._found[key]

    def _is_there(self, task: ReadTask) -> bool:
        logs = (log.path for log in (*task.tombstones, *task.logs))
        try:
            for path in (*logs, *([task.base] if task.base else ())):
                self._storage.get(path)
        except NotFound:
            return False
        return True
