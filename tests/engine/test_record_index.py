"""Record indexes: what is refused, what counts after a crash, and what two bulk inserts of one key do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

from nbcc import Table
from nbcc.engine.config.hudi_options import check_meaning
from nbcc.engine.config.record_index import INDEXED
from nbcc.engine.definition.load import load_properties, open_table
from nbcc.engine.errors import BadInput, Conflict, NotATable, UnknownKey, Unsupported
from nbcc.engine.files.record_index import FOLDER, index_files
from nbcc.simulator.audit.validate import validate
from nbcc.simulator.cli.main import nbcc
from tests.builders.heartbeats import Died, dies
from tests.builders.tables import SCHEMA, make_table, state, table_of, with_deletes

from .hooked import during

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def rows(*values: tuple[Any, ...]) -> pa.Table:
    """Rows (id, part, ts, a)."""
    return table_of(SCHEMA, *values)


def made(folder: Path, inserts: str = "updates_only", **changes: Any) -> Table:
    """A table of the keys k0, k1 in partition p and q0 in partition q, with a record index of all keys."""
    table = make_table(folder / "t", **{"buckets": 2, **changes})
    table.upsert(rows(("k0", "p", 1, "old"), ("k1", "p", 1, "old"), ("q0", "q", 1, "old")))
    assert table.index("RECORD_INDEX", inserts=inserts)
    return table


def test_known_keys_are_updated_and_deleted_concurrently(tmp_path: Path) -> None:
    table = made(tmp_path)
    inner = lambda: table.delete(rows(("k1", "p", 3, "")).drop_columns(["a"]))  # noqa: E731
    during(table, ".log.", inner).upsert(rows(("k0", "p", 2, "new"), ("k1", "p", 2, "new"), ("q0", "q", 2, "new")))
    assert state(table.snapshot()) == {("k0", 2, "new"), ("q0", 2, "new")}
    table.upsert(rows(("k1", "p", 4, "again")))  # a deleted key keeps its partition
    assert ("k1", 4, "again") in state(table.snapshot())
    assert validate(table.context.storage).diagnostics == (), "nbcc validate finds no fault"


def test_an_insert_by_an_upsert_is_refused_before_it_puts_a_file(tmp_path: Path) -> None:
    table = made(tmp_path)
    before = [entry.path for entry in table.context.storage.list("")]
    with pytest.raises(UnknownKey) as refused:
        table.upsert(rows(("k0", "p", 2, "new"), ("n", "p", 1, "new")))
    assert str(refused.value) == (
        "Asked to write a batch, but 1 row has a key that the table's record index lacks, and only a bulk insert may "
        "insert keys (for example id='n', part='p', ts=1): insert them by Table.bulk_insert, or leave them out."
    )
    assert [entry.path for entry in table.context.storage.list("")] == before, "its instant is taken back"
    with pytest.raises(UnknownKey, match=r"has in another partition.*a key cannot move to another one"):
        table.upsert(rows(("k0", "q", 2, "new")))


def test_a_delete_of_an_unknown_key_inserts_nothing(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.upsert(with_deletes(rows(("n", "p", 1, None), ("k0", "p", 2, "new")), "a"))
    assert state(table.snapshot()) == {("k0", 2, "new"), ("k1", 1, "old"), ("q0", 1, "old")}


def test_a_bulk_insert_inserts_keys_that_upserts_then_know(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.bulk_insert(rows(("n", "q", 1, "new"), ("k0", "p", 2, "new")))
    table.upsert(rows(("n", "q", 2, "newer")))
    assert state(table.snapshot()) == {("n", 2, "newer"), ("k0", 2, "new"), ("k1", 1, "old"), ("q0", 1, "old")}
    with pytest.raises(UnknownKey):
        table.bulk_insert(rows(("n", "p", 3, "moved")))


def test_the_bulk_insert_that_completes_first_decides_the_partition(tmp_path: Path) -> None:
    """Both have looked before one of them completes. The second is refused, and its files are deleted."""
    table = made(tmp_path)
    first = lambda: table.bulk_insert(rows(("n", "q", 1, "first"), ("m", "q", 1, "first")))  # noqa: E731
    with pytest.raises(Conflict, match="the key n is in two partitions"):
        during(table, ".log.", first).bulk_insert(rows(("n", "p", 2, "second")))
    assert {row for row in state(table.snapshot()) if row[1:] != (1, "old")} == {("n", 1, "first"), ("m", 1, "first")}
    with pytest.raises(Conflict, match="the key x is in two partitions"):
        table.bulk_insert(rows(("x", "p", 1, "a"), ("x", "q", 1, "a")))


def test_two_bulk_inserts_of_a_key_into_one_partition_both_complete(tmp_path: Path) -> None:
    table = made(tmp_path)
    first = lambda: table.bulk_insert(rows(("n", "p", 1, "first")))  # noqa: E731
    during(table, ".log.", first).bulk_insert(rows(("n", "p", 2, "second")))
    assert ("n", 2, "second") in state(table.snapshot())


@pytest.mark.parametrize("moment", [FOLDER, ".log."])
@pytest.mark.parametrize(("inserts", "by"), [("updates_only", Table.bulk_insert), ("moved", Table.upsert)])
def test_locations_of_a_writer_that_died_do_not_count(inserts: str, by: Any, moment: str, tmp_path: Path) -> None:
    """Neither while its instant is pending nor after it is rolled back."""
    table = made(tmp_path, inserts)
    known = len(index_files(table.context.storage))
    with pytest.raises(Died):
        by(during(table, moment, dies), rows(("n", "p", 1, "dead")))
    assert len(index_files(table.context.storage)) == known + (moment == ".log.")
    if inserts == "updates_only":
        with pytest.raises(UnknownKey):
            table.upsert(rows(("n", "p", 2, "new")))
    by(table, rows(("n", "q", 2, "alive")))
    table.upsert(rows(("n", "p" if inserts == "moved" else "q", 3, "again")))
    [row] = [row for row in table.snapshot().to_pylist() if row["id"] == "n"]
    assert (row["part"], row["a"], row["_hoodie_partition_path"]) == ("q", "again", "part=q")


def test_only_locations_of_undone_writes_are_collected(tmp_path: Path) -> None:
    """Those with which the index was built stay, and those of completed writes, also of archived ones."""
    table = made(tmp_path)
    table.bulk_insert(rows(("n", "q", 1, "new")))
    kept = index_files(table.context.storage)
    for _ in range(2):
        with pytest.raises(Conflict):
            table.bulk_insert(rows(("x", "p", 1, "a"), ("x", "q", 1, "a")))
    with pytest.raises(Died):
        during(table, ".log.", dies).bulk_insert(rows(("m", "p", 1, "dead")))
    pending = [file for file in index_files(table.context.storage) if file not in kept][-1:]
    table.upsert(rows(("n", "q", 2, "newer")))
    found = table.run("collect", leftover_seconds=0).files
    assert index_files(table.context.storage) == sorted([*kept, *pending])
    assert len([path for path in found if "/index/" in path]) == 4
    table.upsert(rows(("n", "q", 3, "newest"), ("k0", "p", 3, "newest")))


def test_an_archived_bulk_insert_still_counts(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.bulk_insert(rows(("n", "q", 1, "new")))
    for number in range(4):
        table.upsert(rows(("k0", "p", 2 + number, "new")))
        table.compact()
    table.clean(retained=1)
    table.archive(retained=1)
    assert len(table.context.active().completed) < 8
    Table(table.context, table.config).upsert(rows(("n", "q", 9, "newer")))
    assert ("n", 9, "newer") in state(table.snapshot())


def test_a_resize_keeps_the_index(tmp_path: Path) -> None:
    table = made(tmp_path)
    table.bulk_insert(rows(*((f"n{number}", "q", 1, "new") for number in range(6))))
    table.resize(5)
    table.upsert(rows(*((f"n{number}", "q", 2, "newer") for number in range(6))))
    with pytest.raises(UnknownKey):
        table.upsert(rows(("m", "q", 1, "new")))
    assert {row for row in state(table.snapshot()) if row[2] == "newer"} == {(f"n{n}", 2, "newer") for n in range(6)}


def test_keys_may_be_in_several_partitions_under_a_record_level_index(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(rows(("k", "p", 1, "a"), ("k", "q", 1, "b")))
    with pytest.raises(BadInput, match="the key k is in two partitions"):
        table.index()
    assert table.config.record_index is None
    assert table.index("RECORD_LEVEL_INDEX")
    table.upsert(rows(("k", "p", 2, "c"), ("k", "q", 2, "d")))
    with pytest.raises(UnknownKey):
        table.upsert(rows(("k", "r", 1, "e")))
    assert state(table.snapshot()) == {("k", 2, "c"), ("k", 2, "d")}


def test_the_index_of_an_existing_table_is_made_while_no_process_writes(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(rows(("k", "p", 1, "a")))
    with pytest.raises(Conflict, match="a write has completed since the keys were read"):
        during(table, ".nbcc/index", lambda: table.upsert(rows(("n", "p", 1, "a")))).index()
    with pytest.raises(Died):
        during(table, ".log.", dies).upsert(rows(("m", "p", 1, "a")))
    with pytest.raises(Conflict, match=r"the deltacommit requested at .* is pending"):
        table.index()
    assert open_table(table.context.storage).record_index is None
    table.upsert(rows(("m", "p", 2, "a")))


def test_an_index_whose_making_was_interrupted_does_not_count(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", buckets=2)
    table.upsert(rows(("k0", "p", 1, "a"), ("k1", "p", 1, "a")))
    with pytest.raises(Died):
        during(table, "_00000001", dies).index()
    table.upsert(rows(("n", "p", 1, "a")))
    assert table.index()
    assert table.index() is False, "the table has this index already"
    table.upsert(rows(("n", "p", 2, "b"), ("k1", "p", 2, "b")))


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "copy on write": (
        {"table_type": "COPY_ON_WRITE", "concurrency_mode": "OPTIMISTIC_CONCURRENCY_CONTROL"},
        "it is COPY_ON_WRITE",
    ),
    "a decision log": ({"options": {"nbcc.decision": "log"}}, "its nbcc.decision is log"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_supported_is_refused_by_name(case: str, tmp_path: Path) -> None:
    changes, message = REFUSED[case]
    with pytest.raises(Unsupported, match=message):
        make_table(tmp_path / "t", **changes).index()


def test_operations_that_insert_or_decide_otherwise_are_refused(tmp_path: Path) -> None:
    table = made(tmp_path)
    with pytest.raises(BadInput, match="there are RECORD_INDEX, GLOBAL_RECORD_LEVEL_INDEX, RECORD_LEVEL_INDEX"):
        table.index("BLOOM")
    with pytest.raises(Unsupported, match="it has one of the type GLOBAL_RECORD_LEVEL_INDEX"):
        table.index("RECORD_LEVEL_INDEX")
    with pytest.raises(Unsupported, match="overwrite partitions"):
        table.insert_overwrite(rows(("k0", "p", 2, "new")))
    with pytest.raises(Unsupported, match=r"convert the table to nbcc.decision=free"):
        table.convert("free")
    table.delete_partition("part=p")
    assert state(table.snapshot()) == {("q0", 1, "old")}
    table.upsert(rows(("k0", "p", 9, "again")))


def test_the_properties_name_the_index_and_what_writers_must_know(tmp_path: Path) -> None:
    table = made(tmp_path)
    values = load_properties(table.context.storage)
    assert INDEXED in values["nbcc.writer.features"].split(",")
    assert INDEXED not in values["nbcc.reader.features"]
    assert open_table(table.context.storage).record_index == table.config.record_index
    path = tmp_path / "t/.hoodie/hoodie.properties"
    path.write_text(path.read_text().replace("=GLOBAL_RECORD_LEVEL_INDEX", "=HBASE"))
    with pytest.raises(NotATable, match=r"its nbcc.record.index is 'HBASE'"):
        open_table(table.context.storage)


@pytest.mark.parametrize("inserts", ["updates_only", "moved"])
def test_the_command_makes_an_index(inserts: str, tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(rows(("k", "p", 1, "a")))

    def run(*words: str) -> str:
        result = CliRunner().invoke(nbcc, ["table", str(tmp_path / "t"), "index", "--inserts", inserts, *words])
        assert result.exit_code == 0, result.output
        return str(result.output)

    assert "a record index of the type GLOBAL_RECORD_LEVEL_INDEX would be made" in run("--dry-run")
    assert f"a record index of the type GLOBAL_RECORD_LEVEL_INDEX made, inserts {inserts}\n" in run()
    assert "it has the type GLOBAL_RECORD_LEVEL_INDEX already" in run("--type", "RECORD_INDEX")
    index = open_table(table.context.storage).record_index
    assert index is not None
    assert index.inserts == inserts


def test_hudis_option_for_a_global_index_fits_the_table(tmp_path: Path) -> None:
    check_meaning({"hoodie.index.type": "RECORD_INDEX"}, made(tmp_path / "indexed").config)
    with pytest.raises(Unsupported, match="keeps one row of a key in the whole table"):
        check_meaning({"hoodie.index.type": "RECORD_INDEX"}, make_table(tmp_path / "plain").config)


def test_tasks_of_spark_look_for_their_keys(spark: SparkSession, tmp_path: Path) -> None:
    """The index is made, read and extended in Spark's tasks."""
    first = rows(("k0", "p", 1, "old"), ("k1", "p", 1, "old"), ("q0", "q", 1, "old"))
    make_table(tmp_path / "t", buckets=2).upsert(first)
    table = Table.open(spark, tmp_path / "t")
    assert table.index()
    table.upsert(spark.createDataFrame(rows(("k0", "p", 2, "new"), ("q0", "q", 2, "new"))))
    with pytest.raises(UnknownKey, match="2 rows have a key that the table's record index lacks"):
        table.upsert(spark.createDataFrame(rows(("k1", "p", 2, "new"), ("n", "p", 1, "new"), ("m", "q", 1, "new"))))
    table.bulk_insert(spark.createDataFrame(rows(("n", "p", 1, "new"), ("m", "q", 1, "new"))))
    table.upsert(spark.createDataFrame(rows(("n", "p", 3, "newer"))))
    found = {tuple(row) for row in table.snapshot().select("id", "ts", "a").collect()}
    assert found == {("k0", 2, "new"), ("k1", 1, "old"), ("q0", 2, "new"), ("n", 3, "newer"), ("m", 1, "new")}
