"""Diagnostics of data files: missing files, unlisted files, and files that differ from their commit's metadata."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from nbcc.engine.audit.amounts import several
from nbcc.engine.audit.record import SERVICES, File
from nbcc.engine.file_names import PARTITION_METADATA, in_partition, split_path
from nbcc.engine.files.group_files import BaseFile, Group
from nbcc.engine.names import bucket_of, generation_of

from ..view import TIMELINE, TableView
from .diagnostic import READS, RESTORE, RESTORE_TIMELINE, UNDO, Gravity, Rule, Spot, filled, undo

_ORPHANS: Final = "nbcc table {table} orphans --quarantine"
_OUT: Final = "move it out of the folder of the table"
_FOREIGN: Final = f"if they were removed, {RESTORE_TIMELINE}; else {_OUT}"
"""nbcc changes no table of another engine."""
_ORPHANS_OR: Final = f"if they were removed, {RESTORE_TIMELINE}; else {_ORPHANS}"
_BACK: Final = "move it back"
_GIVE_UP: Final = f"{RESTORE}, or give up those reads: nbcc table {{table}} clean --retain {{count}}"
_COMMIT: Final = "restore the commit from a copy"
_OF_COMMIT: Final = "restore the file of the commit from a copy"
_ONE_INDEX: Final = "find the writer with another index or bucket count; rewrite the partition with one of them"
_ONE_COUNT: Final = "find that writer; rewrite the partition with one count"
_PARTITIONS: Final = "nbcc table {table} partitions --write"
_NOT_WRITTEN: Final = "no engine of this table wrote it"
_BUCKET_ID: Final = re.compile(r"\d{8}-[0-9a-f-]+")


def missing(view: TableView) -> Iterator[Spot]:
    """Yield missing files that a snapshot needs, or an as-of read within the retained period."""
    listing = view.audit.listing
    own = (s.path for requested, s in view.mismatches if view.named_after(s.path) == requested)  # else see `foreign`
    for path in dict.fromkeys(path for path in own if path in view.counted):
        if path not in listing and (because := _needed(view, path)):
            clean = view.cleaned.get(split_path(path)[1])
            promises = (*_promises(view, path), "CLEAN") if clean else _promises(view, path)
            if moved := view.moved.get(path):
                folders = split_path(moved)[0], split_path(path)[0]
                yield Spot(path, f"it is in {folders[0]}/ instead; {because}", _BACK, promises=promises)
                continue
            cleaned = f": the clean {clean} deleted it" if clean else ""
            yield Spot(path, f"it is missing{cleaned}; {because}", _restored(view, path), promises=promises)


def _promises(view: TableView, path: str) -> tuple[str, ...]:
    """Return the promises that are broken if a file that a commit lists is missing or damaged: those about the reads
    that need it.

    A read-optimised read takes only base files. A window takes the files of writes, and none of services.
    """
    file = view.counted.get(path)
    commit = view.audit.commits.get(file.requested) if file else None
    horizon = view.audit.horizon or ""
    in_window = commit is not None and commit.operation not in SERVICES and (commit.instant.completed or "") > horizon
    needed = {
        "SNAP": path in view.read,
        "TRAVEL": path in view.read or path in view.superseded,
        "INCR": in_window,
        "RO": path in view.newest_bases,
    }
    return tuple(name for name, applies in needed.items() if applies) or ("TRAVEL",)


def _restored(view: TableView, path: str) -> str:
    until = None if path in view.read else view.superseded.get(path)
    since = len(view.writes) - bisect_left(view.writes, until) if until and view.audit.own else 0
    return filled(_GIVE_UP, count=str(since)) if since else RESTORE


def _needed(view: TableView, path: str) -> str | None:
    if path in view.read:
        return "every snapshot reads it"
    until = view.superseded.get(path)
    horizon = view.audit.horizon
    if until and not view.unknown_cleans and (horizon is None or until > horizon):
        since = "the table was never cleaned" if horizon is None else f"cleans retained all reads since {horizon}"
        return f"a read as of a time before {until} needs it ({since})"
    return None


def sizes(view: TableView) -> Iterator[Spot]:
    for _, stat in view.mismatches:
        size = view.audit.listing.get(stat.path)
        if size is not None and size != stat.size:
            because = f"it has {size} bytes, its commit lists {stat.size}"
            yield Spot(stat.path, because, RESTORE, promises=_promises(view, stat.path))


def broken(view: TableView) -> Iterator[Spot]:
    cut = {stat.path for _, stat in view.mismatches}  # reported already, by their sizes
    for fault in view.data:
        if fault.path in cut:
            continue
        yield Spot(fault.path, fault.because, RESTORE, promises=_promises(view, fault.path))


def foreign(view: TableView) -> Iterator[Spot]:
    """Yield files that a commit lists, but whose names do not contain the commit's instant."""
    for requested, stat in view.mismatches:
        if view.named_after(stat.path) != requested:
            because = f"the commit of {requested} lists it, but it is not named like a file of this instant"
            promises = (*_promises(view, stat.path), "ATOM")
            yield Spot(stat.path, because, _OF_COMMIT, promises=promises)


def orphans(view: TableView) -> Iterator[Spot]:
    """Yield files whose instants are on no timeline: their writes failed, or their timeline files were removed."""
    first = view.audit.first_active
    for file in () if view.is_without_instants else view.audit.orphans:
        if view.unread_archive and (first is None or file.requested < first):
            continue  # the archive may have its instant: see `unreadable`
        where = f"its instant {file.requested} is on no timeline"
        if proof := view.removed.get(file.requested):
            because = f"{where}, and {proof}: it completed, and its timeline files were removed"
            yield Spot(file.path, because, RESTORE_TIMELINE, promises=(*READS, "ATOM", "ARCH"))
            continue
        because = f"{where}: its write never completed, or its timeline files were removed"
        remedy = _ORPHANS_OR if view.audit.own else _FOREIGN
        if first is not None and file.requested < first:
            because += f"; it is older than the active timeline ({first}), and Hudi's readers show its rows"
            yield Spot(file.path, because, remedy, "AT RISK" if view.audit.own else "BROKEN", ("ATOM", "ARCH"))
        else:
            because += "; once older instants are archived, Hudi's readers show its rows"
            yield Spot(file.path, because, remedy, "AT RISK", ("ARCH",))


def unlisted(view: TableView) -> Iterator[Spot]:
    """Yield files that are not listed in their completed instant, for example because a task attempt wrote them too
    late.
    """
    elsewhere = {*view.moved.values()}
    misread = {requested for requested, stat in view.mismatches if view.named_after(stat.path) != requested}
    for file in view.unlisted:
        if file.path in elsewhere or file.requested in misread:
            continue  # its cause is reported already
        because = f"its instant {file.requested} is completed and does not list it; Hudi's readers show its rows"
        remedy = _ORPHANS if view.audit.own else _OUT
        if not view.audit.commits[file.requested].stats:
            because = f"{because}; it lists no file at all, so that its content may have been lost"
            remedy = _COMMIT
        yield Spot(file.path, because, remedy, "AT RISK" if view.audit.own else "BROKEN", ("ATOM",))


def not_of_hudi(view: TableView) -> Iterator[Spot]:
    """Yield Parquet files in partitions that are not named like a base file, and that Hudi's readers take for one.

    Hudi 1.2.0 splits the name at its underscores. Without one, every snapshot fails. What follows the last one is taken
    for the requested time of a commit.
    """
    first = view.audit.first_active or ""
    gravity: Gravity = "AT RISK" if view.audit.own else "BROKEN"
    for path in view.strangers:
        name = split_path(path)[1]
        if not name.endswith(".parquet"):
            continue
        if "_" not in name:
            because = f"{_NOT_WRITTEN}: Hudi 1.2.0 (NullPointerException) and hudi-rs fail at every snapshot"
            yield Spot(path, because, _OUT, gravity, READS)
        elif name.rpartition("_")[2] < first:
            because = f"{_NOT_WRITTEN}: Hudi's readers take it for a base file that has committed; hudi-rs fails"
            yield Spot(path, because, _OUT, gravity, READS)
        else:
            because = f"{_NOT_WRITTEN}: hudi-rs fails at every snapshot; Hudi 1.2.0 ignores it"
            yield Spot(path, because, _OUT, "AT RISK", READS)


def two_groups(view: TableView) -> Iterator[Spot]:
    """Yield buckets with more than one file group, so that a key may occur in several groups."""
    groups = {group for group in view.by_group if group not in view.replaced}
    if not view.audit.own and not all(_BUCKET_ID.fullmatch(file_id) for _, file_id in groups):
        return
    by_bucket: dict[tuple[str, int], Group] = {}
    for group in sorted(groups):
        bucket = bucket_of(group[1])
        if bucket is None:
            continue
        first = by_bucket.setdefault((group[0], bucket), group)
        if first != group:
            because = f"the bucket {bucket} of its partition also has the file group {first[1]}: a key can be in both"
            yield Spot(_example(view, group), because, _ONE_INDEX)


def _example(view: TableView, group: Group) -> str:
    return min(file.path for file in view.by_group[group])


def bucket_range(view: TableView) -> Iterator[Spot]:
    count = view.audit.properties.get("nbcc.buckets", "")
    for group in view.by_group if count.isdecimal() else ():
        bucket, buckets = bucket_of(group[1]), generation_of(group[1], int(count)).buckets
        if bucket is not None and bucket >= buckets:
            because = f"its bucket is {bucket}, but the table has {buckets} buckets: its writer used another count"
            yield Spot(_example(view, group), because, _ONE_COUNT)


def partition_metadata(view: TableView) -> Iterator[Spot]:
    present = {file.partition for file in view.audit.files.values()}
    for partition in sorted({group[0] for group in view.by_group if group[0]} & present):
        path = in_partition(partition, PARTITION_METADATA)
        if path not in view.audit.listing:
            because = "it is missing: Hudi on Spark returns no row of this partition"
            yield Spot(path, because, _PARTITIONS, "AT RISK")


def stray_base(view: TableView) -> Iterator[Spot]:
    """Yield uncommitted base files that make Hudi's readers hide later files of the same file group."""
    for path, file in view.audit.files.items():
        if not isinstance(file, BaseFile) or file.completed is not None or not view.pending(file.requested):
            continue
        group = (file.partition, file.file_id)
        planned = any(part.barrier == file.requested for part in view.plans.get(group, ()))
        later = [f for f in view.by_group.get(group, ()) if _completed_since(f, file.requested)]
        if not planned and later:
            because = f"it is not committed, and Hudi's readers hide {several(len(later), 'file')} that completed since"
            yield Spot(path, because, undo(view, file.requested), "AT RISK")


def _completed_since(file: File, time: str) -> bool:
    return file.completed is not None and file.completed >= time


def no_instants(view: TableView) -> Iterator[Spot]:
    """Yield the timeline if it has no instant, although there are data files."""
    if view.is_without_instants:
        count = len({file.requested for file in view.audit.files.values()})
        names = f"{several(len(view.audit.files), 'data file')} of {several(count, 'instant')}"
        because = f"it has no instant, and the table has {names}: readers return no row"
        yield Spot(TIMELINE, because, RESTORE_TIMELINE)


RULES: Final = (
    Rule("timeline-lost", "a timeline without instants over data files", (*READS, "ATOM", "ARCH"), no_instants,
         (RESTORE_TIMELINE,)),
    Rule("listed-file-missing", "a file that a read needs is missing", READS, missing, (RESTORE, _GIVE_UP, _BACK)),
    Rule("listed-file-size", "a file has another size than its commit lists", READS, sizes, (RESTORE,)),
    Rule("data-file-broken", "a data file is damaged, or holds other rows than its commit lists", READS, broken,
         (RESTORE,)),
    Rule("listed-file-foreign", "a commit lists a file that is not its own", (*READS, "ATOM"), foreign, (_OF_COMMIT,)),
    Rule("orphan-file", "a file whose instant is on no timeline", (*READS, "ATOM", "ARCH"), orphans,
         (_ORPHANS_OR, _FOREIGN, RESTORE_TIMELINE)),
    Rule("unlisted-file", "a file that its completed instant does not list", ("ATOM",), unlisted,
         (_ORPHANS, _OUT, _COMMIT)),
    Rule("foreign-file", "a file of no engine of the table that Hudi's readers read", READS, not_of_hudi, (_OUT,)),
    Rule("bucket-with-two-groups", "two file groups share a bucket", ("KEY",), two_groups, (_ONE_INDEX,)),
    Rule("bucket-out-of-range", "a file group has a bucket that the table lacks", ("KEY",), bucket_range,
         (_ONE_COUNT,)),
    Rule("partition-metadata-missing", "a partition that Hudi on Spark does not see", ("SNAP",), partition_metadata,
         (_PARTITIONS,)),
    Rule("stray-base-file", "an uncommitted base file in a file group that is in use", ("SNAP",), stray_base, UNDO),
)  # fmt: skip
