"""Runs the engine's read, write and compaction tasks as Spark jobs over DataFrames. Spark jobs never send table data to
the driver.

Each table operation runs as one Spark job, because starting a job takes a tenth of a second. Spark passes batches of
rows to Python as Arrow data.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import to_arrow_schema

from ..data.check import Problem, problems, refuse
from ..data.columns import IS_DELETED, conform
from ..data.digest import Digest, digest_of
from ..data.jobs import run_compaction
from ..data.known_keys import insert_keys, unknown_keys
from ..data.memory import rows_of_task
from ..data.tasks import VERSIONS_PER_TASK, AnyCompaction, AnyRead, ReadTask, TableShape, WriteTask, WrittenFile
from ..data.write import bucket_column, split_by_group, with_inserts, write_group
from ..names import Names
from ..schema import to_spark
from ..storage import Storage
from .failures import in_driver
from .shared_disk import Witness, check_shared, read_shared, witness_of_instant
from .shipping import guarded
from .worker import in_words, keep_loaded

Batches = Iterator[pa.RecordBatch]
Mapper = Callable[[Batches], Batches]
T = TypeVar("T")

BUCKET: Final = "__bucket"
BATCH_ROWS: Final = 1 << 14  # a few MB, which stay in the caches of the two that pass them on
GLOB_CHARACTERS: Final = frozenset("*?[]{}\\")

_ANSWERS: Final = pa.schema([("answer", pa.binary())])  # pickled: a `WrittenFile` or a `Problem` a row


class SparkJobs:
    """Runs the engine's tasks on the executors of the Spark session `spark`. Each executor opens `storage` itself and
    generates its own file names.
    """

    takes_conditions_later = False

    def __init__(self, spark: SparkSession, storage: Storage, names: Names) -> None:
        self._spark = spark
        self._storage = storage
        self._names = names

    @property
    def has_local_properties(self) -> bool:
        """True if the driver can read Spark's local properties, which contain the id of the streaming query whose batch
        it writes.
        """
        return not is_connect(self._spark)

    def write(self, data: DataFrame, task: WriteTask) -> list[WrittenFile]:
        shape = task.shape
        shares = task.tasks_per_group
        bucket = _bucket_of(shape, shares)(*shape.keys.record_key)
        routed = _stored_columns(data, shape).withColumn(BUCKET, bucket)
        if shape.keys.partition_by:
            groups = routed.repartition(self._width, *shape.keys.partition_by, BUCKET)
        else:
            groups = routed.repartitionById(shape.buckets * shares, BUCKET)
        there = witness_of_instant(self._storage, task.instant)
        write = guarded(_writer(self._storage, self._names, task, there))
        answers = _collect(groups.mapInArrow(write, to_spark(_ANSWERS)))
        refuse([answer for answer in answers if isinstance(answer, Problem)], shape)
        files = [answer for answer in answers if isinstance(answer, WrittenFile)]
        return sorted(files, key=lambda file: (file.partition, file.file_id, file.version or 0))

    def digest(self, data: DataFrame, shape: TableShape, sets: frozenset[str] | None) -> Digest:
        """Return the digest of a batch, computed in one Spark job without a shuffle. Spark returns exactly one partial
        digest for each successful task, so no rows are counted twice.
        """
        answers = _stored_columns(data, shape).mapInArrow(guarded(_digester(shape, sets)), to_spark(_ANSWERS))
        return sum(_collect(answers), Digest())

    def compact(self, tasks: Sequence[AnyCompaction]) -> list[WrittenFile]:
        """Run one Spark task for each compaction task of the plan. Each Spark task returns only file names and row
        counts to the driver.
        """
        if not tasks:
            return []
        storage, names = self._storage, self._names
        there = witness_of_instant(storage, tasks[0].instant)

        def compact(task: AnyCompaction) -> list[WrittenFile]:
            with in_words():
                check_shared(storage, there)
                files = run_compaction(storage, names, task)
            keep_loaded()
            return files

        if not is_connect(self._spark):
            with in_driver():
                return self._spark.sparkContext.parallelize(tasks, len(tasks)).flatMap(guarded(compact)).collect()
        return _collect(self._one_task_each(tasks, lambda task: iter([_answers(compact(task))]), _ANSWERS))

    def read(self, tasks: Sequence[AnyRead], schema: pa.Schema) -> DataFrame:
        storage = self._storage
        sent = to_arrow_schema(to_spark(schema), timezone="UTC")  # in Spark's own units of time
        plain = [self._plain_file(task) for task in tasks]
        by_spark = [path for path in plain if path is not None]
        by_us = [task for task, path in zip(tasks, plain, strict=True) if path is None]

        def read(task: AnyRead) -> Batches:
            for rows in read_shared(storage, task):
                yield from conform(rows, sent).to_batches(BATCH_ROWS)

        parts = []
        if by_spark:
            # Without the recursive option Spark would make columns of folders like `part=x`.
            reader = self._spark.read.schema(to_spark(schema)).option("recursiveFileLookup", "true")
            parts.append(reader.parquet(*by_spark))
        if by_us or not tasks:
            parts.append(self._one_task_each(by_us, read, schema))
        return parts[0] if len(parts) == 1 else parts[0].union(parts[1])

    @property
    def _width(self) -> int:
        return int(self._spark.conf.get("spark.sql.shuffle.partitions") or 1)

    def _one_task_each(self, tasks: Sequence[T], run: Callable[[T], Batches], schema: pa.Schema) -> DataFrame:
        def run_named(batches: Batches) -> Batches:
            with in_words():
                for batch in batches:
                    for number in batch.column(0).to_pylist():
                        yield from run(tasks[number])
            keep_loaded()

        numbers = self._spark.range(0, len(tasks), 1, max(1, len(tasks)))
        return numbers.mapInArrow(guarded(run_named), to_spark(schema))

    def _plain_file(self, task: AnyRead) -> str | None:
        """Return the path of the base file if the task reads only one local base file and has no condition; otherwise
        None.

        If a base file's size differs from the size in its commit, nbcc's own reader reads the file and raises an error.
        """
        url = urlsplit(self._storage.url)
        if not isinstance(task, ReadTask) or not task.base_only or task.where is not None or url.scheme != "file":
            return None
        path = f"{unquote(url.path)}/{task.base}"
        return f"file:{path}" if not GLOB_CHARACTERS.intersection(path) and _has_size(path, task.base_size) else None


def _has_size(path: str, listed: int | None) -> bool:
    try:
        return not listed or os.stat(path).st_size == listed
    except OSError:
        return False


def is_connect(spark: SparkSession) -> bool:
    """Return True for a session of Spark Connect, which has no `SparkContext`."""
    return not hasattr(spark, "sparkContext")


def _bucket_of(shape: TableShape, shares: int) -> Callable[..., Column]:
    """Return a function that computes the bucket column from the key columns. Only the key columns are sent to Python
    workers before the shuffle.
    """

    def bucket(*keys: pa.Array) -> pa.Array:
        return bucket_column(pa.table(keys, names=shape.keys.record_key), shape, shares)

    make: Callable[..., Callable[..., Column]] = arrow_udf  # its types know no function of as many columns as a key has
    return make(guarded(bucket), "int")


def _writer(storage: Storage, names: Names, task: WriteTask, there: Witness | None) -> Mapper:
    def write(batches: Batches) -> Batches:
        with in_words():
            rows = rows_of_task(batches, task.shape.limits)
        if rows is None:
            return
        context = TaskContext.get()
        writer = context.partitionId() if context else 0
        conformed = _conformed(rows, task.shape)
        found = problems(conformed, task.shape, deletes=not task.bulk)
        if not found:
            with in_words():
                found = unknown_keys(storage, conformed, task)
        if found:
            yield _answers(found)
            return
        with in_words():
            check_shared(storage, there)
            share = rows[BUCKET][0].as_py() // task.shape.buckets  # all rows of the Spark task have one share
            own = replace(task, first_version=1 + VERSIONS_PER_TASK * share)
            buckets = pc.subtract(rows[BUCKET], share * task.shape.buckets)
            inserts = insert_keys(storage, names, conformed, own)
            for group in split_by_group(conformed, buckets, task.shape):
                yield _answers(with_inserts(write_group(storage, names, own, group, writer), inserts))
                inserts = None
        keep_loaded()

    return write


def _digester(shape: TableShape, sets: frozenset[str] | None) -> Mapper:
    def digest(batches: Batches) -> Batches:
        tables = (pa.Table.from_batches([batch]) for batch in batches)
        total = sum((digest_of(_conformed(rows, shape), sets) for rows in tables), Digest())
        yield _answers([total])
        keep_loaded()

    return digest


def _stored_columns(data: DataFrame, shape: TableShape) -> DataFrame:
    flags = [IS_DELETED] if IS_DELETED in data.columns and IS_DELETED not in shape.schema.names else []
    return data.select(*shape.schema.names, *flags)


def _conformed(rows: pa.Table, shape: TableShape) -> pa.Table:
    """Cast the rows to the table's exact types, because Spark's timestamps have the session's time zone."""
    unnamed = IS_DELETED in rows.column_names and IS_DELETED not in shape.schema.names
    flagged = [rows.schema.field(IS_DELETED)] if unnamed else []
    return conform(rows, pa.schema([*shape.schema, *flagged]))


def _answers(answers: Sequence[WrittenFile | Problem | Digest]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"answer": [pickle.dumps(answer) for answer in answers]}, _ANSWERS)


def _collect(answers: DataFrame) -> list[Any]:
    """Run the Spark job, and return the unpickled results of its tasks in order (file names and counts, no table data).
    """
    with in_driver():
        return [pickle.loads(row.answer) for row in answers.collect()]
