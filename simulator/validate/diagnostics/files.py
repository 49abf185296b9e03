"""Complaints about data files: missing, too many, or not what they should be."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Final

from nbcc.engine.file_names import PARTITION_METADATA, in_partition, split_path
from nbcc.engine.files.group_files import BaseFile, Group
from nbcc.engine.names import bucket_of

from ..view import File, View
from .diagnostic import RESTORE, Found, Rule, undo

_ORPHANS: Final = "nbcc table {table} orphans --delete"
_BUCKET_ID: Final = re.compile(r"\d{8}-[0-9a-f-]+")


def missing(view: View) -> Iterator[Found]:
    """Files that somebody still needs: a snapshot, or a read of a time that cleaning has not put out of reach."""
    listing = view.found.listing
    for path in dict.fromkeys(stat.path for _, stat in view.unlike if stat.path in view.counted):
        if path not in listing and (because := _needed(view, path)):
            clean = next((c.instant.requested for c in view.found.cleans if split_path(path)[1] in c.deleted), None)
            who = f", and the clean {clean} deleted it" if clean else ""
            promises = ("SNAP", "CLEAN") if path in view.read else ("TRAVEL", "CLEAN")
            yield Found(path, f"it is gone{who}, and {because}", _restored(view, path), promises=promises)


def _restored(view: View, path: str) -> str:
    """A copy, or a clean behind which nobody may ask for what needs the file; of what a snapshot reads only a copy."""
    until = None if path in view.read else view.superseded.get(path)
    since = len(view.writes) - bisect_left(view.writes, until) if until and view.found.own else 0
    return f"{RESTORE}, or give those reads up: nbcc table {{table}} clean --retain {since}" if since else RESTORE


def _needed(view: View, path: str) -> str | None:
    if path in view.read:
        return "every snapshot reads it"
    until = view.superseded.get(path)
    horizon = view.found.horizon
    if until and (horizon is None or until > horizon):
        since = "nothing was ever cleaned" if horizon is None else f"cleaning left all from {horizon} on"
        return f"a read as of a time before {until} needs it ({since})"
    return None


def sizes(view: View) -> Iterator[Found]:
    for _, stat in view.unlike:
        size = view.found.listing.get(stat.path)
        if size is not None and size != stat.size:
            yield Found(stat.path, f"it has {size} bytes, the commit that lists it says {stat.size}", RESTORE)


def broken(view: View) -> Iterator[Found]:
    for fault in view.data:
        yield Found(fault.path, fault.because, RESTORE)


def foreign(view: View) -> Iterator[Found]:
    """Listed under a name that is no data file's, or that carries another instant: no reader can place it."""
    for requested, stat in view.unlike:
        if view.named_after(stat.path) != requested:
            because = f"the commit of {requested} lists it, and its name is not that of a file of this instant"
            yield Found(stat.path, because, "restore the commit's file from a copy")


def orphans(view: View) -> Iterator[Found]:
    """Files whose instant is on no timeline: of a write that failed and was taken off it."""
    first = view.found.first_active
    for file in view.found.orphans:
        path = file.path
        because = f"no timeline knows its instant {file.requested}: it belongs to a write that never completed"
        if first is not None and file.requested < first:
            because += f"; it is older than the active timeline ({first}), and Hudi's readers show its rows"
            yield Found(path, because, _ORPHANS, "AT RISK" if view.found.own else "BROKEN", ("ATOM", "ARCH"))
        else:
            because += "; once the timeline before it is archived, Hudi's readers show its rows"
            yield Found(path, because, _ORPHANS, "AT RISK")


def unlisted(view: View) -> Iterator[Found]:
    """Files of a completed instant that does not list them: attempts of tasks that came too late."""
    for file in view.unlisted:
        because = f"its instant {file.requested} is completed and does not list it; Hudi's readers show its rows"
        yield Found(file.path, because, _ORPHANS, "AT RISK" if view.found.own else "BROKEN", ("ATOM",))


def two_groups(view: View) -> Iterator[Found]:
    """One key, one bucket, one file group: where a bucket has two, its keys may live twice."""
    groups = {group for group in view.by_group if group not in view.replaced}
    if not view.found.own and not all(_BUCKET_ID.fullmatch(file_id) for _, file_id in groups):
        return
    seen: dict[tuple[str, int], Group] = {}
    for group in sorted(groups):
        bucket = bucket_of(group[1])
        if bucket is None:
            continue
        first = seen.setdefault((group[0], bucket), group)
        if first != group:
            because = f"the bucket {bucket} of its partition has the file group {first[1]}, too: a key can live in both"
            remedy = "find who writes with another index or bucket count; rewrite the partition by one of them"
            yield Found(_example(view, group), because, remedy)


def _example(view: View, group: Group) -> str:
    return min(file.path for file in view.by_group[group])


def bucket_range(view: View) -> Iterator[Found]:
    count = view.found.properties.get("nbcc.buckets", "")
    for group in view.by_group:
        bucket = bucket_of(group[1])
        if count.isdecimal() and bucket is not None and bucket >= int(count):
            because = f"its bucket is {bucket}, and the table has {count}: its writer used another count"
            yield Found(_example(view, group), because, "find that writer; rewrite the partition with one count")


def partition_metadata(view: View) -> Iterator[Found]:
    for partition in sorted({group[0] for group in view.by_group if group[0]}):
        path = in_partition(partition, PARTITION_METADATA)
        if path not in view.found.listing:
            because = "it is missing, so that Hudi on Spark returns no row of this partition"
            yield Found(path, because, "nbcc table {table} partitions --write", "AT RISK")


def stray_base(view: View) -> Iterator[Found]:
    """Hudi makes a slice of it, and what completed since is hidden in a slice that is not committed."""
    for path, file in view.found.files.items():
        if not isinstance(file, BaseFile) or file.completed is not None or not view.pending(file.requested):
            continue
        group = (file.partition, file.file_id)
        planned = any(part.barrier == file.requested for part in view.plans.get(group, ()))
        later = [f for f in view.by_group.get(group, ()) if _completed_since(f, file.requested)]
        if not planned and later:
            because = f"it is not committed, and Hudi's readers do not show {len(later)} files that completed since"
            yield Found(path, because, undo(view, file.requested), "AT RISK")


def _completed_since(file: File, time: str) -> bool:
    return file.completed is not None and file.completed >= time


RULES: Final = (
    Rule("listed-file-missing", "a file that a read needs is gone", ("SNAP",), missing),
    Rule("listed-file-size", "a file has another size than its commit says", ("SNAP", "TRAVEL"), sizes),
    Rule("data-file-broken", "a data file cannot be read, or holds other rows than its commit says", ("SNAP",), broken),
    Rule("listed-file-foreign", "a commit lists a file that is not its own", ("SNAP", "ATOM"), foreign),
    Rule("orphan-file", "a file of a write that never completed, and that nobody knows", ("ARCH",), orphans),
    Rule("unlisted-file", "a file that its completed instant does not list", ("ATOM",), unlisted),
    Rule("bucket-with-two-groups", "two file groups share a bucket", ("KEY",), two_groups),
    Rule("bucket-out-of-range", "a file group is of a bucket that the table has not", ("KEY",), bucket_range),
    Rule("partition-metadata-missing", "a partition that Spark does not see", ("SNAP",), partition_metadata),
    Rule("stray-base-file", "an uncommitted base file in a living file group", ("SNAP",), stray_base),
)
