"""A table of 100 million rows in 64 file groups: seconds of each operation, and the memory of its processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from .processes import peaks
from .side import Side

ROWS: Final = 100_000_000
BUCKETS: Final = 64
NEWER: Final = 2  # the ordering value of the rows that are written again


def run(folder: Path, rows: int) -> dict[str, Any]:
    """Measure each operation once, in one session."""
    side = Side("ours", folder / "ours.log")
    try:
        steps = [{"name": name, "seconds": round(seconds, 1), **_memory(side)}
                 for name, seconds in _steps(side, folder, rows)]  # fmt: skip
        assert side.do("count").answer == rows, "each row once"
    finally:
        side.close()
    return {"rows": rows, "buckets": BUCKETS, "steps": steps}


def _steps(side: Side, folder: Path, rows: int) -> Iterator[tuple[str, float]]:
    everything, hundredth = str(folder / "all"), str(folder / "hundredth")
    side.do("make", path=everything, count=rows, first=0, ordering=1)
    side.do("make", path=hundredth, count=rows // 100, first=rows // 2, ordering=NEWER)
    side.do("fresh", path=str(folder / "table"), buckets=BUCKETS)
    yield "bulk insert of all rows", side.do("bulk_insert", data=everything).seconds
    yield "upsert of one percent", side.do("upsert", data=hundredth).seconds
    yield "snapshot of base files and logs", side.do("snapshot").seconds
    yield "compaction of base files and logs", side.do("compact").seconds
    yield "snapshot of base files", side.do("snapshot").seconds


def _memory(side: Side) -> dict[str, int]:
    """MiB that the largest process of each kind has held so far."""
    held = peaks(side.pid)
    return {"worker": held.get("python", 0), "jvm": held.get("java", 0)}


def text(result: dict[str, Any]) -> str:
    """Return the table of the figures."""
    lines = [
        f"| {result['rows']:,} rows in {result['buckets']} file groups | seconds | worker so far, MiB | JVM, MiB |",
        "|---|---|---|---|",
        *(f"| {step['name']} | {step['seconds']:,.0f} | {step['worker']:,} | {step['jvm']:,} |"
          for step in result["steps"]),
    ]  # fmt: skip
    return "\n".join(lines)
