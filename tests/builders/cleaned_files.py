"""The data files of a table."""

from __future__ import annotations

from nbcc import Table
from tests.builders.tables import files


def data_files(table: Table) -> set[str]:
    return {path for path in files(table) if ".log." in path or path.endswith(".parquet")}
