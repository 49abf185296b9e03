"""Tables of before version 8: timeline layout 1, where nothing says when an instant completed.

The names still tell a lot: states of instants, and slices, because a log carries the base instant that its writer
looked up. What they cannot tell is said instead of guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..file_names import split_path
from ..files.group_files import BaseFile, Group, LogFile
from ..storage import Entry, Storage
from ..timeline.instant import ACTIONS, COMPLETES_AS
from .inventory import FileRow, InstantRow, Inventory, LeftOut, SliceRow
from .table_snapshot import named_file

NOTICE: Final = (
    "timeline layout 1 records no completion times: states and slices are by name alone, and which rows of a log "
    "count cannot be told (one log may hold blocks of several commits)"
)

_NAME: Final = re.compile(r"\.hoodie/(?:timeline/)?(\d+)(?:\.([a-z]+))?(?:\.(requested|inflight))?")
_RANK: Final = {"requested": 0, "inflight": 1, "completed": 2}


def legacy_files(inventory: Inventory, storage: Storage) -> Inventory:
    """The inventory with what one listing tells; no object is read."""
    entries = storage.list("")
    files = [file for entry in entries if (file := named_file(entry))]
    instants = tuple(_instants(entries, files))
    done = {row.requested for row in instants if row.state == "completed"}
    oldest = min(done, default="")
    pending = {row.requested for row in instants if row.requested not in done}
    bases = [file for file in files if isinstance(file, BaseFile)]
    counted = [base for base in bases if base.requested in done or base.requested < oldest]
    logs = [file for file in files if isinstance(file, LogFile)]
    return inventory.with_files(
        None,
        instants=instants,
        slices=tuple(_slices(counted, logs)),
        plans=(),
        left_out=tuple(
            LeftOut(*split_path(base.path), base.size, base.requested, _because(base.requested, pending))
            for base in bases
            if base not in counted
        ),
    )


def _because(requested: str, pending: set[str]) -> str:
    known = "is not completed" if requested in pending else "is on no timeline"
    return f"its instant {requested} {known}"


def _instants(entries: Iterable[Entry], files: Iterable[BaseFile | LogFile]) -> Iterator[InstantRow]:
    states: dict[tuple[str, str], tuple[str, str]] = {}
    for entry in entries:
        found = _NAME.fullmatch(entry.path)
        if found is None or (found[2] or "inflight") not in ACTIONS | {"inflight"}:
            continue
        requested, action, state = found.groups()
        if action in (None, "inflight"):  # a commit's inflight file has no action in its name
            action, state = "commit", "inflight"
        key = (requested, COMPLETES_AS.get(action, action))
        seen = (state or "completed", action)
        if key not in states or _RANK[seen[0]] > _RANK[states[key][0]]:
            states[key] = seen
    wrote: dict[str, list[int]] = {}
    for file in files:
        if isinstance(file, BaseFile):
            wrote.setdefault(file.requested, []).append(file.size)
    for (requested, _), (state, action) in sorted(states.items()):
        sizes = wrote.get(requested, ())
        yield InstantRow(action, state, requested, None, len(sizes), sum(sizes))


def _slices(bases: Iterable[BaseFile], logs: Iterable[LogFile]) -> Iterator[SliceRow]:
    based = {(base.partition, base.file_id, base.requested): base for base in bases}
    onto: dict[tuple[str, str, str], list[LogFile]] = {}
    for log in logs:
        onto.setdefault((log.partition, log.file_id, log.named), []).append(log)
    keys = sorted({*based, *onto})
    newest: dict[Group, str] = {(partition, file_id): barrier for partition, file_id, barrier in keys}
    for key in keys:
        partition, file_id, barrier = key
        base = based.get(key)
        rows = sorted(onto.get(key, ()), key=lambda log: (log.version, log.token))
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
