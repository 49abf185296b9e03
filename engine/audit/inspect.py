"""The inventory of a table: from its properties, its timeline and the names of its files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from ..config import VERSIONS, merge_mode
from ..definition.load import load_properties
from ..errors import BadInput, NbccError, Unsupported
from ..file_names import split_path
from ..files.group_files import BaseFile, LogFile
from ..files.slices import FileSlice, to_read
from ..foreign.services import foreign_services
from ..reads.times import Time
from ..rules import HUDI, NBCC, Rules
from ..storage import Storage
from ..timeline import Instant
from .inventory import FileRow, InstantRow, Inventory, LeftOut, PlanRow, Role, SliceRow
from .legacy import NOTICE, legacy_files
from .table_snapshot import TableSnapshot, look, named_file

ASKED: Final = "inspect the table as of"


def inspect(storage: Storage, as_of: Time | None = None) -> Inventory:
    """The inventory of the Hudi table in `storage`, as of a completion time or of all that is settled.

    Reads nothing but objects below ``.hoodie``; of data files it sees the listing. Raises `NotATable`, `BadInput` for a
    time that is none or lies outside the table's history, `Unsupported` for a version that is not known.
    """
    values = load_properties(storage)
    version = _number(values, "hoodie.table.version", 0)
    layout = _number(values, "hoodie.timeline.layout.version", 1 if version < VERSIONS[0] else 2)
    if version > VERSIONS[-1]:
        raise Unsupported(
            f"inspect the table {values['hoodie.table.name']}",
            f"it has version {version}, and this release knows versions up to {VERSIONS[-1]}",
            "use a release of nbcc that knows it",
        )
    old = version < VERSIONS[0] or layout < 2
    rules = NBCC if "nbcc.format" in values else HUDI
    empty = Inventory(
        name=values["hoodie.table.name"],
        url=storage.url,
        version=version,
        layout=layout,
        type=values.get("hoodie.table.type", "COPY_ON_WRITE"),
        merge_mode=_merge_mode(values),
        rules="names" if old else "nbcc" if rules == NBCC else "hudi",
        notices=(NOTICE,) if old else tuple(_notices(values, rules)),
    )
    if not old:
        seen = look(storage, rules, as_of, ASKED)
        others = foreign_services(seen.shown, seen.commits, seen.slices) if rules == NBCC else ()
        return _filled(replace(empty, notices=(*empty.notices, *others)), seen, rules)
    if as_of is not None:
        exists = f"it has version {version}, and tables before version 8 record no completion times"
        raise BadInput(f"{ASKED} {as_of}", exists, "leave the time out")
    return legacy_files(empty, storage)


def _filled(inventory: Inventory, seen: TableSnapshot, rules: Rules) -> Inventory:
    return inventory.with_files(
        seen.time,
        instants=tuple(_instants(seen)),
        slices=tuple(_slices(seen.slices, rules)),
        plans=tuple(_plan(instant, seen) for instant in seen.shown.pending_compactions),
        left_out=tuple(
            LeftOut(*split_path(file.path), file.size, file.requested, because) for file, because in seen.uncounted()
        ),
    )


def _instants(seen: TableSnapshot) -> Iterator[InstantRow]:
    sizes: dict[str, list[int]] = {}
    for entry in seen.entries:
        if file := named_file(entry):
            sizes.setdefault(file.requested, []).append(file.size)
    for instant in seen.shown.instants:
        wrote = sizes.get(instant.requested, ()) if instant.writes else ()
        yield InstantRow(
            instant.action, instant.state, instant.requested, instant.completed, len(wrote), sum(wrote)
        )  # fmt: skip


def _slices(slices: Iterable[FileSlice], rules: Rules) -> Iterator[SliceRow]:
    pieces = tuple(slices)
    read = {(*piece.group, piece.barrier) for piece in to_read(pieces, rules)}
    newest = {piece.group: piece.barrier for piece in pieces}
    for piece in pieces:
        role: Role = "superseded"
        if (*piece.group, piece.barrier) in read:
            role = "read"
        elif newest[piece.group] == piece.barrier:
            role = "planned"
        yield SliceRow(
            piece.partition,
            piece.file_id,
            piece.barrier,
            _row(piece.base) if piece.base else None,
            tuple(map(_row, piece.tombstones)),
            tuple(map(_row, piece.logs)),
            role,
        )


def _row(file: BaseFile | LogFile) -> FileRow:
    return FileRow(split_path(file.path)[1], file.size, file.requested, file.completed)


def _plan(instant: Instant, seen: TableSnapshot) -> PlanRow:
    operations = seen.commits.plan(instant.requested).operations
    return PlanRow(instant.requested, instant.state, len(operations), sum(len(each.logs) for each in operations))


def _merge_mode(values: Mapping[str, str]) -> str:
    """As text: to inspect a table takes no merge that we know."""
    try:
        return merge_mode(values)
    except NbccError:
        return values.get("hoodie.record.merge.mode", "CUSTOM")


def _notices(values: Mapping[str, str], rules: Rules) -> Iterator[str]:
    if partitions := values.get("hoodie.table.metadata.partitions"):
        yield f"a metadata table is active ({partitions}): files are listed instead"
    if rules == HUDI:
        yield "not made by nbcc: slices and fold are Hudi's; what completed by a time is visible at that time"


def _number(values: Mapping[str, str], key: str, default: int) -> int:
    text = values.get(key, "")
    return int(text) if text.isdecimal() else default
