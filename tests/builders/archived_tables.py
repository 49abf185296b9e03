"""Tables with an archive, and what their readers answer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from nbcc import Table
from nbcc.engine.timeline import Instant
from tests.builders.tables import batch, keys, make_table, state


def grown(folder: Path, rounds: int = 4, **changes: Any) -> tuple[Table, list[Instant]]:
    """A table of that many rounds of a write and a compaction, a delete kept as a tombstone, and one more write."""
    table, done = make_table(folder, **changes), []
    for number in range(rounds):
        done.append(table.upsert(batch(("k1", number, f"{number}"), (f"r{number}", number, "x"))))
        if number == 1:
            done.append(table.delete(keys(("r0", 5))))
        if compacted := table.compact():
            done.append(compacted)
    return table, [*done, table.upsert(batch(("k2", 9, "9")))]


def answers(table: Table, times: list[Instant]) -> list[Any]:
    """Every kind of read at every one of these times."""
    reads: list[Any] = [state(table.snapshot()), state(table.read_optimized()), table.settled()]
    for time in times:
        reads += [state(table.as_of(time)), state(table.incremental(time)), table.file_slices(time)]
        reads.append(sorted(map(repr, table.changes(time).to_pylist())))
    return [*reads, table.file_slices()]


def reopened(table: Table) -> Table:
    """The same table as another process sees it, which remembers nothing."""
    return Table(replace(table.context), table.config)
