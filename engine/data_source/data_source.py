"""`spark.read.format("nbcc")` and `df.write.format("nbcc")`, by Spark's Python Data Source API.

Spark makes this object in processes of its own, on the driver's machine: once at `load()`, once for each query and once
for each write. So everything is imported when it is needed, and what is known from `load()` travels in the object.
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

    from .read import Planned


class NbccSource(DataSource):
    """A Hudi table. Options carry Hudi's names; see docs/options.md.

    The state of a DataFrame is fixed at `load()`: every action on it, and both sides of a self-join, read the same
    state, even if writers commit meanwhile.
    """

    _planned: Planned | None = None

    @classmethod
    def name(cls) -> str:
        return "nbcc"

    def schema(self) -> StructType:
        from ..schema import to_spark
        from .options import read_options
        from .read import plan

        self._planned = plan(read_options(self.options))
        return to_spark(self._planned.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        from .read import Reader, check_schema

        if self._planned is None:  # a schema given by hand: Spark does not ask for ours
            self.schema()
        assert self._planned is not None
        check_schema(schema, self._planned)
        return Reader(self._planned, schema)

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
