"""Tables with state checkpoints, and reads with and without them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import methodcaller
from typing import Any

from nbcc import Table
from nbcc.engine.errors import NbccError
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.state_checkpoint import (
    checkpoint_paths,
)
from tests.builders.tables import state
from tests.engine.hooked import watched

COPIES: dict[str, Any] = {"table_type": "COPY_ON_WRITE", "concurrency_mode": None}


def cold(table: Table) -> Table:
    """The table as a new process opens it."""
    return Table(replace(table.context), table.config)


def answer(table: Table, read: Callable[[Table], Any]) -> Any:
    """The rows of a read of a new process, or the text of its error."""
    try:
        return state(read(cold(table)))
    except NbccError as refused:
        return str(refused)


def answers(table: Table, times: list[Instant]) -> list[Any]:
    """The snapshot, and the read as of each completion and each requested time."""
    asked = [time for each in times for time in (each, each.requested)]
    return [answer(table, Table.snapshot), *(answer(table, methodcaller("as_of", at)) for at in asked)]


def without_checkpoints(table: Table, times: list[Instant]) -> list[Any]:
    """The same answers after all checkpoints are deleted. The checkpoints are put back afterwards."""
    storage = table.context.storage
    contents = {path: storage.get(path) for path in checkpoint_paths(storage)}
    storage.delete_all(list(contents))
    found = answers(table, times)
    for path, data in contents.items():
        storage.put(path, data)
    return found


def checkpoint(table: Table) -> str:
    made = table.run("checkpoint_state")
    assert made is not None
    return str(made)


def used(table: Table, read: Callable[[Table], Any] = Table.snapshot) -> list[str]:
    """The files that a new process reads to plan a read: commits, archive files and checkpoints."""
    seen, calls = watched(table)
    read(seen)
    return [call for call in calls if call.startswith("get .hoodie/")]
