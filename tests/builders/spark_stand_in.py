"""The part of Spark's DataFrame API that programs of Hudi's documentation use, without Spark: reads and writes call the
data source as Spark does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql.datasource import WriterCommitMessage

from nbcc.engine.data_source import NbccSource
from nbcc.engine.schema import to_spark

COLUMN = pc.field


class Frame:
    def __init__(self, rows: pa.Table) -> None:
        self.rows = rows

    def filter(self, condition: str) -> Frame:
        """The rows in which a column equals a value, such as "rider == 'rider-D'"."""
        match = re.fullmatch(r"(\w+) == ('(?P<text>.*)'|(?P<number>[\d.]+))", condition)
        assert match is not None, condition
        value: Any = match["text"] if match["number"] is None else float(match["number"])
        return Frame(self.rows.filter(pc.field(match[1]) == value))

    def withColumn(self, name: str, expression: pc.Expression) -> Frame:  # noqa: N802 (as Spark calls it)
        from pyarrow import dataset

        computed = dataset.dataset(self.rows).to_table(columns={name: expression})
        return Frame(self.rows.set_column(self.rows.column_names.index(name), name, computed[name]))

    def count(self) -> int:
        return len(self.rows)

    @property
    def write(self) -> Writer:
        return Writer(self.rows)


class _Options:
    def __init__(self) -> None:
        self._options: dict[str, str] = {}

    def format(self, name: str) -> Any:
        assert name == "nbcc"
        return self

    def option(self, name: str, value: object) -> Any:
        return self.options(**{name: value})

    def options(self, **options: object) -> Any:
        self._options |= {name: str(value) for name, value in options.items()}
        return self


class Writer(_Options):
    """Writes in two tasks, so that rows of a file group arrive in several of them."""

    def __init__(self, rows: pa.Table) -> None:
        super().__init__()
        self._rows = rows
        self._mode = "errorifexists"

    def mode(self, name: str) -> Writer:
        self._mode = name
        return self

    def save(self, path: str) -> None:
        assert self._mode in ("append", "overwrite")
        source = NbccSource({"path": path, **self._options})
        writer = source.writer(to_spark(self._rows.schema), self._mode == "overwrite")
        half = len(self._rows) // 2
        messages: list[WriterCommitMessage | None] = [
            writer.write(iter(part.to_batches())) for part in (self._rows[:half], self._rows[half:])
        ]
        writer.commit(messages)


class Reader(_Options):
    def load(self, path: str) -> Frame:
        source = NbccSource({"path": path, **self._options})
        schema = source.schema()
        reader: Any = source.reader(schema)
        batches = [batch for part in reader.partitions() for batch in reader.read(part)]
        return Frame(pa.Table.from_batches(batches, reader._schema))


class Session:
    @property
    def read(self) -> Reader:
        return Reader()


def names(folder: Path, trips: pa.Table, updates: pa.Table, wider: pa.Table, soft: pa.Table) -> dict[str, Any]:
    """The names of a program of Hudi's documentation."""
    frames = {"inserts": trips, "updatesDf": updates, "widerDf": wider, "softDeleteDf": soft}
    return {"spark": Session(), "col": COLUMN, "basePath": str(folder), **{n: Frame(t) for n, t in frames.items()}}
