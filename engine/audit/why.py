"""Explains the row that a read returns for a key: lists every record of the key, the rule that selects or rejects the
record, and the resulting row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal, NamedTuple

from ..config import TableConfig
from ..config.schemas import config_at
from ..data.shape import table_shape, unmerged_shape
from ..definition.load import open_table
from ..errors import BadInput, Damaged
from ..files.group_files import BaseFile, LogFile
from ..files.group_files import Group as GroupKey
from ..files.slices import FileSlice, to_read
from ..names import bucket_of, generation_of
from ..reads.retention import cleaned, refuse_undone
from ..reads.tasks import read_task, with_foreign_base
from ..reads.times import Time
from ..rules import Rules
from ..storage import Storage
from .amounts import natural
from .gather import gather
from .key_records import KeyRecord, Kind, Merge, Placement, bucket, merged_records, unread_records
from .ranking import RankedRecord, ranking
from .record import Progress, no_progress
from .table_snapshot import TableSnapshot, table_snapshot

ASKED: Final = "explain the answer for a key as of"

Status = Literal["answers", "outranked", "superseded", "hidden"]


@dataclass(frozen=True, slots=True)
class WhyLine:
    """One record of a key in one data file.

    `slice` is the barrier (the requested time of the base file) of the file's slice, or None for a slice without a base
    file. `status` is "answers" for a record from which the answer comes, and "outranked" for a record that loses the
    merge. `status` is "superseded" if a newer slice has replaced the record's slice, and "hidden" if the record's file
    is not read. `because` states the reason for `status`. `sets` contains the columns that a partial update sets; None
    means all columns.
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
    sets: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class WhyGroup:
    """A file group that contains records of the explained key.

    `lines` contains the records of the key in merge order, and `answer` describes the result of a read. `row` is the
    row that a read returns, or None if a read returns no row.
    """

    partition: str
    file_id: str
    lines: tuple[WhyLine, ...]
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
    groups: tuple[WhyGroup, ...]


def why(
    storage: Storage,
    key: str,
    partition: str | None = None,
    as_of: Time | None = None,
    progress: Progress = no_progress,
    merge_function: str = "",
) -> Why:
    """Read the records of a key from every file of the key's file groups, including files that no read uses.

    The row is computed by the read tasks and the merge of `Table.snapshot` and `Table.as_of`. `key` is a record key in
    Hudi's form: the value, or ``f1:v1,f2:v2`` for several fields. `partition` is a partition path; None means all
    partitions. `merge_function` is the merge function that the caller allows nbcc to import.

    Raises `Missing` or `Damaged` if a file that the answer may need is missing or cut, `Damaged` if a timeline file
    cannot be read, and `Cleaned` if the table can no longer be read as of `as_of`. Raises `BadInput` for an unknown
    partition, and the errors of `open_table` and `table_snapshot`.
    """
    config = replace(open_table(storage), allowed_function=merge_function)
    # The whole audit, and not one file group: only the timeline shows which files count.
    snapshot = table_snapshot(gather(storage, progress), as_of, ASKED)
    for fault in (*snapshot.audit.serious_faults, *snapshot.unknown_names):
        remedy = "try again; if the file is still damaged, restore it from a copy (nbcc validate lists all)"
        raise Damaged(f"explain the answer for the key {key!r}", f"{fault.path}: {fault.because}", remedy)
    if snapshot.time is not None:
        _refuse_unreadable(snapshot, snapshot.time)
        config = config_at(config, snapshot.time)
    shape = table_shape(config, config.rules)
    first = config.buckets if config.own else None
    within = _Within(partition, partial(bucket, key, shape) if first else None, first or 1)
    if within.bucket is not None:
        # Before any file is read, so that a wrong key is refused at once.
        within.bucket(within.first)  # raises for a key without the form of the table's keys
    if partition is not None:
        _check_partition(snapshot, partition)
    return Why(
        key=key,
        rules="nbcc" if config.own else "hudi",
        merge_mode=config.merge_mode,
        ordering=shape.merge.ranked_by,
        as_of=snapshot.time,
        groups=tuple(_groups(storage, snapshot, config, key, within)),
    )


class _Within(NamedTuple):
    """The file groups that can contain the key. None means all. `bucket` returns the bucket of the key for a number of
    buckets, and `first` is that number before the first resize.
    """

    partition: str | None
    bucket: Callable[[int], int] | None
    first: int

    def holds(self, partition: str, file_id: str) -> bool:
        buckets = generation_of(file_id, self.first).buckets
        in_bucket = self.bucket is None or bucket_of(file_id) == self.bucket(buckets)
        return in_bucket and (self.partition is None or partition == self.partition)


def _refuse_unreadable(snapshot: TableSnapshot, time: str) -> None:
    refuse_undone(snapshot.timeline, time, ASKED)
    bound = snapshot.audit.horizon
    if bound is not None and time < bound and not snapshot.timeline.is_pinned(time):
        raise cleaned(time, bound, ASKED)


def _check_partition(snapshot: TableSnapshot, partition: str) -> None:
    files = (*snapshot.audit.files.values(), *(f for piece in snapshot.listed_slices for f in piece.files))
    known = sorted({file.partition for file in files}, key=natural)
    if partition not in known:
        asked, shown = f"read the partition {partition!r}", ", ".join(known[:10])
        if not shown:
            raise BadInput(asked, "the table has no partitions", "leave the partition out")
        raise BadInput(asked, f"the table has {shown}{', …' if len(known) > 10 else ''}", "name one of these")


def _groups(
    storage: Storage, snapshot: TableSnapshot, config: TableConfig, key: str, within: _Within
) -> Iterator[WhyGroup]:
    """Yield the file groups with records of the key, in the order of partitions and file ids."""
    placed: dict[GroupKey, dict[str, Placement]] = {}
    for placement in _placements(snapshot, config.rules):
        file = placement.file
        if within.holds(file.partition, file.file_id):
            placed.setdefault((file.partition, file.file_id), {})[file.path] = placement
    read = {piece.group: piece for piece in to_read(snapshot.listed_slices, config.rules)}
    for name in sorted(placed, key=lambda group: (natural(group[0]), group[1])):
        placements, piece = placed[name], read.get(name)
        merged, ranks = Merge([], None), list[RankedRecord]()
        if piece is not None and (piece.base or piece.logs):
            rules = _rules_of(piece, snapshot, config.rules)
            task = read_task(piece, config, rules)
            merged = merged_records(storage, task, placements, key)
            ranks = ranking(merged.records, task.shape.merge, rules.merge_order)
        unread = [placement for placement in placements.values() if placement.because]
        others = unread_records(storage, unmerged_shape(config, config.rules), unread, key)
        if merged.records or others:
            yield _group(name, merged, ranks, others)


def _rules_of(piece: FileSlice, snapshot: TableSnapshot, rules: Rules) -> Rules:
    """Return the merge rules of a file group, as `reads.tasks.group_rules` does."""
    commit = snapshot.audit.commits.get(piece.base.requested) if piece.base else None
    is_foreign = rules.files == "listed" and rules.unmarked == "by_its_engine" and commit is not None and not commit.own
    return with_foreign_base(rules) if is_foreign else rules


def _placements(snapshot: TableSnapshot, rules: Rules) -> Iterator[Placement]:
    """Yield a `Placement` for each data file; files in no slice are last."""
    read = {piece.group: piece for piece in to_read(snapshot.listed_slices, rules)}
    for piece in snapshot.listed_slices:
        used = {file.path for file, _ in _files(read[piece.group])}
        for file, kind in _files(piece):
            yield Placement(file, piece.barrier, kind, "" if file.path in used else _superseded(read[piece.group]))
    # Listed and not only readable slices: a file that a clean has deleted explains an answer, too.
    for file, because in snapshot.unused(snapshot.listed_slices):
        kind = "base" if isinstance(file, BaseFile) else "log"
        yield Placement(file, None, kind, because, hidden=True)


def _files(piece: FileSlice) -> Iterator[tuple[BaseFile | LogFile, Kind]]:
    if piece.base:
        yield piece.base, "base"
    for file in piece.tombstones:
        yield file, "kept"
    for file in piece.logs:
        yield file, "log"


def _superseded(read: FileSlice) -> str:
    return f"the base file of barrier {read.base.requested if read.base else read.barrier} supersedes its slice"


def _group(name: GroupKey, merged: Merge, ranks: list[RankedRecord], others: list[KeyRecord]) -> WhyGroup:
    superseded = [r for r in others if not r.placement.hidden]
    # They have no place in the merge order, so they are in the order of their requests.
    hidden = sorted((r for r in others if r.placement.hidden), key=lambda r: r.placement.file.requested)
    lines = [_line(r, r.placement.because, "superseded") for r in superseded]
    lines += [_line(r, rank.because, rank.part) for r, rank in zip(merged.records, ranks, strict=True)]
    lines += [_line(r, r.placement.because, "hidden") for r in hidden]
    sources = [r for r, rank in zip(merged.records, ranks, strict=True) if rank.part == "answers"]
    return WhyGroup(*name, tuple(lines), merged.row, _answer(sources, merged.row))


def _line(record: KeyRecord, because: str, status: Status) -> WhyLine:
    placement, file = record.placement, record.placement.file
    times = (file.requested, file.completed, placement.slice)
    sets = None if record.sets is None else tuple(sorted(record.sets))
    return WhyLine(file.path, placement.kind, *times, record.record, record.ordering, status, because, sets)


def _answer(sources: list[KeyRecord], row: dict[str, Any] | None) -> str:
    if not sources:
        return "no row: no file that reads use holds the key"
    names = list(dict.fromkeys(source.placement.file.path.rpartition("/")[2] for source in sources))
    if row is None:
        return f"no row: the delete in {names[0]} has the greatest rank"
    if len(sources) > 1:
        return f"a row merged from {len(sources)} records"
    return f"the row in {names[0]}"
