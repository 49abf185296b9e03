"""Run by `test_spark_cluster.py` in a process of its own: the driver of a session on a cluster.

Arguments: the master, a folder, and the names of the scenarios to run.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from nbcc.engine.storage import LocalStorage

COLUMNS = "id string, ts long, value string"
ROWS = 40
STALL_SECONDS = 20.0


class Moment(NamedTuple):
    """What happens to the first task that makes this call of the storage: `kill` its executor, or `stall` the task.

    `path` is a part of the path; `after`: it happens after the call. `flag`: the file that marks the first task.
    """

    call: str
    path: str
    act: str
    after: bool
    flag: str


class Disturbed(LocalStorage):
    """A table's folder, for tasks of which one is disturbed at a given moment."""

    def __init__(self, url: str, moment: Moment) -> None:
        super().__init__(url)
        self.moment = moment

    def __reduce__(self) -> Any:
        return type(self), (self.url, self.moment)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return bool(self._around("put", path, lambda: super(Disturbed, self).put_if_absent(path, data)))

    def get(self, path: str) -> bytes:
        return bytes(self._around("get", path, lambda: super(Disturbed, self).get(path)))

    def _around(self, call: str, path: str, request: Callable[[], Any]) -> Any:
        meant = call == self.moment.call and re.search(self.moment.path, path) is not None
        if meant and not self.moment.after:
            self._disturb()
        answer = request()
        if meant and self.moment.after:
            self._disturb()
        return answer

    def _disturb(self) -> None:
        from pyspark import TaskContext

        if TaskContext.get() is None:
            return
        try:
            os.close(os.open(self.moment.flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        if self.moment.act == "kill":
            kill_executor()
        time.sleep(STALL_SECONDS)


def kill_executor() -> None:
    """Kill the JVM of the executor that runs this task: the parent of the daemon that started this worker."""
    status = Path(f"/proc/{os.getppid()}/status").read_text()
    found = re.search(r"PPid:\t(\d+)", status)
    assert found is not None
    os.kill(int(found[1]), signal.SIGKILL)


def rows(spark: Any, value: str, first: int = 0) -> Any:
    values = [(f"k{number}", 1 if value == "old" else 2, value) for number in range(first, ROWS)]
    return spark.createDataFrame(values, COLUMNS).repartition(2)


def table_on(spark: Any, storage: Any, **more: Any) -> Any:
    import pyarrow as pa

    from nbcc.engine.definition.creation import table_config
    from nbcc.engine.table import create_table
    from nbcc.engine.wiring import context_of

    schema = pa.schema([("id", pa.string()), ("ts", pa.int64()), ("value", pa.string())])
    config = table_config("t", schema, record_key="id", ordering_fields="ts", buckets=2, options={}, **DEFAULTS, **more)
    return create_table(context_of(spark, storage), config)


DEFAULTS: dict[str, Any] = {
    "partition_by": None, "merge_mode": "EVENT_TIME_ORDERING", "table_type": "MERGE_ON_READ", "concurrency_mode": None,
}  # fmt: skip


def check(table: Any, folder: Path, value: str) -> None:
    """Nothing is lost and nothing is there twice, neither in reads nor as a data file that no commit lists."""
    found = table.snapshot().select("id", "value").collect()
    assert sorted(tuple(row) for row in found) == sorted((f"k{number}", value) for number in range(ROWS))
    listed = {
        stat.path
        for instant in table.timeline()
        if instant.completed
        for stat in table.context.commits.commit(instant).stats
    }
    files = {str(path.relative_to(folder)) for path in folder.glob("*") if path.is_file()}
    files |= {str(path.relative_to(folder)) for path in folder.glob(".0*") if path.is_file()}
    assert files == listed, files ^ listed
    assert all(instant.completed for instant in table.timeline()), table.timeline()
    assert not [path for path in (folder / ".hoodie/.temp").rglob("*") if path.is_file()]


def lacking(spark: Any, folder: Path) -> None:
    """Before `register`, workers without nbcc refuse in one sentence, and the user sees nothing else of them."""
    import pyarrow as pa

    from nbcc import Table

    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    table = Table.create(None, folder / "lacking", schema, record_key="id", ordering_fields="ts")
    table.upsert(pa.table([["a"], [1]], schema=schema))
    try:
        spark.read.format("nbcc").load(str(folder / "lacking")).collect()
    except Exception as refused:
        text = str(refused)
    else:
        raise AssertionError("the workers have nbcc")
    sentence = r"Asked to run a task of nbcc on \S+, but its Python \S+ (lacks nbcc|imports another release of nbcc) .*"
    assert re.search(sentence + r": call nbcc\.register\(spark\), which sends nbcc to the workers", text), text
    assert "Traceback" not in text, text


def registered(spark: Any, folder: Path) -> None:
    """After `register` both workers import the driver's nbcc, although one has another in its PYTHONPATH."""
    import nbcc
    from nbcc import Table
    from nbcc.engine.spark.shipping import guarded

    nbcc.register(spark)
    nbcc.register(spark)

    def where(_: int) -> tuple[str, str]:
        from nbcc.engine.spark import sources

        time.sleep(1)  # so that both workers have a task
        return os.getcwd(), sources.home_of_sources()

    found = dict(spark.sparkContext.parallelize(range(4), 4).map(guarded(where)).collect())
    assert len(found) == 2, found
    assert all(re.search(r"nbcc-[0-9a-f]{16}\.zip/nbcc$", home) for home in found.values()), found
    path = str(folder / "registered")
    options = {"hoodie.datasource.write.recordkey.field": "id", "hoodie.table.ordering.fields": "ts"}
    rows(spark, "old").write.format("nbcc").mode("append").options(**options).save(path)
    table = Table.open(spark, path)
    table.upsert(rows(spark, "new"))
    assert table.compact()
    for read in (spark.read.format("nbcc").load(path), table.snapshot()):
        assert Counter(row.value for row in read.collect()) == {"new": ROWS}


def other_disk(spark: Any, folder: Path) -> None:
    """Each process sees its own working directory in `/proc/self/cwd`."""
    import pytest

    from nbcc.engine.errors import CannotRun

    table = table_on(spark, LocalStorage("file:///proc/self/cwd/elsewhere"))
    text = r"a task on the table at file:///proc/self/cwd/elsewhere, but the folder \S+ of the executor on \S+ does not"
    with pytest.raises(CannotRun, match=text):
        table.upsert(rows(spark, "old"))
    assert table.timeline() == ()
    for place in ("a", "b"):
        assert not list((folder.parent / place).rglob("elsewhere"))
    assert not [path for path in Path("elsewhere").rglob("*") if re.search(FILE, path.name)]


def disturbed(
    spark: Any, folder: Path, name: str, operation: str, call: str, path: str, act: str, after: bool
) -> None:
    """One task of an operation is disturbed; the operation completes on the other attempts."""
    home = folder / name
    table = table_on(spark, LocalStorage(home.as_uri()))
    table.upsert(rows(spark, "old"))
    if operation != "upsert":
        table.upsert(rows(spark, "new"))
    flag = folder / f"{name}.flag"
    storage = Disturbed(home.as_uri(), Moment(call, path, act, after, str(flag)))
    from nbcc.engine.table import open_table
    from nbcc.engine.wiring import context_of

    again = open_table(context_of(spark, storage))
    if operation == "upsert":
        again.upsert(rows(spark, "new"))
    elif operation == "read":
        assert again.snapshot().count() == ROWS
    else:
        assert getattr(again, operation)()
    assert flag.exists(), "no task was disturbed"
    check(table, home, "new")


FILE = r"^\.?0\d+-[^/]*$"
MARKER = r"^\.hoodie/\.temp/"
DISTURBED: dict[str, tuple[Any, ...]] = {
    "upsert_before_marker": ("upsert", "put", MARKER, "kill", False),
    "upsert_before_file": ("upsert", "put", FILE, "kill", False),
    "upsert_after_file": ("upsert", "put", FILE, "kill", True),
    "compact_before_file": ("compact", "put", FILE, "kill", False),
    "compact_after_file": ("compact", "put", FILE, "kill", True),
    "log_compact_after_file": ("log_compact", "put", FILE, "kill", True),
    "read": ("read", "get", FILE, "kill", True),
    "upsert_speculation": ("upsert", "put", FILE, "stall", True),
    "upsert_speculation_before_file": ("upsert", "put", FILE, "stall", False),
    "compact_speculation": ("compact", "put", FILE, "stall", True),
}


def source_write(spark: Any, folder: Path) -> None:
    """An executor is killed while it computes the rows of a write through the data source."""
    from pyspark.sql.functions import udf

    from nbcc import Table

    path, flag = folder / "source_write", folder / "source_write.flag"

    def once(value: str) -> str:
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return value
        kill_executor()
        time.sleep(STALL_SECONDS)
        return value

    table = table_on(spark, LocalStorage(path.as_uri()))
    disturbing = rows(spark, "new").withColumn("value", udf(once, "string")("value"))
    disturbing.write.format("nbcc").mode("append").save(str(path))
    assert flag.exists()
    check(Table.open(spark, path), path, "new")
    del table


def local_cluster(spark: Any, folder: Path) -> None:
    """What `Table` and `session` do on executors that Spark starts on this machine."""
    from nbcc import Table

    table = Table.create(spark, folder / "local", COLUMNS, record_key="id", ordering_fields="ts", buckets=2)
    table.upsert(rows(spark, "old"))
    table.upsert(rows(spark, "new"))
    assert table.log_compact()
    check(table, folder / "local", "new")


def wait_for_executors(spark: Any) -> None:
    """Wait until both executors have joined; Spark counts the driver as a third."""
    tracker = spark.sparkContext._jsc.sc().statusTracker()
    while len(tracker.getExecutorInfos()) < 3:
        time.sleep(0.1)


SCENARIOS: dict[str, Callable[[Any, Path], None]] = {
    each.__name__: each for each in (lacking, registered, other_disk, source_write, local_cluster)
}
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.speculation": "true",
    "spark.speculation.interval": "200ms",
    "spark.speculation.quantile": "0.5",
    "spark.speculation.minTaskRuntime": "8s",
}


def main(master: str, folder: Path, names: list[str]) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    if events := os.environ.get("NBCC_EVENTS"):
        builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", events)
    spark = builder.getOrCreate()
    wait_for_executors(spark)
    for name in names:
        began = time.monotonic()
        if name in SCENARIOS:
            SCENARIOS[name](spark, folder)
        else:
            disturbed(spark, folder, name, *DISTURBED[name])
        print(f"{time.monotonic() - began:.1f} s {name}", file=sys.stderr, flush=True)
        print(name, "has run", flush=True)
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
