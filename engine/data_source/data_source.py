"""`spark.read.format("nbcc")` and `df.write.format("nbcc")`, through Spark's Python Data Source API.

Spark creates the source in separate processes on the driver's machine: at `load()`, for each query and for each write.
So modules are imported on use, and the plan of `load()` is an attribute, which Spark pickles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """A Hudi table as a data source. Options have Hudi's names; see docs/options.md.

    `load()` fixes the state of a DataFrame. Every action on it, and both sides of a self-join, read that state even if
    writers commit meanwhile.
    """

    _plan: ReadPlan | None = None

    @classmethod
    def name(cls) -> str:
        return "nbcc"

    def schema(self) -> StructType:
        from ..schema import to_spark
        from .options import read_options
        from .read import plan

        self._plan = plan(read_options(self.options))
        return to_spark(self._plan.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        from .read import Reader, check_schema

        if self._plan is None:  # Spark does not call `schema` if the user has set a schema
            self.schema()
        assert self._plan is not None
        check_schema(schema, self._plan)
        return Reader(self._plan, schema)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        from .options import write_options
        from .write import begin

        return begin(schema, overwrite, write_options(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        from .read import RefusedStream

        return RefusedStream()

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        from ..errors import Unsupported

        raise Unsupported(
            "write a stream with the format nbcc",
            "the format writes batches",
            "use stream.writeStream.foreachBatch(table.sink())",
        )
