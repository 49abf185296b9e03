"""Computes the inventory of a table older than version 8, whose timeline (layout 1) records no completion times.

The state of each instant is derived from timeline file names. The file slices are derived from data file names, because
a log file name contains the base instant of its slice. Information that file names do not contain is reported as
unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from ..file_names import split_path
from ..files.group_files import BaseFile, Group, LogFile
from ..timeline.instant import ACTIONS, COMPLETES_AS
from ..timeline.timeline import FOLDER
from .amounts import natural
from .inventory import FileRow, InstantRow, Inventory, LeftOut, SliceRow
from .record import Audit

NOTICE: Final = (
    "timeline layout 1 records no completion times: states and slices follow from names alone, and it is unknown which "
    "rows of a log count (one log may hold blocks of several commits)"
)

_NAME: Final = re.compile(r"\.hoodie/(?:timeline/)?(\d+)(?:\.([a-z]+))?(?:\.(requested|inflight))?")
_RANK: Final = {"requested": 0, "inflight": 1, "completed": 2}


def legacy_files(inventory: Inventory, audit: Audit) -> Inventory:
    """Add to the inventory the instants and file slices that can be derived from file names."""
    bases = [file for file in audit.files.values() if isinstance(file, BaseFile)]
    logs = [file for file in audit.files.values() if isinstance(file, LogFile)]
    instants = legacy_instants(audit)
    done = {row.requested for row in instants if row.state == "completed"}
    oldest = min(done, default="")
    pending = {row.requested for row in instants if row.requested not in done}
    counted = [base for base in bases if base.requested in done or base.requested < oldest]
    return replace(
        inventory,
        instants=instants,
        slices=tuple(sorted(_slices(counted, logs), key=lambda piece: natural(piece.partition))),
        left_out=tuple(
            LeftOut(*split_path(base.path), base.size, base.requested, _reason(base.requested, pending))
            for base in bases
            if base not in counted
        ),
    )


def legacy_instants(audit: Audit) -> tuple[InstantRow, ...]:
    """Return the instants of a timeline of layout 1, derived from file names."""
    bases = [file for file in audit.files.values() if isinstance(file, BaseFile)]
    names = (*audit.listing, *(f"{FOLDER}/{name}" for name in audit.names))
    return tuple(_instants(names, bases))


def _reason(requested: str, pending: set[str]) -> str:
    state = "is not completed" if requested in pending else "is on no timeline"
    return f"its instant {requested} {state}"


def _instants(names: Iterable[str], bases: Iterable[BaseFile]) -> Iterator[InstantRow]:
    states: dict[tuple[str, str], tuple[str, str]] = {}
    for name in names:
        parts = _NAME.fullmatch(name)
        if parts is None or (parts[2] or "inflight") not in ACTIONS | {"inflight"}:
            continue
        requested, action, state = parts.groups()
        if action in (None, "inflight"):  # the inflight file of a commit has no action in its name
            action, state = "commit", "inflight"
        key = (requested, COMPLETES_AS.get(action, action))
        reached = (state or "completed", action)
        if key not in states or _RANK[reached[0]] > _RANK[states[key][0]]:
            states[key] = reached
    written: dict[str, list[int]] = {}
    for base in bases:
        written.setdefault(base.requested, []).append(base.size)
    for (requested, _), (state, action) in sorted(states.items()):
        sizes = written.get(requested, ())
        yield InstantRow(action, state, requested, None, len(sizes), sum(sizes))


def _slices(bases: Iterable[BaseFile], logs: Iterable[LogFile]) -> Iterator[SliceRow]:
    based = {(base.partition, base.file_id, base.requested): base for base in bases}
    logs_of: dict[tuple[str, str, str], list[LogFile]] = {}
    for log in logs:
        logs_of.setdefault((log.partition, log.file_id, log.named), []).append(log)
    keys = sorted({*based, *logs_of})
    newest: dict[Group, str] = {(partition, file_id): barrier for partition, file_id, barrier in keys}
    for key in keys:
        partition, file_id, barrier = key
        base = based.get(key)
        rows = sorted(logs_of.get(key, ()), key=lambda log: (log.version, log.token))
        yield SliceRow(
            partition,
            file_id,
            barrier,
            _row(base, base.requested) if base else None,
            (),
            tuple(_row(log, log.named) for log in rows),
            "read" if newest[partition, file_id] == barrier else "superseded",
        )


def _row(file: BaseFile | LogFile, requested: str) -> FileRow:
    return FileRow(split_path(file.path)[1], file.size, requested, None)
