"""Computes the inventory of a table from its properties, timeline and file names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from ..config import VERSIONS, merge_mode
from ..definition.load import PROPERTIES
from ..errors import BadInput, NbccError, NotATable, Unsupported
from ..file_names import split_path
from ..files.group_files import BaseFile, LogFile
from ..files.slices import to_read
from ..reads.times import Time
from ..storage import Storage
from ..timeline import Instant
from .amounts import natural
from .foreign_services import foreign_services
from .gather import gather
from .inventory import FileRow, InstantRow, Inventory, LeftOut, PlanRow, Role, SliceRow
from .legacy import NOTICE, legacy_files
from .record import Audit, Progress, no_progress
from .table_snapshot import TableSnapshot, table_snapshot

ASKED: Final = "inspect the table as of"


def inspect(storage: Storage, as_of: Time | None = None, progress: Progress = no_progress) -> Inventory:
    """Return the inventory of the Hudi table in `storage` as of a completion time (default: the newest completion
    time).

    `inspect` reads only objects below ``.hoodie``, and takes the names and sizes of data files from listings. The field
    `faults` of the result lists damaged files. Raises `NotATable` if there is no table, and `Unsupported` for an
    unknown table version. Raises `BadInput` for an invalid time, or for a time outside the table's history.
    """
    audit = gather(storage, progress)
    inventory = _head(audit)
    if inventory.version > VERSIONS[-1]:
        raise Unsupported(
            f"inspect the table {inventory.name}",
            f"it has version {inventory.version}, and this release reads versions up to {VERSIONS[-1]}",
            "use a newer release of nbcc",
        )
    if inventory.rules != "names":
        return _with_files(inventory, table_snapshot(audit, as_of, ASKED))
    if as_of is not None:
        exists = f"it has version {inventory.version}, and tables before version 8 record no completion times"
        raise BadInput(f"{ASKED} {as_of}", exists, "leave the time out")
    return legacy_files(inventory, audit)


def _head(audit: Audit) -> Inventory:
    """Return an inventory without instants, slices and files. Raises `NotATable` if the properties contain no table
    version.
    """
    values = audit.properties
    version = values.get("hoodie.table.version", "")
    if not version.isdecimal():
        exists = f"its {PROPERTIES} names no table version"
        raise NotATable(f"inspect {audit.url}", exists, "check the path, or restore the file from a copy")
    layout = values.get("hoodie.timeline.layout.version", "")
    old = int(version) < VERSIONS[0]
    inventory = Inventory(
        name=values["hoodie.table.name"],
        url=audit.url,
        version=int(version),
        layout=int(layout) if layout.isdecimal() else 1 if old else 2,
        type=values.get("hoodie.table.type", "COPY_ON_WRITE"),
        merge_mode=_merge_mode(values),
        rules="nbcc" if audit.own else "hudi",
    )
    if old or inventory.layout < 2:
        return replace(inventory, rules="names", notices=(NOTICE,))
    return replace(inventory, notices=tuple(_notices(audit)), faults=audit.serious_faults)


def _with_files(inventory: Inventory, snapshot: TableSnapshot) -> Inventory:
    unused = ((*split_path(file.path), file, because) for file, because in snapshot.unused(snapshot.slices))
    foreign = foreign_services(snapshot) if snapshot.audit.own else ()
    return replace(
        inventory,
        as_of=snapshot.time,
        notices=(*inventory.notices, *foreign),
        instants=tuple(_instants(snapshot)),
        slices=tuple(sorted(_slices(snapshot), key=lambda piece: natural(piece.partition))),
        plans=tuple(_plan(instant, snapshot.audit) for instant in snapshot.shown.pending_compactions),
        left_out=tuple(
            LeftOut(partition, name, file.size, file.requested, because) for partition, name, file, because in unused
        ),
        faults=(*inventory.faults, *snapshot.unknown_names),
        missing_or_cut=snapshot.missing_or_cut,
    )


def _instants(snapshot: TableSnapshot) -> Iterator[InstantRow]:
    sizes: dict[str, list[int]] = {}
    for file in snapshot.audit.files.values():
        sizes.setdefault(file.requested, []).append(file.size)
    for i in snapshot.shown.instants:
        written = sizes.get(i.requested, ()) if i.writes else ()
        yield InstantRow(i.action, i.state, i.requested, i.completed, len(written), sum(written))


def _slices(snapshot: TableSnapshot) -> Iterator[SliceRow]:
    read = {(*piece.group, piece.barrier) for piece in to_read(snapshot.slices, snapshot.audit.rules)}
    newest = {piece.group: piece.barrier for piece in snapshot.slices}
    for piece in snapshot.slices:
        is_read, is_newest = (*piece.group, piece.barrier) in read, newest[piece.group] == piece.barrier
        role: Role = "read" if is_read else "planned" if is_newest else "superseded"
        base, tombstones, logs = _rows([piece.base] if piece.base else []), _rows(piece.tombstones), _rows(piece.logs)
        yield SliceRow(
            piece.partition, piece.file_id, piece.barrier, base[0] if base else None, tombstones, logs, role
        )  # fmt: skip


def _rows(files: Iterable[BaseFile | LogFile]) -> tuple[FileRow, ...]:
    return tuple(FileRow(split_path(f.path)[1], f.size, f.requested, f.completed) for f in files)


def _plan(instant: Instant, audit: Audit) -> PlanRow:
    plan = audit.plans.get(instant.requested)
    operations = plan.operations if plan else ()
    return PlanRow(instant.requested, instant.state, len(operations), sum(len(each.logs) for each in operations))


def _merge_mode(values: Mapping[str, str]) -> str:
    """Return the merge mode in the properties, even if nbcc does not support it."""
    try:
        return merge_mode(values)
    except NbccError:
        return values.get("hoodie.record.merge.mode", "CUSTOM")


def _notices(audit: Audit) -> Iterator[str]:
    if partitions := audit.properties.get("hoodie.table.metadata.partitions"):
        yield f"a metadata table is active ({partitions}); nbcc lists the files instead"
    if not audit.own:
        yield "not written by nbcc: slices and merges follow Hudi's rules; a read as of T sees what completed by T"
