"""Explains the row that a read returns for a key: lists every record of the key, the rule that selects or rejects the
record, and the resulting row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..data.shape import unmerged_shape
from ..data.tasks import TableShape
from ..definition.load import open_table
from ..errors import BadInput, Damaged
from ..files.group_files import BaseFile, LogFile
from ..files.slices import FileSlice, to_read
from ..reads.times import Time
from ..rules import Rules
from ..storage import Storage
from .amounts import natural
from .gather import gather
from .key_records import KeyRecord, Kind, Placement, key_records
from .record import Progress, no_progress
from .table_snapshot import TableSnapshot, table_snapshot
from .winner import outranked, winner

ASKED: Final = "explain the answer for a key as of"

Status = Literal["answers", "outranked", "superseded", "hidden"]


@dataclass(frozen=True, slots=True)
class Line:
    """One record of a key in one data file.

    `slice` is the barrier (the requested time of the base file) of the file's slice, or None for a slice without a base
    file. `status` is "answers" for the record that wins the merge, and "outranked" for a record that loses it. `status`
    is "superseded" if a newer slice has replaced the record's slice, and "hidden" if the record's file is not read.
    `because` states the reason for `status`.
    """

    path: str
    kind: Kind
    requested: str
    completed: str | None
    slice: str | None
    record: Literal["row", "delete"]
    ordering: Any
    status: Status
    because: str


@dataclass(frozen=True, slots=True)
class Group:
    """A file group that contains records of the explained key.

    `lines` contains the records of the key in merge order, and `answer` describes the result of a read. `row` is the
    row that a read returns, or None if a read returns no row.
    """

    partition: str
    file_id: str
    lines: tuple[Line, ...]
    row: dict[str, Any] | None
    answer: str


@dataclass(frozen=True, slots=True)
class Why:
    """The explanation of the row that a read returns for a key. `rules` states whose read rules apply: ``nbcc`` or
    ``hudi``. `as_of` is the time of the table state; None means the newest completion time.
    """

    key: str
    rules: str
    merge_mode: str
    ordering: str | None
    as_of: str | None
    groups: tuple[Group, ...]


def why(
    storage: Storage,
    key: str,
    partition: str | None = None,
    as_of: Time | None = None,
    progress: Progress = no_progress,
) -> Why:
    """Read the records of a key from every file of the key's file groups, including files that no read uses.

    `key` is a record key in Hudi's form: the value, or ``f1:v1,f2:v2`` for several fields. `partition` is a partition
    path; None means all partitions. Raises `BadInput` for an unknown partition, `Damaged` if a timeline file cannot be
    read, and the errors of `open_table` and `table_snapshot`.
    """
    config = open_table(storage)
    snapshot = table_snapshot(gather(storage, progress), as_of, ASKED)
    for fault in (*snapshot.audit.serious_faults, *snapshot.unknown_names):
        remedy = "try again; if the file is still damaged, restore it from a copy (nbcc validate lists all)"
        raise Damaged(f"explain the answer for the key {key!r}", f"{fault.path}: {fault.because}", remedy)
    shape = unmerged_shape(config, config.rules)
    placements = _placements(snapshot, config.rules)
    if partition is not None:
        _check_partition(placements, partition)
        placements = [each for each in placements if each.file.partition == partition]
    records = key_records(storage, shape, placements, key, config.buckets if config.own else None)
    return Why(
        key=key,
        rules="nbcc" if config.own else "hudi",
        merge_mode=config.merge_mode,
        ordering=shape.merge.ranked_by,
        as_of=snapshot.time,
        groups=tuple(_group(records_, shape, config.rules) for records_ in _by_group(records)),
    )


def _check_partition(placements: list[Placement], partition: str) -> None:
    known = sorted({each.file.partition for each in placements}, key=natural)
    if partition not in known:
        asked, shown = f"read the partition {partition!r}", ", ".join(known[:10])
        if not shown:
            raise BadInput(asked, "the table has no partitions", "leave the partition out")
        raise BadInput(asked, f"the table has {shown}{', …' if len(known) > 10 else ''}", "name one of these")


def _placements(snapshot: TableSnapshot, rules: Rules) -> list[Placement]:
    """Return a `Placement` for each data file; files in no slice are last."""
    read = {piece.group: piece for piece in to_read(snapshot.slices, rules)}
    position = {file.path: place for piece in read.values() for place, (file, _) in enumerate(_files(piece))}
    placements = [
        Placement(file, piece.barrier, kind, position.get(file.path), _superseded(read[piece.group]))
        for piece in snapshot.slices
        for file, kind in _files(piece)
    ]
    for file, because in snapshot.unused():
        kind: Kind = "base" if isinstance(file, BaseFile) else "log"
        placements.append(Placement(file, None, kind, None, because, hidden=True))
    return placements


def _files(piece: FileSlice) -> Iterator[tuple[BaseFile | LogFile, Kind]]:
    if piece.base:
        yield piece.base, "base"
    for file in piece.tombstones:
        yield file, "tombstone"
    for file in piece.logs:
        yield file, "log"


def _superseded(read: FileSlice) -> str:
    return f"the base file of barrier {read.base.requested if read.base else read.barrier} supersedes its slice"


def _by_group(records: list[KeyRecord]) -> list[list[KeyRecord]]:
    groups: dict[tuple[str, str], list[KeyRecord]] = {}
    for record in records:
        groups.setdefault((record.placement.file.partition, record.placement.file.file_id), []).append(record)
    return [groups[group] for group in sorted(groups, key=lambda group: (natural(group[0]), group[1]))]


def _group(records: list[KeyRecord], shape: TableShape, rules: Rules) -> Group:
    merged = sorted((r for r in records if r.placement.position is not None), key=lambda r: r.placement.position or 0)
    best = winner(merged, shape.merge)
    superseded = [r for r in records if r.placement.position is None and not r.placement.hidden]
    hidden = sorted((r for r in records if r.placement.hidden), key=lambda r: r.placement.file.requested)
    lines = [_line(r, r.placement.because, "superseded") for r in superseded]
    for record in merged:
        if record is best:
            only = "it is the only record that is merged for this key"
            lines.append(_line(record, "it has the greatest rank" if len(merged) > 1 else only, "answers"))
        elif best is not None:
            lines.append(_line(record, outranked(record, best, shape.merge, rules.merge_order), "outranked"))
    lines += [_line(r, r.placement.because, "hidden") for r in hidden]
    file = records[0].placement.file
    return Group(file.partition, file.file_id, tuple(lines), best.row if best else None, _answer(best))


def _line(record: KeyRecord, because: str, status: Status) -> Line:
    placement, file = record.placement, record.placement.file
    times = (file.requested, file.completed, placement.slice)
    return Line(file.path, placement.kind, *times, record.record, record.ordering, status, because)


def _answer(best: KeyRecord | None) -> str:
    if best is None:
        return "no row: no file that reads use holds the key"
    name = best.placement.file.path.rpartition("/")[2]
    return f"no row: the delete in {name} has the greatest rank" if best.row is None else f"the row in {name}"
