"""Reading the archived timeline: an LSM tree of Parquet files named by the requested times they span (§5)."""

from __future__ import annotations

import io
import json
import re
from dataclasses import dataclass
from typing import Any, Final, cast

import pyarrow.parquet as pq

from ..errors import NotATable
from ..storage import NotFound, Storage
from .timeline import FOLDER

HISTORY: Final = f"{FOLDER}/history"

_MANIFEST: Final = re.compile(r"manifest_(\d+)")
_FILE: Final = re.compile(r"(\d+)_(\d+)_(\d+)\.parquet")


@dataclass(frozen=True, slots=True)
class Archived:
    """A completed instant that left the active timeline. `metadata` and `plan` are its files' bytes."""

    requested: str
    completed: str
    action: str
    metadata: bytes | None
    plan: bytes | None


class Archive:
    """The archived timeline as of the first question asked.

    Make it *after* the active timeline was listed: the archiver writes its manifest first and deletes afterwards, so
    whatever the listing missed is here. An instant in neither never completed.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._files: list[str] | None = None
        self._rows: dict[str, dict[str, Archived]] = {}

    def find(self, requested: str) -> Archived | None:
        """The archived instant requested then that wrote data, None if there is none. Reads only files that span it."""
        for name in self._manifest():
            found = _FILE.fullmatch(name)
            if found is None or found[1] <= requested <= found[2]:
                archived = self._load(name).get(requested)
                if archived is not None:
                    return archived
        return None

    def completion(self, requested: str) -> str | None:
        """When it completed, None if it is not archived."""
        archived = self.find(requested)
        return archived.completed if archived else None

    def completions(self) -> list[str]:
        """The completion times of all archived instants that wrote data, in order. Reads every file."""
        return sorted(instant.completed for name in self._manifest() for instant in self._load(name).values())

    def _manifest(self) -> list[str]:
        if self._files is None:
            name = self._current()
            self._files = [] if name is None else _file_names(self._storage.get(f"{HISTORY}/{name}"), name)
        return self._files

    def _current(self) -> str | None:
        """The manifest's name; by listing where the version file is missing (it is for a moment, at each update)."""
        try:
            return f"manifest_{int(self._storage.get(f'{HISTORY}/_version_'))}"
        except NotFound:
            names = [entry.path.rpartition("/")[2] for entry in self._storage.list(HISTORY)]
            numbers = [int(found[1]) for name in names if (found := _MANIFEST.fullmatch(name))]
            return f"manifest_{max(numbers)}" if numbers else None

    def _load(self, name: str) -> dict[str, Archived]:
        if name not in self._rows:
            table = pq.read_table(io.BytesIO(self._storage.get(f"{HISTORY}/{name}")))
            rows = cast(list[dict[str, Any]], table.to_pylist())
            self._rows[name] = {
                row["instantTime"]: Archived(
                    row["instantTime"], row["completionTime"], row["action"], row.get("metadata"), row.get("plan")
                )
                for row in rows
                if row["action"] in ("commit", "deltacommit", "replacecommit")
            }
        return self._rows[name]


def _file_names(data: bytes, name: str) -> list[str]:
    try:
        return [entry["fileName"] for entry in json.loads(data)["files"]]
    except (ValueError, KeyError, TypeError) as broken:
        raise NotATable(
            f"read the archived timeline's {name}", f"it is not the JSON of a manifest ({broken})", "restore the file"
        ) from None
