"""Readers of a table in a folder: Apache Hudi's bundle in several versions, and hudi-rs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from hudi import HudiReadOptions, HudiTable

from nbcc.simulator.lockstep.peers.process import PeerProcess, peer

Rows = set[tuple[str, int, str]]
Reader = Callable[[Path], Rows]

NEWEST = "1.2.0"
BUNDLES = ("1.0.2", "1.1.1", NEWEST)


def by_bundle(version: str) -> Reader:
    process: PeerProcess = peer("hudi", None if version == NEWEST else version)

    def read(folder: Path) -> Rows:
        process.ask("open", str(folder))
        try:
            return {
                (key, ordering, value) for key, ordering, value, _ in process.ask("read", str(folder), kind="snapshot")
            }
        finally:
            process.ask("forget", str(folder))

    return read


def by_hudi_rs(folder: Path, options: HudiReadOptions | None = None) -> Rows:
    """The rows read by hudi-rs, by default the snapshot."""
    batches = HudiTable(str(folder)).read(options or HudiReadOptions())
    rows = pa.Table.from_batches(batches).to_pylist() if batches else []
    return {(row["id"], row["ts"], row["value"]) for row in rows}
