"""A null where the columns of a table allow none is refused: no read and no compaction could take it any more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import BadInput
from tests.builders.tables import SCHEMA, batch, make_table, state

TEXTS = pa.list_(pa.field("element", pa.string(), nullable=False))
CASES = [(pa.field("a", pa.string(), nullable=False), None), (pa.field("a", TEXTS), [None])]


def columns_with(field: pa.Field) -> pa.Schema:
    return pa.schema([*(known for known in SCHEMA if known.name != field.name), field])


@pytest.mark.parametrize("log_format", ["parquet", "avro"])
@pytest.mark.parametrize(("field", "value"), CASES)
def test_a_null_where_none_may_be(field: pa.Field, value: Any, log_format: str, tmp_path: Path) -> None:
    options = {"hoodie.logfile.data.block.format": log_format}
    table = make_table(tmp_path, schema=columns_with(field), options=options)
    given = pa.string() if value is None else pa.list_(pa.string())
    rows = batch(("k1", 1, value), schema=columns_with(pa.field("a", given)))
    with pytest.raises(BadInput) as refused:
        table.upsert(rows)
    assert str(refused.value) == (
        "Asked to write a batch, but 1 row has a null where the columns of the table allow none (for example id='k1', "
        "part='p', ts=1): give a value, or make the table with columns that may be null."
    )
    assert table.timeline() == ()


def test_a_delete_needs_its_key_only(tmp_path: Path) -> None:
    columns = columns_with(CASES[0][0])
    table = make_table(tmp_path, schema=columns)
    table.upsert(batch(("k1", 1, "x"), ("k2", 1, "y"), schema=columns))
    table.upsert(batch(("k1", 2, None)).append_column("_hoodie_is_deleted", [[True]]))
    table.compact()
    assert state(table.snapshot()) == {("k2", 1, "y")}
