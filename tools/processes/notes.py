"""The notes of a process: one JSON object on each line, which is written atomically and survives a kill."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.processes.checkers import Read, Write

BEATS = "beats"
LATE = "late"
"""The kind of a note about a request that ended at its time limit. The operation has no known outcome."""


class Notes:
    """The notes of one process. A line is one unbuffered write to a file opened for appending."""

    def __init__(self, path: Path) -> None:
        self._file, self._beats = (
            os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) for name in (path, path.parent / BEATS)
        )

    def add(self, kind: str, **fields: Any) -> int:
        """Write a line, and return its time."""
        now = time.monotonic_ns()
        os.write(self._file, (json.dumps({"kind": kind, "at": now, **fields}) + "\n").encode())
        if kind == "wrote":
            os.write(self._beats, b".")
        return now


def beats(folder: Path) -> int:
    """Return the number of writes of all processes that have returned so far."""
    return (folder / BEATS).stat().st_size if (folder / BEATS).exists() else 0


def lines(path: Path) -> list[dict[str, Any]]:
    """Return all complete lines; a kill may have truncated the last line."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def interrupted(path: Path) -> str:
    """Return the operation that a process was in when it stopped; empty if it was in no operation."""
    notes = lines(path) if path.exists() else []
    return str(notes[-1]["what"]) if notes and notes[-1]["kind"] == "begins" else ""


def writes_of(*paths: Path) -> Iterator[Write]:
    """Return the writes of processes. A write that is sent again begins with its first attempt and returns with any of
    its attempts.
    """
    begun: dict[str, Write] = {}
    for line in sorted((line for path in paths for line in lines(path)), key=lambda line: int(line["at"])):
        if line["kind"] == "begins" and line["what"] == "write":
            begun.setdefault(line["batch"], Write(line["batch"], line["size"], line["ordering"], line["at"]))
        elif line["kind"] == "wrote" and begun[line["batch"]].acked is None:
            begun[line["batch"]] = begun[line["batch"]]._replace(acked=line["at"])
    yield from begun.values()


def unanswered(path: Path) -> dict[str, Any] | None:
    """Return the batch that a process was writing when it stopped; None if there is none."""
    notes = [line for line in lines(path) if line["kind"] != LATE] if path.exists() else []
    last = notes[-1] if notes else None
    return last if last and last["kind"] == "begins" and last["what"] == "write" else None


def reads_of(path: Path) -> Iterator[Read]:
    """Return the reads that returned."""
    for line in lines(path):
        if line["kind"] == "read":
            rows = tuple((key, batch, requested) for key, batch, requested in line["rows"])
            yield Read(path.stem, line["began"], line["at"], line["time"], rows)
