"""Why a key reads as it does: every file that holds it, kept or hidden, by which rule, and what the answer is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from ..data.shape import table_shape
from ..data.tasks import TableShape
from ..definition.load import open_table
from ..errors import BadInput
from ..files.group_files import BaseFile, LogFile
from ..files.slices import FileSlice, to_read
from ..reads.times import Time
from ..rules import Rules
from ..storage import Storage
from .key_records import KeyRecord, Kind, Placement, key_records
from .table_snapshot import TableSnapshot, look
from .winner import outranked, winner

ASKED: Final = "say why a key reads as it does as of"

Status = Literal["answers", "outranked", "superseded", "hidden"]


@dataclass(frozen=True, slots=True)
class Line:
    """One record of the key in one file.

    `slice` is the barrier of its file slice, None before every barrier. `status`: it answers; it is merged and another
    record outranks it; a newer base file stands for its slice; no read sees its file. `because` names the rule.
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
    """A file group that holds the key: its records in the order in which they are merged, and the answer.

    `row` holds the table's columns, None if there is no row; `answer` is the sentence.
    """

    partition: str
    file_id: str
    lines: tuple[Line, ...]
    row: dict[str, Any] | None
    answer: str


@dataclass(frozen=True, slots=True)
class Why:
    """`rules` is ``nbcc`` or ``hudi``; `as_of` the time asked for, None: all that is settled."""

    key: str
    rules: str
    merge_mode: str
    ordering: str | None
    as_of: str | None
    groups: tuple[Group, ...]


def why(storage: Storage, key: str, partition: str | None = None, as_of: Time | None = None) -> Why:
    """TableSnapshot the record key up in every file of its file group, also in those that no read sees.

    `key` as Hudi spells it: the value, or ``f1:v1,f2:v2`` for several fields; `partition` is a path as in the table's
    folders, None: all. Reads the rows of that key. Raises what opening and `look` raise, `BadInput` for a partition
    that is not there.
    """
    config = open_table(storage)
    seen = look(storage, config.rules, as_of, ASKED)
    shape = table_shape(config, config.rules)
    placements = _places(seen, config.rules)
    if partition is not None:
        _check_partition(placements, partition)
        placements = [place for place in placements if place.file.partition == partition]
    found = key_records(storage, shape, placements, key, config.buckets if config.own else None)
    return Why(
        key=key,
        rules="nbcc" if config.own else "hudi",
        merge_mode=config.merge_mode,
        ordering=shape.merge.ranked_by,
        as_of=seen.time,
        groups=tuple(_group(records, shape, config.rules) for records in _by_group(found)),
    )


def _check_partition(placements: list[Placement], partition: str) -> None:
    known = sorted({place.file.partition for place in placements})
    if partition not in known:
        asked, shown = f"look into the partition {partition!r}", ", ".join(known[:10])
        if not shown:
            raise BadInput(asked, "the table has no partitions", "leave the partition out")
        raise BadInput(asked, f"the table has {shown}{', …' if len(known) > 10 else ''}", "name one of these")


def _places(seen: TableSnapshot, rules: Rules) -> list[Placement]:
    """All data files with what is known of them before they are opened: slice by slice, then those in no slice."""
    read = {piece.group: piece for piece in to_read(seen.slices, rules)}
    position = {file.path: place for piece in read.values() for place, (file, _) in enumerate(_files(piece))}
    placements = [
        Placement(file, piece.barrier, kind, position.get(file.path), _superseded(read[piece.group]))
        for piece in seen.slices
        for file, kind in _files(piece)
    ]
    for file, because in seen.uncounted():
        kind: Kind = "base" if isinstance(file, BaseFile) else "log"
        placements.append(Placement(file, None, kind, None, because, hidden=True))
    return placements


def _files(piece: FileSlice) -> Iterator[tuple[BaseFile | LogFile, Kind]]:
    """The files of a slice in the order in which they are merged."""
    if piece.base:
        yield piece.base, "base"
    for file in piece.tombstones:
        yield file, "tombstone"
    for file in piece.logs:
        yield file, "log"


def _superseded(read: FileSlice) -> str:
    return f"the base file of barrier {read.base.requested if read.base else read.barrier} stands for its slice"


def _by_group(records: list[KeyRecord]) -> list[list[KeyRecord]]:
    groups: dict[tuple[str, str], list[KeyRecord]] = {}
    for record in records:
        groups.setdefault((record.place.file.partition, record.place.file.file_id), []).append(record)
    return [groups[group] for group in sorted(groups)]


def _group(records: list[KeyRecord], shape: TableShape, rules: Rules) -> Group:
    merged = sorted((h for h in records if h.place.position is not None), key=lambda h: h.place.position or 0)
    best = winner(merged, shape.merge)
    superseded = [h for h in records if h.place.position is None and not h.place.hidden]
    hidden = sorted((h for h in records if h.place.hidden), key=lambda h: h.place.file.requested)
    lines = [_line(h, h.place.because, "superseded") for h in superseded]
    for record in merged:
        if record is best:
            lines.append(_line(record, _answers(record, len(merged)), "answers"))
        elif best is not None:
            lines.append(_line(record, outranked(record, best, shape.merge, rules.merge_order), "outranked"))
    lines += [_line(h, h.place.because, "hidden") for h in hidden]
    file = records[0].place.file
    return Group(file.partition, file.file_id, tuple(lines), best.row if best else None, _answer(best))


def _line(record: KeyRecord, because: str, status: Status) -> Line:
    file = record.place.file
    return Line(
        path=file.path,
        kind=record.place.kind,
        requested=file.requested,
        completed=file.completed,
        slice=record.place.slice,
        record=record.record,
        ordering=record.ordering,
        status=status,
        because=because,
    )


def _answers(record: KeyRecord, among: int) -> str:
    return "it has the greatest rank" if among > 1 else "nothing else is merged for this key"


def _answer(best: KeyRecord | None) -> str:
    if best is None:
        return "no row: no file that a read sees holds the key"
    name = best.place.file.path.rpartition("/")[2]
    return f"no row: the delete in {name} has the greatest rank" if best.row is None else f"the row in {name}"
