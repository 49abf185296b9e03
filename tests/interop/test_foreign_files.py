"""What Apache Hudi does with a Parquet file in its folders that is not its own, and what `validate` says of it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nbcc.engine.storage import open_storage
from nbcc.simulator.audit import validate
from nbcc.simulator.lockstep.peers.process import PeerRefused, peer
from tests.builders.hudi import write

from .readers import NEWEST, by_bundle


def outcome(folder: Path, right: set[tuple[str, int, str]]) -> str:
    try:
        return "right" if by_bundle(NEWEST)(folder) == right else "other rows"
    except PeerRefused as refused:
        return "fails" if "NullPointerException: element cannot be mapped to a null key" in str(refused) else "refuses"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("part-00000-c000.snappy.parquet", "fails"),
        ("sales_2024.parquet", "other rows"),
        ("my_sales.parquet", "right"),
    ],
)
def test_hudi_reads_what_validate_reports(name: str, expected: str, tmp_path: Path) -> None:
    process, folder = peer("hudi", None), str(tmp_path)
    process.ask("create", folder, merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=["p0"])
    write(process, tmp_path, ["a", 1, "first"])
    process.ask("forget", folder)
    right = by_bundle(NEWEST)(tmp_path)
    partition = next(tmp_path.rglob(".hoodie_partition_metadata")).parent
    pq.write_table(pa.table({"id": ["x"], "ts": [1], "value": ["y"]}), partition / name)
    assert outcome(tmp_path, right) == expected
    assert validate(open_storage(tmp_path)).verdict == ("OK" if expected == "right" else "BROKEN")
