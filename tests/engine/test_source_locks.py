"""`df.write.format("nbcc")` on a table whose lock it does not take: refused, for the reason that there is."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import LongType, StringType, StructField, StructType

from nbcc.engine.data_source.options import write_options
from nbcc.engine.data_source.write import begin
from nbcc.engine.errors import Unsupported
from tests.builders.tables import make_table


def test_a_local_table_with_a_lock_provider_is_not_said_to_be_in_an_object_store(tmp_path: Path) -> None:
    make_table(tmp_path / "t", options={"hoodie.write.lock.provider": "FileSystemBasedLockProvider"})
    columns = [StructField(name, LongType() if name == "ts" else StringType()) for name in ("id", "part", "ts", "a")]
    with pytest.raises(Unsupported, match="this table has a lock provider of its own"):
        begin(StructType(columns), False, write_options({"path": str(tmp_path / "t")}))
