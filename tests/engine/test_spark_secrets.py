"""Credentials on executors: never in a plan, an event log or a message; renewed there, or refused in words."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nbcc import Table
from nbcc.engine.errors import CannotRun, StorageError
from nbcc.simulator.lockstep.s3.faults import Fault
from nbcc.simulator.lockstep.s3.server import Bucket

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

URL = "s3://lake/t"
COLUMNS = "id string, ts long"
SECRETS = ("s3cr3t", "QmFzZTY0IG9mIGEgY3VzdG9tZXI=")
"""The second is the value of an option whose name Spark does not redact by itself."""
CREATE = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.table.ordering.fields": "ts"}
DATA = r"t/\.?0\d+-"


@contextmanager
def event_log(spark: SparkSession, folder: Path) -> Iterator[None]:
    """Write the events of the shared session to a folder, as spark.eventLog.enabled does."""
    context: Any = spark.sparkContext
    jvm, scala = context._jvm, context._jsc.sc()
    conf = scala.conf().clone().set("spark.eventLog.compress", "false")
    package = getattr(jvm, "org.apache.spark.scheduler")
    place = jvm.java.net.URI(folder.as_uri())
    listener = package.EventLoggingListener(scala.applicationId(), jvm.scala.Option.empty(), place, conf)
    listener.start()
    scala.addSparkListener(listener)
    try:
        yield
    finally:
        scala.listenerBus().waitUntilEmpty()
        scala.removeSparkListener(listener)
        listener.stop()


def test_no_secret_is_in_a_plan_an_event_log_or_a_message(
    spark: SparkSession, bucket: Bucket, tmp_path: Path
) -> None:
    texts = {**bucket.texts, "allow_http": "true", "sse_customer_key_base64": SECRETS[1]}
    options = {f"storage.{name}": text for name, text in texts.items()}
    rows = spark.createDataFrame([("a", 1), ("b", 1)], COLUMNS)
    seen = []
    with event_log(spark, tmp_path):
        rows.write.format("nbcc").mode("append").options(**CREATE, **options).save(URL)
        table = Table.open(spark, URL, texts)
        table.upsert(rows)
        table.compact()
        table.upsert(rows)
        for frame in (spark.read.format("nbcc").options(**options).load(URL), table.snapshot()):
            seen.append(frame._jdf.queryExecution().toString())
            assert frame.count() == 2
        for read in (table.snapshot, spark.read.format("nbcc").options(**options).load):
            bucket.faults[:] = [Fault("expire", DATA, "GET", times=99, pattern=True)]
            frame = read(URL) if read != table.snapshot else table.snapshot()
            with pytest.raises(Exception, match="ExpiredToken: the credentials have expired: open the table") as failed:
                frame.collect()
            seen.append(str(failed.value))
            assert "Traceback" not in seen[-1]
            bucket.faults.clear()
    events = [path.read_text("utf-8") for path in tmp_path.rglob("*") if path.is_file()]
    assert sum(text.count("SparkListenerTaskEnd") for text in events) > 4
    for text in (*seen, *events):
        for secret in SECRETS:
            assert secret not in text
            assert base64.b64encode(secret.encode()).decode()[:8] not in text


def test_expired_credentials_are_one_typed_sentence(spark: SparkSession, bucket: Bucket) -> None:
    table = Table.create(spark, URL, COLUMNS, record_key="id", ordering_fields="ts", storage_options=bucket.options)
    bucket.faults[:] = [Fault("expire", DATA, times=99, pattern=True)]
    with pytest.raises(StorageError, match=r"^Asked to write .*ExpiredToken: the credentials have expired: open") as no:
        table.upsert(spark.createDataFrame([("a", 1)], COLUMNS))
    assert "Traceback" not in str(no.value)
    assert "s3cr3t" not in str(no.value)
    bucket.faults.clear()
    assert table.timeline() == (), "the instant is taken back"


def test_executors_ask_a_credential_provider_again(spark: SparkSession, bucket: Bucket, tmp_path: Path) -> None:
    asked = tmp_path / "asked"

    def provider() -> dict[str, Any]:
        with open(asked, "a", encoding="utf-8") as lines:
            lines.write(f"{os.getpid()}\n")
        soon = datetime.now(UTC) + timedelta(milliseconds=1)
        return {"access_key_id": "test", "secret_access_key": "s3cr3t", "expires_at": soon}

    keys = ("access_key_id", "secret_access_key")
    plain = {name: value for name, value in bucket.options.items() if name not in keys}
    options = {**plain, "credential_provider": provider}
    table = Table.create(spark, URL, COLUMNS, record_key="id", ordering_fields="ts", storage_options=options)
    table.upsert(spark.createDataFrame([("a", 1), ("b", 1)], COLUMNS))
    assert table.snapshot().count() == 2
    processes = asked.read_text().splitlines()
    workers = [each for each in processes if each != str(os.getpid())]
    assert max(workers.count(each) for each in workers) > 1, "a worker has renewed what had expired"


def test_a_credential_provider_that_cannot_be_sent_is_refused_in_words(spark: SparkSession, bucket: Bucket) -> None:
    lock = threading.Lock()

    def provider() -> dict[str, Any]:
        with lock:
            return {"access_key_id": "test", "secret_access_key": "s3cr3t", "expires_at": None}

    keys = ("access_key_id", "secret_access_key")
    plain = {name: value for name, value in bucket.options.items() if name not in keys}
    options = {**plain, "credential_provider": provider}
    table = Table.create(spark, URL, COLUMNS, record_key="id", ordering_fields="ts", storage_options=options)
    with pytest.raises(CannotRun, match=r"send a task to the executors, but it cannot be pickled \(.*lock"):
        table.upsert(spark.createDataFrame([("a", 1)], COLUMNS))
    assert table.timeline() == (), "the instant is taken back"
