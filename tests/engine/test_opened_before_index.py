"""Processes that have opened a table before its record index was made: none inserts a key into a second partition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.actions import index
from nbcc.engine.config.record_index import INSERTS
from nbcc.engine.definition.load import PROPERTIES, open_table
from nbcc.engine.errors import Conflict, Unsupported
from nbcc.engine.timeline.timeline import INDEXED
from tests.builders.heartbeats import Died, dies
from tests.builders.tables import SCHEMA, make_table, table_of

from .hooked import during, watched


def row(key: str, part: str, ordering: int, value: str) -> pa.Table:
    return table_of(SCHEMA, (key, part, ordering, value))


def opened(folder: Path) -> tuple[Table, Table]:
    """A table with the key k in partition p, and the same table as another process has opened it."""
    table = make_table(folder / "t")
    table.upsert(row("k", "p", 1, "old"))
    return table, opened_by_another(table)


def opened_by_another(table: Table) -> Table:
    return Table(table.context, open_table(table.context.storage))


def places(table: Table) -> list[tuple[str, str, str]]:
    """(id, partition, a) of each row."""
    return sorted((row["id"], row["part"], row["a"]) for row in table.snapshot().to_pylist())


WRITES: dict[str, Callable[[Table], Any]] = {
    "upsert": lambda table: table.upsert(row("n", "q", 2, "second")),
    "bulk_insert": lambda table: table.bulk_insert(row("n", "q", 2, "second")),
    "insert_overwrite": lambda table: table.insert_overwrite(row("n", "q", 2, "second")),
}


@pytest.mark.parametrize("inserts", INSERTS)
@pytest.mark.parametrize("write", WRITES)
def test_a_write_of_a_process_that_does_not_know_the_index_is_refused(
    write: str, inserts: str, tmp_path: Path
) -> None:
    table, other = opened(tmp_path)
    table.index("RECORD_INDEX", inserts)
    table.bulk_insert(row("n", "p", 1, "first"))
    with pytest.raises(Conflict, match=r"record index, which was made after this process opened.*\(Table.open\)"):
        WRITES[write](other)
    assert places(table) == [("k", "p", "old"), ("n", "p", "first")]
    assert not [instant for instant in table.timeline() if not instant.completed], "its instant is taken back"
    opened_by_another(table).upsert(row("n", "p", 2, "again"))
    assert places(table) == [("k", "p", "old"), ("n", "p", "again")]


def test_a_write_that_is_pending_while_the_index_is_made_prevents_it(tmp_path: Path) -> None:
    table, other = opened(tmp_path)

    def meanwhile() -> None:
        with pytest.raises(Conflict, match="no process may write meanwhile"):
            table.index()

    during(other, ".log.", meanwhile).upsert(row("n", "q", 2, "new"))
    assert open_table(table.context.storage).record_index is None
    other.upsert(row("n", "q", 3, "newer"))


def test_the_services_of_a_process_that_does_not_know_the_index_continue(tmp_path: Path) -> None:
    table, other = opened(tmp_path)
    table.index(inserts="moved")
    table.upsert(row("n", "q", 1, "new"))
    other.compact()
    other.resize(2)
    other.delete_partition(["part=p"])
    opened_by_another(table).upsert(row("n", "p", 2, "newer"))
    assert places(table) == [("n", "q", "newer")]


def test_a_process_that_knows_the_index_does_not_read_the_properties(tmp_path: Path) -> None:
    table, _ = opened(tmp_path)
    table.index(inserts="moved")
    seen, calls = watched(table)
    seen.upsert(row("k", "p", 2, "new"))
    assert not [call for call in calls if PROPERTIES in call]


def test_writes_continue_if_the_call_that_makes_an_index_dies_before_the_index_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = opened(tmp_path)
    with monkeypatch.context() as before_the_properties:
        before_the_properties.setattr(index, "_record", lambda context, made: dies())
        with pytest.raises(Died):
            table.index()
    assert [path for path in table.context.storage.paths("") if path.startswith(INDEXED)]
    other.upsert(row("n", "p", 1, "new"))
    assert table.index()
    with pytest.raises(Conflict, match="record index"):
        other.upsert(row("m", "p", 1, "new"))


def test_a_process_that_does_not_know_the_index_cannot_convert_the_table(tmp_path: Path) -> None:
    table, other = opened(tmp_path)
    table.index()
    with pytest.raises(Unsupported, match="its record index"):
        other.convert("log")
