"""Tables of Hudi on which an operation is ended at one of its storage calls."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from nbcc.simulator.lockstep.peers.process import PeerProcess, peer

PARTITION = "p"
LONG_AGO = 1_000_000_000
TABLE = {"merge_mode": "EVENT_TIME_ORDERING", "buckets": 1, "partitions": [PARTITION]}
OLD = {"a1": "x0", "a2": "y0"}
NEW = {"a1": "x1", "a2": "y0", "a3": "z1"}
LATER = {"a4": "w2"}
"""What a later write adds."""


class Operation(NamedTuple):
    """An operation of Hudi's client. `before` are the operations that prepare its table. A reader sees the rows `start`
    before the operation, and `rows` after it.
    """

    method: str
    given: Mapping[str, Any]
    before: tuple[str, ...]
    start: Mapping[str, str]
    rows: Mapping[str, str]


def row(key: str, ordering: int, value: str) -> list[Any]:
    return [key, PARTITION, ordering, value, False]


UPSERT = {"actor": "w1", "rows": [row("a1", 1, "x1"), row("a3", 1, "z1")]}
ARCHIVABLE = ("upsert", "compaction", "upsert", "compaction", "upsert", "upsert", "clean")
OPERATIONS = {
    "upsert": Operation("upsert", UPSERT, (), OLD, NEW),
    "compaction": Operation("compaction", {"actor": "c1"}, ("upsert",), NEW, NEW),
    "rollback": Operation("rollback", {"actor": "b1"}, ("failed",), OLD, OLD),
    "clean": Operation("clean", {}, ("upsert", "compaction", "upsert", "compaction"), NEW, NEW),
    "archive": Operation("archive", {}, (*ARCHIVABLE, "archive", *ARCHIVABLE), NEW, NEW),
}
RETAINS_LITTLE = {"hoodie.clean.commits.retained": "1", "hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3"}
"""Options under which the fourth commit lets a clean and the archiver find something."""


def process(folder: Path) -> PeerProcess:
    """Start a process of Hudi's that controls storage calls. Other processes of Hudi's control none."""
    os.environ["NBCC_HUDI_CALLS"] = "1"
    try:
        found: PeerProcess = peer.__wrapped__("hudi")
        found.ask("open", str(folder))  # the process starts with the first request
    finally:
        del os.environ["NBCC_HUDI_CALLS"]
    return found


class Tables:
    """Copies of prepared tables in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hudi = process(folder)
        self.judged: dict[tuple[Any, ...], dict[str, str]] = {}
        self._made = 0

    def prepared(self, name: str) -> Path:
        """Return a table to which the operation can be applied."""
        operation, path = OPERATIONS[name], self.folder / f"before-{name}"
        if path.exists():
            return path
        self.hudi.ask("create", str(path), **TABLE, more=RETAINS_LITTLE)
        self.hudi.ask("upsert", str(path), actor="w0", rows=[row(key, 0, value) for key, value in OLD.items()])
        for number, step in enumerate(operation.before):
            if step == "failed":
                self.hudi.ask("start", str(path), actor="w9")
                self.hudi.ask("data", str(path), actor="w9", rows=UPSERT["rows"])
                self.end_heartbeats(path, "w9")
            else:
                given = {"actor": f"o{number}"} if step == "compaction" else OPERATIONS[step].given
                self.hudi.ask(OPERATIONS[step].method, str(path), **given)
        self.hudi.ask("forget", str(path))
        return path

    @contextmanager
    def copy(self, name: str, more: Mapping[str, str] | None = None) -> Iterator[Path]:
        """Open a copy of a prepared table, with more options of Hudi, and remove it afterwards."""
        before = self.prepared(name)
        self._made += 1
        path = self.folder / f"{name}-{self._made}"
        shutil.copytree(before, path)
        self.hudi.ask("open", str(path), **TABLE, more={**RETAINS_LITTLE, **(more or {})})
        try:
            yield path
        finally:
            self.hudi.ask("forget", str(path))
            shutil.rmtree(path)

    def run(self, path: Path, name: str, number: int = -1, fault: str = "none") -> dict[str, Any]:
        """Apply an operation to a table. At its call `number` the call fails, or ends the operation."""
        operation = OPERATIONS[name]
        actor = operation.given.get("actor", "s1")
        found: dict[str, Any] = self.hudi.ask(
            "controlled",
            str(path),
            actor=actor,
            method=operation.method,
            given=operation.given,
            number=number,
            fault=fault,
        )
        return found

    def end_heartbeats(self, path: Path, actor: str) -> None:
        """Let an actor be dead: its client is closed, and every heartbeat has expired."""
        self.hudi.ask("crash", str(path), actor=actor)
        for beat in (path / ".hoodie" / ".heartbeat").glob("*"):
            os.utime(beat, (LONG_AGO, LONG_AGO))

    def snapshot(self, path: Path) -> dict[str, str]:
        return {key: value for key, _, value, _ in self.hudi.ask("read", str(path), kind="snapshot")}


def kinds(calls: list[str]) -> dict[str, int]:
    return dict(sorted(Counter(call.split()[0] for call in calls).items()))
