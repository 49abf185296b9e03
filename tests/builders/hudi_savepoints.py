"""Writes of Apache Hudi."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbcc.simulator.lockstep.peers.process import PeerProcess


def write(process: PeerProcess, folder: Path, *rows: list[Any]) -> str:
    instant: str = process.ask("start", str(folder), actor="w1")
    given = [[key, "p0", ordering, value, False] for key, ordering, value in rows]
    process.ask("data", str(folder), actor="w1", rows=given)
    process.ask("commit", str(folder), actor="w1")
    return instant
