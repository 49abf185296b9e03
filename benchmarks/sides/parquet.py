"""Plain Spark Parquet: no keys, no merge, no timeline. What a table of any format cannot be faster than."""

from __future__ import annotations

from typing import Any

from nbcc.engine.spark.session import session

from ..inputs import SCHEMA
from .loop import serve


class Parquet:
    """A folder of files."""

    _spark: Any = None
    _path: Any = None

    def start(self, cores: int, heap: str, **_: str) -> None:
        self._spark = session("parquet-bench", master=f"local[{cores}]", conf={"spark.driver.memory": heap})

    def fresh(self, path: str, **_: Any) -> None:
        self._path = path

    def upsert(self, data: str) -> None:
        """Write the rows as they are."""
        self._spark.read.schema(SCHEMA).parquet(data).write.mode("overwrite").parquet(self._path)

    def snapshot(self) -> None:
        self._spark.read.schema(SCHEMA).parquet(self._path).write.format("noop").mode("overwrite").save()

    def column(self) -> Any:
        return self._spark.read.schema(SCHEMA).parquet(self._path).selectExpr("sum(quantity)").collect()[0][0]


if __name__ == "__main__":
    serve(Parquet())
