"""nbcc, through the public face of a table."""

from __future__ import annotations

import shutil
from typing import Any

from nbcc.engine.spark.session import session
from nbcc.engine.table import Table

from ..inputs import SCHEMA, rows
from .loop import serve
from .queries import copied, rate, seconds_of


class Ours:
    """A table and the session that works on it."""

    _spark: Any
    _table: Table

    def start(self, cores: int, heap: str, **_: str) -> None:
        self._spark = session("nbcc-bench", master=f"local[{cores}]", conf={"spark.driver.memory": heap})

    def fresh(self, path: str, buckets: int, **_: str) -> None:
        """A new table where the last one was."""
        shutil.rmtree(path, ignore_errors=True)
        self._table = Table.create(self._spark, path, SCHEMA, record_key="id", ordering_fields="ts", buckets=buckets)

    def join(self, path: str, **_: Any) -> None:
        """The table that another process has made."""
        self._table = Table.open(self._spark, path)

    def make(self, path: str, count: int, first: int, ordering: int) -> None:
        """Write an input."""
        rows(self._spark, count, first, ordering).write.mode("overwrite").parquet(path)

    def upsert(self, data: str) -> str | None:
        return self._table.upsert(self._read(data)).completed

    def bulk_insert(self, data: str) -> None:
        self._table.bulk_insert(self._read(data))

    def compact(self) -> None:
        assert self._table.compact() is not None, "there was something to compact"

    def snapshot(self) -> None:
        self._made(self._table.snapshot())

    def column(self) -> Any:
        """One column of every row, aggregated."""
        return self._table.snapshot(["quantity"]).selectExpr("sum(quantity)").collect()[0][0]

    def incremental(self, after: str) -> None:
        self._made(self._table.incremental(after))

    def changes(self, after: str) -> None:
        self._made(self._table.changes(after))

    def copy_by_stream(self, source: str, path: str, checkpoint: str) -> None:
        """Copy a table into the fresh table at `path`, in one trigger."""
        follow = self._spark.readStream.format("nbcc").option("hoodie.datasource.query.type", "incremental")
        copied(self._stream(follow.load(source), checkpoint), path)

    def rate_stream(self, path: str, checkpoint: str, rows: int, batches: int) -> float:
        """Write batches of new rows into the fresh table at `path`; the seconds from the start of the query."""
        return seconds_of(self._stream(rate(self._spark, rows), checkpoint), path, batches)

    def _stream(self, frame: Any, checkpoint: str) -> Any:
        return frame.writeStream.format("nbcc").option("checkpointLocation", checkpoint)

    def count(self) -> int:
        count: int = self._table.snapshot().count()
        return count

    def _read(self, path: str) -> Any:
        return self._spark.read.schema(SCHEMA).parquet(path)

    def _made(self, frame: Any) -> None:
        """Have every row made, and keep none."""
        frame.write.format("noop").mode("overwrite").save()


if __name__ == "__main__":
    serve(Ours())
