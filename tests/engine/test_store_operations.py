"""Every operation of a table in an object store, compared with the same operations on a local folder."""

from __future__ import annotations

import json
import os
import pickle
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc.engine.actions import operations
from nbcc.engine.config.options import SKEW
from nbcc.engine.errors import Unsupported
from nbcc.engine.table import Table
from nbcc.simulator.lockstep.s3.server import Bucket, s3_server

SCHEMA = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64()), ("a", pa.string())])
WIDER = SCHEMA.append(pa.field("b", pa.int64()))
URL = "s3://lake/deep/t"
OPTIONS = {SKEW: "1"}


@pytest.fixture
def bucket() -> Iterator[Bucket]:
    with s3_server() as started:
        started.page = 5  # so that every listing has several pages
        yield started


def rows(*values: tuple[str, str, int, str]) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, each, strict=True)) for each in values], SCHEMA)


def batch(ts: int) -> pa.Table:
    return rows(("k1", "p", ts, f"a{ts}"), ("k2", "q", ts, f"b{ts}"), (f"n{ts}", "p", ts, "new"))


def made(url: Any, storage_options: dict[str, Any] | None = None, options: Mapping[str, str] = OPTIONS) -> Table:
    return Table.create(
        None, url, SCHEMA, record_key="id", ordering_fields="ts", partition_by="part", buckets=2,
        options=options, storage_options=storage_options,
    )  # fmt: skip


def content(answer: Any) -> Any:
    """The part of an answer that does not depend on times and random names."""
    if isinstance(answer, pa.Table):
        kept = [name for name in answer.column_names if name in WIDER.names or name in ("op", "_hoodie_is_deleted")]
        return sorted(map(str, answer.select(kept).to_pylist()))
    if isinstance(answer, tuple | list):
        return [content(each) for each in answer]
    if hasattr(answer, "action"):
        return answer.action, answer.state
    if hasattr(answer, "logs"):
        return answer.partition, answer.base is None, len(answer.logs)
    return answer is None


def scenario(table: Table) -> Iterator[tuple[str, Any]]:
    """Runs every operation; yields its name and its answer."""

    def run(operation: str, **arguments: Any) -> tuple[str, Any]:
        return operation, table.run(operation, **arguments)

    yield run("bulk_insert", data=batch(1))
    first = table.timeline()[-1]
    for ts in (2, 3):
        yield run("upsert", data=batch(ts), batch_id=f"batch {ts}")
    yield run("delete", keys=rows(("n2", "p", 2, "")).select(["id", "part", "ts"]))
    yield run("update", set={"a": "set"}, where=[("id", "=", "k1")])
    yield run("schedule_log_compaction")
    yield run("run_log_compaction")
    yield run("upsert", data=batch(4))
    yield run("log_compact")
    yield run("schedule_compaction")
    yield run("run_compaction")
    yield run("upsert", data=batch(5))
    yield run("compact")
    yield run("upsert", data=batch(6))
    yield run("cluster", sort_by=["a"])
    yield run("snapshot")
    yield run("read_optimized")
    yield run("as_of", time=first)
    yield run("incremental", after=first)
    yield run("changes", after=first)
    yield run("replaced", after=first)
    yield run("file_slices")
    yield run("timeline")
    yield run("insert_overwrite", data=rows(("k9", "q", 7, "over")))
    yield run("replaced", after=first)
    yield run("savepoint", comment="pinned")
    yield run("delete_partition", partitions=["part=p"])
    yield run("upsert", data=batch(8))
    yield run("schedule_restore")
    yield run("run_restore")
    yield run("restore")
    yield run("delete_savepoint")
    yield from undone_and_cleaned(table)


RESIZES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("schedule_resize", {"buckets": 3}), ("cancel_resize", {}), ("resize", {"buckets": 4}), ("run_resize", {}),
)  # fmt: skip
INDEXED_AND_CONVERTED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("index", {"type": "RECORD_LEVEL_INDEX"}), ("convert", {"decision": "shared"}),  # neither after the other
)  # fmt: skip


def undone_and_cleaned(table: Table) -> Iterator[tuple[str, Any]]:
    """The second half: rollbacks, a new column, clean-up and maintenance."""

    def run(operation: str, **arguments: Any) -> tuple[str, Any]:
        return operation, table.run(operation, **arguments)

    yield run("snapshot")
    yield run("schedule_rollback")
    yield run("run_rollback")
    yield run("rollback")
    for operation, arguments in RESIZES:
        try:
            yield run(operation, **arguments)
        except Unsupported as refused:  # with a decision log
            yield operation, str(refused)
    yield run("alter_schema", schema=WIDER)
    yield run("upsert", data=batch(9), columns=None)
    for ts in (10, 11):
        yield run("upsert", data=batch(ts))
    yield run("compact")
    yield run("schedule_clean", policy="KEEP_LATEST_COMMITS", retained=1)
    yield run("run_clean")
    yield run("clean")
    yield run("archive", retained=2)
    yield run("checkpoint_state")
    yield run("publish_decided")
    yield "maintain", [step.service for step in table.run("maintain")]
    yield "collect", table.run("collect").counts()
    for operation, arguments in INDEXED_AND_CONVERTED:
        try:
            yield run(operation, **arguments)
        except Unsupported as refused:
            yield operation, str(refused)
    yield "settled", isinstance(table.run("settled"), str)
    yield run("snapshot")


@pytest.mark.parametrize("decision", ["lock", "log"])
def test_every_operation_answers_as_on_a_local_folder(decision: str, bucket: Bucket, tmp_path: Path) -> None:
    options = {**OPTIONS, "nbcc.decision": decision}
    there = [*scenario(made(URL, bucket.options, options))]
    here = [*scenario(made(tmp_path / "t", options=options))]
    assert {name for name, _ in there} == {*operations()}
    for (name, stored), (_, local) in zip(there, here, strict=True):
        assert content(stored) == content(local), name
    assert Table.open(None, URL, bucket.options).snapshot().num_rows == here[-1][1].num_rows
    assert not [key for key in bucket.objects if "/.temp/" in key or "/.heartbeat/" in key], "nothing is left behind"


CONTROL = os.environ.get("NBCC_STORE_URL", "")
"""The URL of an empty bucket in another store, such as moto, MinIO or Azurite; NBCC_STORE_OPTIONS is JSON."""


@pytest.mark.skipif(not CONTROL, reason="NO OTHER OBJECT STORE HERE: set NBCC_STORE_URL, NBCC_STORE_OPTIONS")
@pytest.mark.parametrize("decision", ["lock", "log"])
def test_every_operation_answers_in_another_store_as_on_ours(decision: str, bucket: Bucket) -> None:
    options = {**OPTIONS, "nbcc.decision": decision}
    there = made(f"{CONTROL}/{uuid.uuid4()}", json.loads(os.environ.get("NBCC_STORE_OPTIONS", "{}")), options)
    here = made(URL, bucket.options, options)
    for (name, control), (_, ours) in zip(scenario(there), scenario(here), strict=True):
        assert content(control) == content(ours), name


def test_no_object_and_no_text_of_a_table_holds_its_credentials(bucket: Bucket) -> None:
    table = made(URL, {**bucket.options, "secret_access_key": "s3cr3tKey", "access_key_id": "identity"})
    table.upsert(batch(1))
    table.compact()
    assert b"identity" in pickle.dumps(table.context.storage), "executors need the options"
    for text in (repr(table), repr(table.context), repr(table.config), str(table.context.storage)):
        assert "s3cr3tKey" not in text
        assert "identity" not in text
    for key, stored in bucket.objects.items():
        assert b"s3cr3tKey" not in stored.data, key
        assert b"identity" not in stored.data, key
