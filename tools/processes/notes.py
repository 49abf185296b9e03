"""What a process writes down of itself: one JSON object a line, whole or not at all, that a kill cannot take back."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbcc.simulator.checkers import Read, Write

BEATS = "beats"


class Notes:
    """The notebook of one process. A line is one write to a file opened for appending: the kernel has it at once."""

    def __init__(self, path: Path) -> None:
        self._file, self._beats = (
            os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666) for name in (path, path.parent / BEATS)
        )

    def add(self, kind: str, **told: Any) -> int:
        """Write a line, and return the time that it carries."""
        now = time.monotonic_ns()
        os.write(self._file, (json.dumps({"kind": kind, "at": now, **told}) + "\n").encode())
        if kind == "wrote":
            os.write(self._beats, b".")
        return now


def beats(folder: Path) -> int:
    """How many writes of all processes together have returned so far."""
    return (folder / BEATS).stat().st_size if (folder / BEATS).exists() else 0


def lines(path: Path) -> list[dict[str, Any]]:
    """All whole lines; the last one may have been cut."""
    text = path.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def in_midst(path: Path) -> str:
    """What its process was doing when it stopped, empty if nothing."""
    told = lines(path) if path.exists() else []
    return str(told[-1]["what"]) if told and told[-1]["kind"] == "begins" else ""


def writes_of(*paths: Path) -> Iterator[Write]:
    """The writes of processes. One that was sent again began with its first attempt, and returned with any."""
    begun: dict[str, Write] = {}
    for line in sorted((line for path in paths for line in lines(path)), key=lambda line: int(line["at"])):
        if line["kind"] == "begins" and line["what"] == "write":
            begun.setdefault(line["batch"], Write(line["batch"], line["size"], line["ordering"], line["at"]))
        elif line["kind"] == "wrote" and begun[line["batch"]].acked is None:
            begun[line["batch"]] = begun[line["batch"]]._replace(acked=line["at"])
    yield from begun.values()


def unanswered(path: Path) -> dict[str, Any] | None:
    """The batch that a process was writing when it stopped, None if none."""
    told = lines(path) if path.exists() else []
    last = told[-1] if told else None
    return last if last and last["kind"] == "begins" and last["what"] == "write" else None


def reads_of(path: Path) -> Iterator[Read]:
    """The reads that ended."""
    for line in lines(path):
        if line["kind"] == "read":
            rows = tuple((key, batch, requested) for key, batch, requested in line["rows"])
            yield Read(path.stem, line["began"], line["at"], line["time"], rows)
