"""Judges a table older than version 8, whose timeline (layout 1) records no completion times.

A log belongs to the slice of the base instant in its name, and several commits may append to one log. What the names
and the commits show is judged: files that a snapshot needs, their sizes, files of no instant, abandoned writes. The
order of completions is unknown, so the promises about it are not part of the report.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from nbcc.engine.audit import Audit
from nbcc.engine.audit.inventory import InstantRow
from nbcc.engine.audit.legacy import legacy_instants
from nbcc.engine.clock import to_millis
from nbcc.engine.errors import NbccError
from nbcc.engine.files.group_files import BaseFile, Group
from nbcc.engine.storage import NotFound, Storage

from .diagnostics import Diagnostic
from .diagnostics.diagnostic import RESTORE
from .diagnostics.timeline import STALE_MS

JUDGED: Final = ("SNAP", "RO", "ATOM", "ARCH")
_WRITES: Final = ("commit", "deltacommit", "replacecommit")


@dataclass
class _Commits:
    """What the completed commits list: the size of each file after the last commit that lists it."""

    sizes: dict[str, int] = field(default_factory=dict)
    replaced: set[Group] = field(default_factory=set)
    unreadable: list[Diagnostic] = field(default_factory=list)


def legacy_diagnostics(storage: Storage, audit: Audit, now: str) -> tuple[Diagnostic, ...]:
    """Return the faults of a table with timeline layout 1."""
    instants = legacy_instants(audit)
    commits = _commits(storage, audit, instants)
    found = [*commits.unreadable, *_files(audit, commits, instants), *_abandoned(audit, instants, now)]
    return tuple(sorted(found, key=lambda diagnostic: diagnostic.gravity != "BROKEN"))


def _commits(storage: Storage, audit: Audit, instants: tuple[InstantRow, ...]) -> _Commits:
    commits = _Commits()
    for row in instants:
        path = f".hoodie/{row.requested}.{row.action}"
        if row.state != "completed" or row.action not in _WRITES or path not in audit.listing:
            continue
        try:
            _add(commits, json.loads(storage.get(path)))
        except (ValueError, KeyError, TypeError, AttributeError, NotFound, NbccError) as error:
            because = f"it holds no commit ({type(error).__name__})"
            commits.unreadable.append(
                Diagnostic("unreadable", "BROKEN", ("SNAP", "RO", "ATOM"), path, because, RESTORE)
            )
    return commits


def _add(commits: _Commits, record: Mapping[str, Any]) -> None:
    for stats in record["partitionToWriteStats"].values():
        for stat in stats:
            path, size = str(stat["path"]), int(stat["fileSizeInBytes"])
            commits.sizes[path] = max(size, commits.sizes.get(path, 0))
    for partition, ids in (record.get("partitionToReplaceFileIds") or {}).items():
        commits.replaced |= {(str(partition), str(file_id)) for file_id in ids}


def _files(audit: Audit, commits: _Commits, instants: tuple[InstantRow, ...]) -> Iterator[Diagnostic]:
    known = {row.requested for row in instants}
    done = {row.requested for row in instants if row.state == "completed"}
    oldest = min(done, default="")
    newest: dict[Group, str] = {}
    for path in commits.sizes:
        if (group := _group(path)) and (base := _base_instant(path)):
            newest[group] = max(base, newest.get(group, ""))
    for path, size in commits.sizes.items():
        group = _group(path)
        if group is None or group in commits.replaced or _base_instant(path) != newest.get(group):
            continue  # an older slice, which a clean may have deleted
        promises = ("SNAP", "RO") if path.endswith(".parquet") else ("SNAP",)
        present = audit.listing.get(path)
        if present is None:
            yield Diagnostic("listed-file-missing", "BROKEN", promises, path, "it is missing; every snapshot reads it",
                             RESTORE)  # fmt: skip
        elif present < size or (present > size and path.endswith(".parquet")):
            because = f"it has {present} bytes, its last commit lists {size}"
            yield Diagnostic("listed-file-size", "BROKEN", promises, path, because, RESTORE)
        elif present > size:
            because = f"{present - size} bytes follow what its last commit lists: an append that did not complete"
            remedy = "roll back the pending write with the engine that wrote it"
            yield Diagnostic("listed-file-size", "AT RISK", promises, path, because, remedy)
    for file in audit.files.values():
        if isinstance(file, BaseFile) and file.requested not in known and file.requested >= oldest:
            because = (
                f"its instant {file.requested} is on no timeline: its write never completed, or its timeline files"
                " were removed; once older instants are archived, Hudi's readers show its rows"
            )
            remedy = "if they were removed, restore its timeline files from a copy; else move it out of the folder"
            yield Diagnostic("orphan-file", "AT RISK", ("ARCH",), file.path, because, remedy)
        elif isinstance(file, BaseFile) and file.requested in done and file.path not in commits.sizes and not (
            commits.unreadable
        ):  # fmt: skip
            because = f"its instant {file.requested} is completed and does not list it; Hudi's readers show its rows"
            yield Diagnostic("unlisted-file", "BROKEN", ("ATOM",), file.path, because, "move it out of the folder")


def _abandoned(audit: Audit, instants: tuple[InstantRow, ...], now: str) -> Iterator[Diagnostic]:
    for row in instants:
        pending = row.state != "completed" and row.action in ("commit", "deltacommit")
        if not pending or f".hoodie/.heartbeat/{row.requested}" in audit.listing:
            continue
        try:
            waited = to_millis(now) - to_millis(row.requested)
        except ValueError:
            continue
        if waited > STALE_MS:
            because = "it is pending without a heartbeat: its writer failed, or its completed file was removed"
            remedy = f"roll back the instant {row.requested} with the engine that wrote it"
            path = f".hoodie/{row.requested}.{row.action}.{row.state}"
            yield Diagnostic("writer-gone", "AT RISK", ("ARCH",), path, because, remedy)


def _group(path: str) -> Group | None:
    partition, _, name = path.rpartition("/")
    return (partition, name.removeprefix(".").partition("_")[0]) if "_" in name else None


def _base_instant(path: str) -> str:
    """Return the base instant in the name of a data file."""
    name = path.rpartition("/")[2]
    last = name.partition(".log.")[0] if ".log." in name else name.partition(".parquet")[0]
    return last.rpartition("_")[2]
