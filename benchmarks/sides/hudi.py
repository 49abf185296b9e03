"""Apache Hudi 1.2.0 through its data source, as its users write. Runs in Hudi's own environment, without nbcc."""

from __future__ import annotations

import os
import re
import shutil
from functools import partial
from typing import Any

import hudi_s3
from loop import serve
from pyspark.sql import SparkSession
from queries import copied, rate, seconds_of

BUNDLE = "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0"
SCHEMA = "id STRING, ts BIGINT, name STRING, price DOUBLE, quantity INT, note STRING"
CONFIG = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
    "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.hudi.catalog.HoodieCatalog",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.extraJavaOptions": "-Duser.timezone=UTC",
}
OPTIONS = {
    "hoodie.table.name": "t",
    "hoodie.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.table.type": "MERGE_ON_READ",
    "hoodie.datasource.write.recordkey.field": "id",
    "hoodie.datasource.write.partitionpath.field": "",
    "hoodie.datasource.write.keygenerator.class": "org.apache.hudi.keygen.NonpartitionedKeyGenerator",
    "hoodie.datasource.write.precombine.field": "ts",
    "hoodie.table.ordering.fields": "ts",
    "hoodie.record.merge.mode": "EVENT_TIME_ORDERING",
    "hoodie.index.type": "BUCKET",
    "hoodie.index.bucket.engine": "SIMPLE",
    "hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL",
    "hoodie.write.lock.provider": "org.apache.hudi.client.transaction.lock.FileSystemBasedLockProvider",
    "hoodie.clean.failed.writes.policy": "LAZY",
    "hoodie.cleaner.policy.failed.writes": "LAZY",
    "hoodie.metadata.enable": "false",
    "hoodie.embed.timeline.server": "false",
    "hoodie.write.markers.type": "DIRECT",
    "hoodie.table.timeline.timezone": "UTC",
    # services run only when the benchmark calls them
    "hoodie.compact.inline": "false",
    "hoodie.compact.schedule.inline": "false",
    "hoodie.compact.inline.max.delta.commits": "1",
    "hoodie.clean.automatic": "false",
    "hoodie.archive.automatic": "false",
    # as many tasks as there are file groups
    "hoodie.upsert.shuffle.parallelism": "4",
    "hoodie.bulkinsert.shuffle.parallelism": "4",
}
PARALLEL_LOCK = {"hoodie.write.lock.wait_time_ms": "60000", "hoodie.write.lock.client.num_retries": "200",
                 "hoodie.write.lock.client.wait_time_ms_between_retry": "50",
                 "hoodie.write.lock.wait_time_ms_between_retry": "50"}  # fmt: skip


class Hudi:
    """A table, its options and the session that works on it."""

    _spark: Any = None
    _path: Any = None
    _options: Any = None

    def start(self, cores: int, heap: str, store: dict[str, str] | None = None) -> None:
        """Start the JVM. `store`: the options of the S3 server on which the tables are."""
        builder: Any = SparkSession.builder.config("spark.driver.memory", heap)
        config = {**CONFIG, **(hudi_s3.config(store) if store else {})}
        config["spark.jars.packages"] = f"{BUNDLE},{hudi_s3.PACKAGE}" if store else BUNDLE
        for name, value in config.items():
            builder = builder.config(name, value)
        self._spark = builder.master(f"local[{cores}]").getOrCreate()
        self._spark.sparkContext.setLogLevel("OFF")

    def fresh(self, path: str, buckets: int, blocks: str) -> None:
        """A new table where the last one was; `blocks`: the format of its log blocks, avro or parquet."""
        shutil.rmtree(path, ignore_errors=True)
        self.join(path, buckets, blocks)

    def join(self, path: str, buckets: int, blocks: str) -> None:
        """The table that another process has made, or is about to."""
        self._path = path
        self._options = {**OPTIONS, **PARALLEL_LOCK, "hoodie.bucket.index.num.buckets": str(buckets),
                    "hoodie.logfile.data.block.format": blocks}  # fmt: skip

    def upsert(self, data: str) -> str | None:
        self._save(data, "upsert")
        return max(re.findall(r"_(\d{17})\.", " ".join(os.listdir(f"{self._path}/.hoodie/timeline"))), default=None)

    def serve_locks(self, folder: str) -> int:
        """Start a ZooKeeper server; the answer is its port."""
        return int(hudi_s3.serve_locks(self._spark._jvm, folder))

    def join_in_store(self, path: str, buckets: int, locks: int, skew: int) -> None:
        """The table on an S3 server. `locks`: the port of the ZooKeeper server, `skew`: of the clocks, milliseconds."""
        self.join(path, buckets, "avro")
        self._options |= {
            **hudi_s3.lock(locks), "hoodie.write.lock.zookeeper.lock_key": path.rpartition("/")[2],
            "hoodie.time.generator.max_expected_clock_skew_ms": str(skew),
        }  # fmt: skip

    def repeat(self, writer: int, rows: int, seconds: float) -> dict[str, Any]:
        """Commit `rows` new rows again and again."""
        save = partial(self._write, operation="upsert")
        return dict(hudi_s3.repeat(save, self._spark, writer, rows, seconds))

    def bulk_insert(self, data: str) -> None:
        self._save(data, "bulk_insert")

    def compact(self) -> None:
        options = {**self._options, "hoodie.compact.inline.max.delta.commits": "1"}
        settings = ",".join(
            f"{name}={value}" for name, value in options.items() if value and name.startswith("hoodie.")
        )
        done = self._spark.sql(
            f"call run_compaction(op => 'scheduleandexecute', path => '{self._path}', options => '{settings}')"
        )
        if not done.collect():
            raise RuntimeError("Hudi found nothing to compact")

    def snapshot(self) -> None:
        self._made(self._loaded())

    def column(self) -> Any:
        return self._loaded().selectExpr("sum(quantity)").collect()[0][0]

    def incremental(self, after: str) -> None:
        window = {"hoodie.datasource.query.type": "incremental", "hoodie.datasource.read.begin.instanttime": after}
        self._made(self._loaded(**window))

    def copy_by_stream(self, source: str, path: str, checkpoint: str) -> None:
        """Copy a table into the fresh table at `path`, in one trigger."""
        follow = self._spark.readStream.format("hudi").option("hoodie.metadata.enable", "false").load(source)
        columns = [each.split()[0] for each in SCHEMA.split(", ")]
        copied(self._stream(follow.select(*columns), checkpoint), path)

    def rate_stream(self, path: str, checkpoint: str, rows: int, batches: int) -> float:
        """Write batches of new rows into the fresh table at `path`; the seconds from the start of the query."""
        return float(seconds_of(self._stream(rate(self._spark, rows), checkpoint), path, batches))

    def _stream(self, frame: Any, checkpoint: str) -> Any:
        options = {**self._options, "hoodie.datasource.write.operation": "upsert",
                   "hoodie.datasource.write.streaming.checkpoint.identifier": "bench",
                   "hoodie.datasource.compaction.async.enable": "false"}  # fmt: skip
        writer = frame.writeStream.format("hudi").options(**options).outputMode("append")
        return writer.option("checkpointLocation", checkpoint)

    def count(self) -> int:
        return int(self._loaded().count())

    def _save(self, data: str, operation: str) -> None:
        self._write(self._spark.read.schema(SCHEMA).parquet(data), operation)

    def _write(self, frame: Any, operation: str) -> None:
        options = {**self._options, "hoodie.datasource.write.operation": operation}
        frame.write.format("hudi").options(**options).mode("append").save(self._path)

    def _loaded(self, **options: str) -> Any:
        return (
            self._spark.read.format("hudi")
            .option("hoodie.metadata.enable", "false")
            .options(**options)
            .load(self._path)
        )

    def _made(self, frame: Any) -> None:
        frame.write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    serve(Hudi())
