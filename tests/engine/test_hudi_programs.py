"""Programs of Apache Hudi's documentation run unedited but for the format's name, or are refused with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import NbccError
from tests.builders.hudi_programs import COLUMNS, PROGRAMS, STREAMS, TRIPS, Program, run
from tests.builders.spark_stand_in import names

ROWS = pa.table(dict(zip(COLUMNS, map(list, zip(*TRIPS, strict=True)), strict=True)))
UPDATES = ROWS.slice(0, 1)
WIDER = ROWS.append_column("tip", pa.array([1.0] * len(ROWS)))
SOFT = ROWS.slice(0, 2).set_column(4, "fare", pa.nulls(2, pa.float64()))

pytestmark = pytest.mark.filterwarnings("ignore:nbcc ignores")


def by_name(program: Program) -> str:
    return f"{program.page}: {program.name}"


def test_the_list_is_of_some_size() -> None:
    assert len({by_name(program) for program in PROGRAMS + STREAMS}) == len(PROGRAMS) + len(STREAMS) >= 25
    assert sum(not program.refused for program in PROGRAMS) >= 25


@pytest.mark.parametrize("program", PROGRAMS, ids=by_name)
def test_it_runs_or_is_refused_by_name(program: Program, tmp_path: Path) -> None:
    given = names(tmp_path / "t", ROWS, UPDATES, WIDER, SOFT)
    if not program.refused:
        assert run(program, given) == program.rows
        return
    with pytest.raises(NbccError, match=program.refused):
        run(program, given)


@pytest.mark.nightly
@pytest.mark.parametrize("program", PROGRAMS + STREAMS, ids=by_name)
def test_it_does_so_on_spark(program: Program, tmp_path: Path, spark: Any) -> None:
    from pyspark.errors import PySparkException
    from pyspark.sql.functions import col

    tables = {"inserts": ROWS, "updatesDf": UPDATES, "widerDf": WIDER, "softDeleteDf": SOFT}
    frames = {name: spark.createDataFrame(table) for name, table in tables.items()}
    given = {"spark": spark, "col": col, "basePath": str(tmp_path / "t"), **frames}
    if not program.refused:
        assert run(program, given) == program.rows
        return
    with pytest.raises(PySparkException, match=program.refused) as caught:
        run(program, given)
    assert "Traceback" not in str(caught.value)
