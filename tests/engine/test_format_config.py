"""hoodie.properties: the text, the config in it, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbcc.engine.config import TableConfig, from_properties, merge_mode, to_properties
from nbcc.engine.config.coordination import coordination_of
from nbcc.engine.config.intact import OWN_MANDATORY
from nbcc.engine.config.properties import CHECKSUM, decode_properties, encode_properties, table_checksum
from nbcc.engine.definition.load import BACKUP, PROPERTIES, create_table, open_table
from nbcc.engine.errors import BadInput, Damaged, NotATable, Unsupported
from nbcc.engine.rules import HUDI, NBCC
from nbcc.engine.storage import open_storage
from tests.builders.files import HUDI_TABLES, SCHEMA, hudi_facts, hudi_table

CONFIG = TableConfig("trips", SCHEMA, ("id",), ordering="ts", buckets=4)


@given(st.dictionaries(st.text(max_size=10), st.text(max_size=20), max_size=5))
def test_properties_come_back(values: dict[str, str]) -> None:
    encoded = encode_properties(values)
    assert decode_properties(encoded) == values
    assert encoded.isascii()


def test_properties_as_java_writes_them() -> None:
    text = (
        b"#comment\n! another\n a\\ b : x\\\n   y\\u00e9\\ud83d\\ude00\nk\nq=\\:\\=\\#\\!\\\\\\t\r\nlatin=\xe9\nk2 v\n"
    )
    assert decode_properties(text) == {
        "a b": "xyé😀", "k": "", "q": ":=#!\\\t", "latin": "é", "k2": "v"}  # fmt: skip


def test_values_are_escaped_as_java_does() -> None:
    assert encode_properties({"k": ' a:b="c"'}) == b'#\nk=\\ a\\:b\\="c"\n'


def test_golden_checksums() -> None:
    assert table_checksum("trips", "default") == "2200697520"
    assert table_checksum("trips") == "3761586722"


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize("mode", ["EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING"])
def test_a_new_table_is_read_back(version: int, mode: str, tmp_path: Path) -> None:
    config = TableConfig("trips", SCHEMA, ("id",), ordering="ts", buckets=4, version=version, merge_mode=mode,  # type: ignore[arg-type]
                         partition_by=("val",), log_format="avro", max_log_bytes=1, write_tasks=9)  # fmt: skip
    storage = open_storage(tmp_path / "new")
    create_table(storage, config)
    assert open_table(storage) == config
    assert open_table(storage).rules == NBCC
    with pytest.raises(BadInput, match="it is not empty"):
        create_table(storage, config)


def test_a_new_table_has_what_readers_and_writers_need() -> None:
    nine = to_properties(CONFIG)
    assert nine["hoodie.table.ordering.fields"] == "ts"
    assert nine["hoodie.table.timeline.timezone"] == "UTC"
    assert nine["hoodie.table.keygenerator.type"] == "NON_PARTITION"
    assert (nine["nbcc.format"], nine["nbcc.buckets"]) == ("1", "4")
    assert not any("metadata.partitions" in key for key in nine)
    eight = to_properties(TableConfig("trips", SCHEMA, ("id", "val"), "ts", ("val",), 4, version=8))
    assert eight["hoodie.table.precombine.field"] == "ts"
    assert eight["hoodie.record.merge.strategy.id"] == "eeb8d96f-b1e4-49fd-bbf8-28ac514178e5"
    assert eight["hoodie.table.keygenerator.type"] == "COMPLEX"
    assert merge_mode({key: eight[key] for key in eight if key != "hoodie.record.merge.mode"}) == "EVENT_TIME_ORDERING"


def test_a_place_that_is_not_empty_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"notes\.txt"):
        create_table(open_storage(tmp_path), CONFIG)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


REFUSED = {
    "version 10": {"hoodie.table.version": "10"},
    "version 6": {"hoodie.table.version": "6"},
    "merged by CUSTOM": {"hoodie.record.merge.mode": "CUSTOM"},
    "merged by NEWEST": {"hoodie.record.merge.mode": "NEWEST"},
    "layout 1": {"hoodie.timeline.layout.version": "1"},
    "several ordering columns": {"hoodie.table.ordering.fields": "ts,val"},
    "not parquet": {"hoodie.table.base.file.format": "ORC"},
    "drops partition columns": {"hoodie.datasource.write.drop.partition.columns": "true"},
    "lack Hudi's own columns": {"hoodie.populate.meta.fields": "false"},
    "partial updates": {"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"},
    "bootstrapped": {"hoodie.bootstrap.base.path": "/old"},
    "features telepathy": {"nbcc.reader.features": "completion-order,telepathy"},
    "nbcc format 2": {"nbcc.format": "2"},
}


@pytest.mark.parametrize("reason", REFUSED)
def test_what_cannot_be_read_is_refused(reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        from_properties({**to_properties(CONFIG), **REFUSED[reason]}, SCHEMA)


@pytest.mark.parametrize(
    ("given_properties", "mode"),
    [
        ({"hoodie.record.merge.strategy.id": "ce9acb64-bde0-424c-9b91-f6ebba25356d"}, "COMMIT_TIME_ORDERING"),
        ({"hoodie.compaction.payload.class": "x.OverwriteWithLatestAvroPayload"}, "COMMIT_TIME_ORDERING"),
        ({"hoodie.compaction.payload.class": "x.EventTimeAvroPayload"}, "EVENT_TIME_ORDERING"),
        ({"hoodie.table.precombine.field": "ts"}, "EVENT_TIME_ORDERING"),
        ({}, "COMMIT_TIME_ORDERING"),
    ],
)
def test_an_absent_merge_mode_is_inferred(given_properties: dict[str, str], mode: str) -> None:
    assert merge_mode(given_properties) == mode


def test_an_inferred_custom_mode_is_refused() -> None:
    with pytest.raises(Unsupported, match="CUSTOM"):
        merge_mode({"hoodie.compaction.payload.class": "com.example.Mine"})


def test_writers_are_refused_where_readers_are_not() -> None:
    CONFIG.check_writable()
    writes_refused = {
        "metadata table": {"hoodie.table.metadata.partitions": "files,column_stats"},
        "features telepathy": {"nbcc.writer.features": "fixed-buckets,telepathy"},
        "COPY_ON_WRITE, and writers that never wait": {"hoodie.table.type": "COPY_ON_WRITE"},
    }
    for reason, change in writes_refused.items():
        config = from_properties({**to_properties(CONFIG), **change}, SCHEMA)
        with pytest.raises(Unsupported, match=reason):
            config.check_writable()
    foreign = {key: value for key, value in to_properties(CONFIG).items() if not key.startswith("nbcc.")}
    with pytest.raises(Unsupported, match="not created by nbcc"):
        from_properties(foreign, SCHEMA).check_writable()


def test_a_metadata_table_causes_a_notice_of_one_line() -> None:
    assert CONFIG.notice is None
    config = from_properties({**to_properties(CONFIG), "hoodie.table.metadata.partitions": "files"}, SCHEMA)
    assert config.notice == (
        "nbcc: trips has a metadata table (files): files are listed instead, and writes are refused"
    )


def test_the_backup_counts_while_the_properties_are_rewritten(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    assert storage.put_if_absent(BACKUP, encode_properties(to_properties(CONFIG)))
    assert open_table(storage) == CONFIG
    storage.put(PROPERTIES, b"#\nhoodie.table.na")
    assert open_table(storage) == CONFIG


def test_broken_properties_are_no_table(tmp_path: Path) -> None:
    storage = open_storage(tmp_path)
    hudi = {key: value for key, value in to_properties(CONFIG).items() if not key.startswith("nbcc.")}
    texts = {
        "lacks hoodie.table.name, hoodie.table.type": b"",
        "lacks hoodie.table.type": encode_properties({key: hudi[key] for key in hudi if key != "hoodie.table.type"}),
        "lacks hoodie.table.checksum": encode_properties({key: hudi[key] for key in hudi if key != CHECKSUM}),
        "checksum is not that of its table name": encode_properties(hudi | {CHECKSUM: "1"}),
        "its last line has no end": encode_properties(hudi).rstrip(),
    }
    for reason, text in texts.items():
        storage.put(PROPERTIES, text)
        with pytest.raises(Damaged, match=f"hoodie.properties is not whole: .*{reason}"):
            open_table(storage)


def test_no_prefix_of_the_properties_opens_as_another_table(tmp_path: Path) -> None:
    """A cut file opened 1,283 times in 1,643 with another configuration, 273 times writable under a weaker lock."""
    options = {"nbcc.decision": "log", "hoodie.write.lock.provider": "StorageBasedLockProvider"}
    config = replace(CONFIG, coordination=coordination_of(options, BadInput))
    storage, whole = open_storage(tmp_path), encode_properties(to_properties(config))
    for length in range(len(whole)):
        storage.put(PROPERTIES, whole[:length])
        with pytest.raises(NotATable):
            open_table(storage)
    storage.put(PROPERTIES, whole)
    assert open_table(storage).coordination == config.coordination


def test_a_key_that_every_table_of_ours_has_is_mandatory(tmp_path: Path) -> None:
    """Java writes the keys in any order, so that a cut may leave the checksum."""
    storage, values = open_storage(tmp_path), to_properties(CONFIG)
    for key in ("nbcc.format", *OWN_MANDATORY):
        storage.put(PROPERTIES, encode_properties({other: values[other] for other in values if other != key}))
        with pytest.raises(Damaged, match=f"it lacks {key}"):
            open_table(storage)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nbcc.buckets": "four"}, "nbcc.buckets is 'four'"),
        ({"nbcc.buckets": "-1"}, "nbcc.buckets is '-1'"),
        ({"nbcc.buckets": "1" * 13}, "not a whole number from 1 to 99999999"),
        ({"hoodie.logfile.max.size": "big"}, "hoodie.logfile.max.size is 'big'"),
        ({"hoodie.table.recordkey.fields": ""}, "names no column"),
        ({"nbcc.writer.features": "decision-log,fixed-buckets"}, "no nbcc.decision=log"),
        ({"hoodie.table.create.schema": '{"type":"record",'}, "hold no valid schema"),
        ({"nbcc.schemas": "["}, "hold no valid schema"),
    ],
)
def test_properties_that_contradict_themselves_are_a_typed_error(
    change: dict[str, str], reason: str, tmp_path: Path
) -> None:
    storage = open_storage(tmp_path)
    storage.put(PROPERTIES, encode_properties(to_properties(CONFIG) | change))
    with pytest.raises(NotATable, match=reason):
        open_table(storage)


def test_a_wrong_path_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(NotATable, match=r"no \.hoodie/hoodie\.properties"):
        open_table(open_storage(tmp_path / "typo"))
    assert not (tmp_path / "typo").exists()


@pytest.mark.parametrize("name", HUDI_TABLES)
def test_tables_of_hudi_are_understood(name: str, tmp_path: Path) -> None:
    config, options = open_table(hudi_table(name, tmp_path)), hudi_facts(name)["options"]
    assert config.merge_mode == options["hoodie.record.merge.mode"]
    assert config.table_type == options["hoodie.datasource.write.table.type"]
    assert (config.record_key, config.ordering, config.partition_by) == (("id",), "ts", ("part",))
    assert (config.own, config.rules, config.version, config.hive_style) == (False, HUDI, 9, False)
    assert config.schema.field("ts").type == pa.int64()
    assert config.schema.names == ["id", "part", "ts", "a", "b", "_hoodie_is_deleted"]
