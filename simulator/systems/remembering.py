"""A runner for the harness's own reads, which ask for the same file slices again and again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nbcc.engine.data.tasks import AnyRead
from nbcc.engine.jobs import InProcessJobs, ReadTask
from nbcc.engine.storage import Storage


class Remembering(InProcessJobs):
    """Reads each file slice once: its files never change, so neither do its rows. For the harness's own reads."""

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
        key = (task.base, task.tombstones, task.logs)
        if key not in self._found:
            self._found[key] = super().read([task], schema)
        return self._found[key]
