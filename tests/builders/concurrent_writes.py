"""A write that other writers overtake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyarrow as pa

from nbcc import Table
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.data.tasks import WriteTask, WrittenFile

SCHEMA = pa.schema([("id", pa.string()), ("day", pa.string()), ("ts", pa.int64()), ("value", pa.string())])



class Meanwhile(InProcessJobs):
    """Writes, and then lets others do something before the operation goes on."""

    def __init__(self, jobs: InProcessJobs, *others: Callable[[], object]) -> None:
        super().__init__(jobs._storage, jobs._names)
        self.others = list(others)

    def write(self, data: pa.Table, task: WriteTask) -> list[WrittenFile]:
        files = super().write(data, task)
        if self.others:
            self.others.pop(0)()
        return files


def overtaken(table: Table, *others: Callable[[], object]) -> Table:
    """The table of a writer after each of whose data phases one of the others acts."""
    assert isinstance(table.context.jobs, InProcessJobs)
    return Table(replace(table.context, jobs=Meanwhile(table.context.jobs, *others)), table.config)
