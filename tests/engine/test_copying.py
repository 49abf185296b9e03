"""Tables of Hudi are copied into tables of nbcc: any index, several partition columns, version 6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hudi
import pyarrow as pa
import pytest
from click.testing import CliRunner

from nbcc import BadInput, Conflict, Table, Unsupported, copy_table
from nbcc.engine.actions import compact, upsert
from nbcc.engine.copying import sources
from nbcc.engine.data.columns import IS_DELETED
from nbcc.simulator.cli.main import nbcc
from tests.builders.files import HUDI_TABLES, hudi_table
from tests.builders.hudi import FACTS, unpacked
from tests.builders.old_tables import table_of_version_6
from tests.builders.tables import SCHEMA, batch, make_table, state, table_of

pytestmark = pytest.mark.filterwarnings("ignore:nbcc. .* has a metadata table")


def rows(found: pa.Table, columns: list[str]) -> list[list[Any]]:
    return sorted([row[column] for column in columns] for row in found.to_pylist())


def by_hudi_rs(path: Path) -> pa.Table:
    return pa.Table.from_batches(hudi.HudiTableBuilder.from_base_uri(str(path)).build().read())


@pytest.mark.parametrize("name", sorted(FACTS["snapshot"]))
def test_a_table_of_hudi_is_copied_and_two_writers_go_on(name: str, tmp_path: Path) -> None:
    source = Table.open(None, unpacked(name, tmp_path))
    copy = source.copy(tmp_path / "copy", buckets=2)
    columns = [column for column in FACTS["columns"] if not column.startswith("_hoodie_")]
    places = [FACTS["columns"].index(column) for column in columns]
    expected = sorted([row[place] for place in places] for row in FACTS["snapshot"][name])
    for found in (copy.snapshot(), by_hudi_rs(tmp_path / "copy")):
        assert rows(found, columns) == expected
    one, other = (Table.open(None, tmp_path / "copy") for _ in range(2))
    some = source.snapshot().select(list(copy.config.schema.names)).slice(0, 2)
    one.upsert(some)
    other.upsert(some)
    assert len(by_hudi_rs(tmp_path / "copy")) == len(copy.snapshot()) == len(expected)


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_the_column_that_marks_deletes_is_not_copied(name: str, tmp_path: Path) -> None:
    source = Table.open(None, hudi_table(name, tmp_path).url)
    assert IS_DELETED in source.schema.names
    copy = source.copy(tmp_path / "copy", buckets=2)
    columns = [column for column in source.schema.names if column != IS_DELETED]
    assert copy.schema.names == columns
    assert rows(copy.snapshot(), columns) == rows(source.snapshot(), columns)


def test_a_table_of_version_6_is_copied_by_hudi_rs(tmp_path: Path) -> None:
    old = table_of(SCHEMA, ("a", "p", 1, "x"), ("b", "q", 2, "y"), ("c", "p", 3, "z"))
    table_of_version_6(tmp_path / "old", old)
    with pytest.raises(Unsupported, match=r"version 6: copy it \(nbcc table PATH copy DEST, by hudi-rs\)"):
        Table.open(None, tmp_path / "old")
    ran = CliRunner().invoke(nbcc, ["table", str(tmp_path / "old"), "copy", str(tmp_path / "new"), "--buckets", "1"])
    assert (ran.exit_code, ran.stderr) == (0, "")
    assert "copied 3 rows, as of 20230101000000000, read by hudi-rs" in ran.stdout
    new = Table.open(None, tmp_path / "new")
    assert rows(new.snapshot(), SCHEMA.names) == rows(old, SCHEMA.names)
    config = new.config
    assert (config.record_key, config.ordering, config.partition_by) == (("id",), "ts", ("part",))


def test_an_interrupted_copy_continues_with_the_same_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make_table(tmp_path / "t", buckets=4)
    source.upsert(batch(*((f"k{n}", 1, "x") for n in range(20))))
    monkeypatch.setattr(sources, "CHUNK_BYTES", 1)  # each file group is a part
    written = list[Any]()
    run_upsert = upsert.run

    def dies_at_the_third(context: Any, config: Any, data: Any, **more: Any) -> Any:
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(run_upsert(context, config, data, **more))
        return written[-1]

    with monkeypatch.context() as patch:
        patch.setattr(upsert, "run", dies_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            source.copy(tmp_path / "copy")
    source.upsert(batch(("later", 1, "x")))
    assert copy_table(str(tmp_path / "t"), str(tmp_path / "copy"), buckets=4).rows == 20
    copy = Table.open(None, tmp_path / "copy")
    assert len(copy.snapshot()) == 20
    assert len([instant for instant in copy.timeline() if instant.action == "deltacommit"]) == 4
    with pytest.raises(BadInput, match="is complete: choose another place"):
        source.copy(tmp_path / "copy")


def test_a_copy_that_differs_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = make_table(tmp_path / "t")
    source.upsert(batch(("k", 1, "x")))
    run_compact = compact.run

    def while_another_writes(context: Any, config: Any) -> Any:
        Table.open(None, tmp_path / "copy").upsert(batch(("k", 1, "y")))
        return run_compact(context, config)

    monkeypatch.setattr(compact, "run", while_another_writes)
    with pytest.raises(Conflict, match=r"the source has 1 row, digest .* and the copy has 1 row, digest"):
        source.copy(tmp_path / "copy")


def test_what_no_copy_can_do_says_so(tmp_path: Path) -> None:
    source = make_table(tmp_path / "t")
    source.upsert(batch(("k", 1, "x")))
    other = make_table(tmp_path / "other")
    with pytest.raises(BadInput, match="it is not empty"):
        source.copy(tmp_path / "other")
    other.copy(tmp_path / "empty")
    assert len(Table.open(None, tmp_path / "empty").snapshot()) == 0
    properties = tmp_path / "t/.hoodie/hoodie.properties"
    properties.write_text(properties.read_text().replace("=9", "=5"))
    with pytest.raises(Unsupported, match=r"version 5.*hudi-rs says.*upgrade the table with Apache Hudi"):
        copy_table(str(tmp_path / "t"), str(tmp_path / "five"), buckets=1)
    assert state(other.snapshot()) == set()
