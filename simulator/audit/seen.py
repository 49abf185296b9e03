"""The state file of `nbcc validate --state`: what the last run reported, and the listing that it saw.

Files of a table never change in place, except ``hoodie.properties``. Therefore an equal listing of names and sizes,
with equal properties, means an equal report. If files were added to a table without faults, the part that they concern
is judged (`changed`).
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.storage import NotFound, Storage

from .diagnostics import Diagnostic
from .report import Report
from .text import summary


@dataclass(frozen=True)
class TableListing:
    """The sizes of a table's files by path, and the content of its properties."""

    sizes: Mapping[str, int]
    properties: str

    @classmethod
    def of(cls, storage: Storage) -> TableListing:
        sizes = {entry.path: entry.size for entry in storage.list("") if entry.path != ".hoodie/lock"}
        try:
            return cls(sizes, storage.get(PROPERTIES).decode("latin-1"))
        except NotFound:
            return cls(sizes, "")

    def packed(self) -> str:
        lines = "\n".join(f"{size} {path}" for path, size in self.sizes.items())
        return b64encode(zlib.compress(lines.encode(), 1)).decode()

    @classmethod
    def unpacked(cls, packed: str, properties: str) -> TableListing:
        lines = zlib.decompress(b64decode(packed)).decode().split("\n")
        pairs = (line.partition(" ") for line in lines if line)
        return cls({path: int(size) for size, _, path in pairs}, properties)


@dataclass(frozen=True)
class Known:
    """What a state file says about the last run."""

    listed: TableListing
    fine: bool
    pending: bool
    summary: str
    code: int
    time: str
    diagnostics: frozenset[tuple[str, str]]

    def unchanged(self, now: TableListing) -> bool:
        """Return True if no file was added, removed or resized since. A pending instant is a fault once it is old."""
        return not self.pending and self.listed == now

    def new_in(self, report: Report) -> list[Diagnostic]:
        """Return the diagnostics that the last run did not report."""
        return [d for d in report.diagnostics if (d.rule, d.file) not in self.diagnostics]


def known_from(state: Path, table: str) -> Known | None:
    """Return what the state file says about a table; None if it is of another table, or not a state file."""
    try:
        found = json.loads(state.read_text("utf-8"))
        if found["format"] != 2 or found["table"] != table:
            return None
        return Known(
            listed=TableListing.unpacked(found["listing"], found["properties"]),
            fine=bool(found["fine"]),
            pending=bool(found["pending"]),
            summary=str(found["summary"]),
            code=int(found["code"]),
            time=str(found["time"]),
            diagnostics=frozenset((str(rule), str(file)) for rule, file in found["diagnostics"]),
        )
    except (OSError, ValueError, KeyError, TypeError, zlib.error):
        return None


def remember(state: Path, table: str, listed: TableListing, report: Report, code: int) -> None:
    """Write the state file."""
    document = {
        "format": 2,
        "table": table,
        "listing": listed.packed(),
        "properties": listed.properties,
        "fine": report.fine and report.history is not None,
        "summary": summary(report),
        "code": int(code),
        "pending": bool(report.pending),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "diagnostics": [[d.rule, d.file] for d in report.diagnostics],
    }
    state.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
