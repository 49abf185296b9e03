"""The state file of `nbcc validate --state`: what the last run reported, and the listing that it saw.

Files of a table never change in place, except ``hoodie.properties``. Therefore an equal listing of names and sizes,
with equal properties, means an equal report. If files were added to a table without faults, the part that they concern
is judged (`changed`).
"""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.storage import NotFound, Storage

from .diagnostics import Diagnostic
from .report import Report
from .text import summary

LOCK: Final = ".hoodie/lock"


@dataclass(frozen=True)
class TableListing:
    """The sizes of a table's files by path, and the content of its properties."""

    sizes: Mapping[str, int]
    properties: str

    @cached_property
    def lines(self) -> Sequence[str]:
        """A line for each file. The listing of the last run is compared as lines, and not parsed."""
        return [f"{size} {path}" for path, size in self.sizes.items()]

    @classmethod
    def of(cls, storage: Storage) -> TableListing:
        sizes, _ = storage.sizes_but(LOCK)
        sizes.pop(LOCK, None)
        try:
            return cls(sizes, storage.get(PROPERTIES).decode("latin-1"))
        except NotFound:
            return cls(sizes, "")

    def packed(self) -> str:
        return b64encode(zlib.compress("\n".join(self.lines).encode(), 1)).decode()


class ListingChange(NamedTuple):
    """The paths that were added to a table since its last run, and those that were removed; both if resized."""

    added: Set[str]
    removed: Set[str]

    @classmethod
    def between(cls, before: frozenset[str], now: Sequence[str]) -> ListingChange:
        """Return what has changed between two listings, both given as lines."""
        added = [line for line in now if line not in before]
        removed = before.difference(now) if len(now) - len(added) < len(before) else ()
        return cls(*({line.partition(" ")[2] for line in lines} for lines in (added, removed)))


@dataclass(frozen=True)
class Known:
    """What a state file says about the last run."""

    listed: frozenset[str]
    properties: str
    fine: bool
    pending: bool
    summary: str
    code: int
    time: str
    diagnostics: frozenset[tuple[str, str]]

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
            listed=frozenset(zlib.decompress(b64decode(found["listing"])).decode().split("\n")),
            properties=str(found["properties"]),
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
