"""The content of the files of the archived timeline: archive files and manifests (docs/hudi-format.md)."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

import pyarrow as pa

from ..checksums import write_sealed
from ..errors import NotATable
from ..json_text import parse_json
from ..parquet import decode_parquet
from .checked import Checked
from .container import understood
from .instant import Instant

_PLANNED: Final = {"commit": "compaction", "deltacommit": "logcompaction"}
_FILE: Final = re.compile(r"(\d+)_(\d+)_(\d+)\.parquet")

ARCHIVE_SCHEMA: Final = pa.schema(
    [
        pa.field("instantTime", pa.string()),
        pa.field("completionTime", pa.string()),
        pa.field("action", pa.string()),
        pa.field("metadata", pa.binary()),
        pa.field("plan", pa.binary()),
        pa.field("version", pa.int32(), nullable=False),
    ]
)

TIMES: Final = ("instantTime", "completionTime")

INDEX: Final = (*TIMES, "action", "plan")
"""The columns without the content of the instants, which is nearly all of an archive file."""


class ArchiveFile(NamedTuple):
    """An archive file as listed in a manifest; `size` is in bytes. Archive files never change, so two entries with
    equal name and size have equal content.
    """

    name: str
    size: int

    @property
    def level(self) -> int:
        """The level of the archive file in the LSM tree; 0 if its name contains no level."""
        match = _FILE.fullmatch(self.name)
        return int(match[3]) if match else 0

    def spans(self, requested: str) -> bool:
        """Return whether the archive file may contain an instant with the given requested time."""
        match = _FILE.fullmatch(self.name)
        # A name of an unknown form says nothing about the times in the file, so the file has to be read.
        return match is None or match[1] <= requested <= match[2]


def newest_of(path: str) -> str:
    """Return the greatest requested time in the archive file at `path`, taken from its name; '' for other files."""
    match = _FILE.fullmatch(path.rpartition("/")[2])
    return match[2] if match else ""


@dataclass(frozen=True, slots=True)
class Archived:
    """An archived instant. `metadata` contains the bytes of the instant's completed file. `plan` contains the bytes of
    the instant's requested file.
    """

    requested: str
    completed: str
    action: str
    metadata: bytes | None
    plan: bytes | None

    @property
    def instant(self) -> Instant:
        return Instant(self.requested, self.action, "completed", self.completed)

    @property
    def planned(self) -> Instant | None:
        """The requested state of a (log) compaction with a plan; None for other instants."""
        is_planned = self.plan and self.action in _PLANNED
        return Instant(self.requested, _PLANNED[self.action], "requested") if is_planned else None

    @property
    def states(self) -> tuple[Instant, ...]:
        """The timeline states of the archived instant: completed and, for a (log) compaction with a plan, requested."""
        return (self.instant, self.planned) if self.planned else (self.instant,)


def encode_table(rows: pa.Table) -> bytes:
    """Encode a table with the columns of `ARCHIVE_SCHEMA` as the content of an archive file."""
    return write_sealed(rows, compression="gzip")


def rows_table(instants: Sequence[Archived]) -> pa.Table:
    """Return archived instants as a table with the columns of `ARCHIVE_SCHEMA`."""
    columns = {
        "instantTime": [row.requested for row in instants],
        "completionTime": [row.completed for row in instants],
        "action": [row.action for row in instants],
        "metadata": [row.metadata for row in instants],
        "plan": [row.plan for row in instants],
        "version": [1] * len(instants),
    }
    return pa.table(columns, schema=ARCHIVE_SCHEMA)


def count_rows(data: bytes, name: str) -> int:
    """Return the number of instants in an archive file. `name` is the name of the archive file in error messages."""
    return len(decode_parquet(data, name, []))


def decode_table(data: bytes, name: str) -> pa.Table:
    """Decode the content of an archive file to a table with the columns of `ARCHIVE_SCHEMA`."""
    rows = decode_parquet(data, name)
    with understood(name):
        columns = {field.name: _column(rows, field) for field in ARCHIVE_SCHEMA}
        return pa.table(columns, schema=ARCHIVE_SCHEMA)


def _column(rows: pa.Table, field: pa.Field) -> Any:
    if field.name == "version":
        return pa.repeat(pa.scalar(1, field.type), len(rows))
    present = field.name in rows.column_names  # another engine may omit content and plan
    return rows[field.name].cast(field.type) if present else pa.nulls(len(rows), field.type)


def decode_rows(data: bytes, name: str, columns: Sequence[str] | None = None) -> tuple[Archived, ...]:
    """Decode the content of an archive file, with all columns or only those in `columns`. `name` is the name of the
    archive file in error messages.
    """
    checked = Checked(name)
    with understood(name):
        rows = cast(list[dict[str, Any]], decode_parquet(data, name, columns).to_pylist())
        return tuple(
            Archived(
                checked.instant(row["instantTime"]),
                checked.instant(row["completionTime"]),
                sys.intern(checked.action(row["action"])),  # a long history has few actions
                row.get("metadata"),
                row.get("plan"),
            )
            for row in rows
        )


def decode_manifest(data: bytes, name: str) -> list[ArchiveFile]:
    """Decode a manifest; raises `NotATable` if it is invalid. `name` is the name of the manifest in error messages."""
    checked = Checked(name)
    try:
        files = parse_json(data)["files"]
        return [ArchiveFile(checked.name(entry["fileName"]), checked.size(entry.get("fileLen"))) for entry in files]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as broken:
        raise NotATable(
            f"read the archived timeline's {name}", f"it is not the JSON of a manifest ({broken})", "restore the file"
        ) from None
