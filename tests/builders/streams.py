"""Streams that a test interrupts."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def forget_last_commit(checkpoint: Path) -> None:
    """As if the driver had died after the write and before Spark's commit log: the batch is sent again."""
    commit = max((checkpoint / "commits").glob("[0-9]*"), key=lambda each: int(each.name))
    for file in (commit, commit.with_name(f".{commit.name}.crc")):
        file.unlink()


def python_workers() -> list[int]:
    """The Python processes that this session's JVM has started, without those that have children."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in listed.splitlines()]
    parents = {int(row[0]): int(row[1]) for row in rows}

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    busy = set(parents.values())
    return [
        pid for pid, row in zip(parents, rows, strict=True) if "pyspark" in row[-1] and pid not in busy and is_ours(pid)
        and "java" not in row[-1]
    ]  # fmt: skip
