"""The state file of `nbcc validate --state`: what the last run reported, and a digest of the listing that it saw.

Files of a table never change in place, except ``hoodie.properties``. Therefore an equal listing of names and sizes,
with equal properties, means an equal report, and the second run costs two listings.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.storage import NotFound, Storage

from .diagnostics import Diagnostic
from .report import Report
from .text import summary


@dataclass(frozen=True, slots=True)
class Known:
    """What a state file says. `unchanged` is True if no file of the table has been added, removed or resized since."""

    unchanged: bool
    summary: str
    code: int
    time: str
    diagnostics: frozenset[tuple[str, str]]

    def new_in(self, report: Report) -> list[Diagnostic]:
        """Return the diagnostics that the last run did not report."""
        return [d for d in report.diagnostics if (d.rule, d.file) not in self.diagnostics]


def listing_digest(storage: Storage) -> str:
    """Return a digest of the names and sizes of a table's files, and of its properties."""
    digest = hashlib.sha256()
    for path, size in sorted((entry.path, entry.size) for entry in storage.list("")):
        if path != ".hoodie/lock":
            digest.update(f"{path}\0{size}\0".encode())
    try:
        digest.update(storage.get(PROPERTIES))
    except NotFound:
        digest.update(b"none")
    return digest.hexdigest()


def changes(state: Path, table: str, digest: str) -> Known | None:
    """Return what the state file says about a table; None if it is of another table, or not a state file."""
    try:
        found = json.loads(state.read_text("utf-8"))
        if found["format"] != 1 or found["table"] != table:
            return None
        diagnostics = frozenset((str(rule), str(file)) for rule, file in found["diagnostics"])
        unchanged = found["listing"] == digest and not found["pending"]  # a pending instant is a fault once it is old
        return Known(unchanged, str(found["summary"]), int(found["code"]), str(found["time"]), diagnostics)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def remember(state: Path, table: str, digest: str, report: Report, code: int) -> None:
    """Write the state file."""
    document = {
        "format": 1,
        "table": table,
        "listing": digest,
        "summary": summary(report),
        "code": int(code),
        "pending": bool(report.pending),
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "diagnostics": [[d.rule, d.file] for d in report.diagnostics],
    }
    state.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
