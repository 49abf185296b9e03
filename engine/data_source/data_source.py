"""Implements `spark.read.format("nbcc")` and `df.write.format("nbcc")` through Spark's Python Data Source API.

Spark starts new processes on the driver's machine to run the methods for `load()`, for each query and for each write.
Methods import modules lazily, so that each process starts fast. The read plan made by `load()` is an attribute of the
data source, because Spark pickles the attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
)

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from .read import ReadPlan


class NbccSource(DataSource):
    """A Spark data source that reads and writes Hudi tables. The options have Hudi's names (docs/options.md).

    `load()` determines the table state that a DataFrame reads. Every action on the DataFrame, and both sides of a
    self-join, read the same table state even if writers commit concurrently.
    """

    _plan: ReadPlan | None = None
    _takes_columns_of_table = False
    """Whether Spark has called `schema`. It does not if the user has set one."""

    def __reduce__(self) -> tuple[Any, ...]:
        from ..spark.shipping import reduced

        return reduced(self, vars(self))  # Spark sends the source to the tasks of a read too

    @classmethod
    def name(cls) -> str:
        return "nbcc"

    def schema(self) -> StructType:
        from ..spark.worker import in_words

        with in_words():
            return self._schema()

    def _schema(self) -> StructType:
        from ..schema import to_spark
        from .options import read_options
        from .read import plan
        from .stream_options import asks_for_stream, stream_options

        self._takes_columns_of_table = True
        if asks_for_stream(self.options):
            from .stream_read import stream_schema

            return to_spark(stream_schema(stream_options(self.options)))
        self._plan = plan(read_options(self.options))
        return to_spark(self._plan.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        from ..spark.worker import in_words
        from .options import read_options
        from .read import GroupReader, check_schema, plan

        with in_words():
            if self._plan is None:  # a schema of the user's, or options of a stream, which a read refuses
                self._plan = plan(read_options(self.options))
            check_schema(schema, self._plan)
            return GroupReader(self._plan, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from ..spark.worker import in_words
        from .options import write_options
        from .write import begin

        with in_words():
            return begin(schema, overwrite, write_options(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from ..spark.worker import in_words
        from .stream_options import stream_options
        from .stream_read import StreamReader

        with in_words():
            return StreamReader(stream_options(self.options), schema, not self._takes_columns_of_table)

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from ..spark.worker import in_words
        from .stream_options import stream_write_options
        from .stream_write import stream_writer

        with in_words():
            return stream_writer(schema, overwrite, stream_write_options(self.options))
