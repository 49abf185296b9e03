"""Shows a resized table of the engine in the terms of the model, which numbers the finest ranges of hashes.

A file group of the engine holds a residue class of hashes. The model calls each finest range a file group, and a group
of the table holds adjacent ranges. The range of a finest bucket is its number with the binary digits reversed, so that
the buckets which a split makes of one bucket are adjacent ranges.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Container, Iterable, Iterator, Sequence

from nbcc.engine.context import Context
from nbcc.engine.file_names import TOMBSTONES
from nbcc.engine.files.group_files import listed_files
from nbcc.engine.files.slices import FileSlice, build_slices, pending_plans, replaced_groups
from nbcc.engine.names import bucket_of, generation_of
from nbcc.engine.timeline import Instant
from nbcc.engine.timeline.history import Whole
from nbcc.engine.timeline.resize_plans import resizes as resizes_of
from nbcc.model import World
from nbcc.model.mechanisms.crashes import Crashes
from nbcc.model.mechanisms.resizes.mechanism import RESIZER
from nbcc.model.mechanisms.resizes.rules import ResizeLimits

from ...users_factory import CannotPlay

Entry = tuple[int, int | None, int | None, tuple[tuple[int, int], ...]]
"""Group of the model, barrier, base and logs of a file slice."""

MOST_RANGES = 2
"""A writer puts its logs in the order of the buckets, which for more ranges is not their order."""

SHOWN_AS = {"clustering": "compaction", "replacecommit": "commit"}
"""A resize of the model is published like a compaction."""


def is_resized(world: World) -> bool:
    return world[ResizeLimits].resizes > 0


def first_buckets(world: World) -> int:
    """Return the number of buckets of a table before its first resize."""
    return world[ResizeLimits].first_buckets or world.buckets if is_resized(world) else world.buckets


def check_ranges(world: World) -> None:
    """Raise CannotPlay for a world with resizes in which a file group of the engine acts otherwise than its ranges."""
    if not is_resized(world):
        return
    if world[Crashes].crashes and world.actors[RESIZER.name] > 1:
        what, why = "with two resizers that may die", "its model has no runner whose files another one has deleted"
    elif world.partitions > 1:
        what, why = f"of {world.partitions} partitions", "it makes no file group in a partition without rows"
    elif world.buckets > MOST_RANGES:
        what, why = f"of {world.buckets} ranges", "a writer puts its logs in the order of the buckets"
    else:
        return
    raise CannotPlay(f"the engine does not play a resize {what}: {why}; run it on the model instead")


def ranges_of(file_id: str, world: World) -> Sequence[int]:
    """Return the ranges of a partition that a file group holds: only its bucket if no resize is possible."""
    if not is_resized(world):
        return [bucket_of(file_id) or 0]
    bucket, buckets = bucket_of(file_id) or 0, generation_of(file_id, first_buckets(world)).buckets
    width = world.buckets // buckets
    first = _reversed(bucket, buckets) * width
    return range(first, first + width)


def bucket_of_range(place: int, world: World) -> int:
    """Return the finest bucket that is a range."""
    return _reversed(place, world.buckets) if is_resized(world) else place


def _reversed(number: int, count: int) -> int:
    """Return a number below `count`, a power of two, with its binary digits reversed."""
    digits = count.bit_length() - 1
    return int(f"{number:0{digits}b}"[::-1], 2) if digits else 0


def slices_by_range(
    context: Context, shown: Iterable[FileSlice], world: World, partition_of: Callable[[str], int],
    tick_of: Callable[[str], int], as_of: str | None = None,
) -> tuple[Entry, ...]:  # fmt: skip
    """Return the file slices of each range: `shown` are those of the file groups that a read opens, and those of
    replaced groups are added. A copy of late logs is shown as these logs. The requested time of a pending resize is a
    barrier, as in the model. `as_of` is the time of the slices.
    """
    timeline, until = context.history().whole, as_of or "~"
    resizes = [i for i in timeline.instants if i.action in SHOWN_AS and i.requested <= until]
    pending = [instant.requested for instant in resizes if (instant.completed or "~~") > until]
    entries = []
    shown = tuple(shown)
    newest = {piece.group: piece for piece in shown}.values()  # barriers rise within a group
    for piece, end in [*((piece, "~") for piece in shown), *_replaced(context, timeline, resizes, world, as_of)]:
        made = next((i for i in resizes if piece.base and i.requested == piece.base.requested), None)
        own = [log for log in piece.logs if made is None or log.requested != made.requested]
        logs = [((log.completed or "~"), (tick_of(log.requested), log.version)) for log in own]
        if made is not None and any(log.version > TOMBSTONES for log in piece.logs if log.requested == made.requested):
            logs = [*_late(made, timeline.instants, tick_of), *logs]
        logs = [(completed, log) for completed, log in logs if completed < end]
        limits = sorted({piece.barrier or "", *(pending if piece in newest else ())})
        for place in ranges_of(piece.file_id, world):
            group = partition_of(piece.partition) * world.buckets + place
            entries += [
                (
                    group, tick_of(limit) if limit else None,
                    tick_of(piece.base.requested) if piece.base and limit == limits[0] else None,
                    tuple(log for completed, log in logs if bisect_right(limits, completed) - 1 == number),
                )
                for number, limit in enumerate(limits)
            ]  # fmt: skip
    entries = [entry for entry in entries if any(entry[1:])]
    entries += [
        (group, tick_of(barrier), None, ()) for group in range(world.groups) for barrier in pending
        if (group, tick_of(barrier)) not in {entry[:2] for entry in entries}
    ]  # fmt: skip
    horizon = context.commits.horizon(timeline) or ""
    bases = {tick_of(i.requested) for i in timeline.completed if i.completed and i.completed <= horizon}
    return tuple(sorted(_kept(entries, bases), key=lambda entry: (entry[0], entry[1] or 0)))


def _kept(entries: Sequence[Entry], bases: Container[int]) -> Iterator[Entry]:
    """Yield the entries without those that are older than one of the given base files of their range."""
    first: dict[int, int] = {}
    for group, barrier, base, _ in entries:
        if base in bases:
            first[group] = max(first.get(group, 0), barrier or 0)
    return (entry for entry in entries if (entry[1] or 0) >= first.get(entry[0], 0))


def _replaced(
    context: Context, timeline: Whole, resizes: Sequence[Instant], world: World, as_of: str | None
) -> Iterator[tuple[FileSlice, str]]:
    """Yield the file slices of replaced groups, each with the requested time of the resize that replaced the group."""
    commits, rules = context.commits, context.rules
    hidden = replaced_groups(timeline, commits, rules, as_of)
    ends = {made.number - 1: instant.requested for instant, made in resizes_of(commits, resizes)}
    files = listed_files(timeline, commits, rules, as_of)
    for piece in build_slices(files, pending_plans(timeline, commits, rules, as_of), rules):
        if piece.group in hidden:
            yield piece, ends[generation_of(piece.file_id, first_buckets(world)).number]


def _late(
    resize: Instant, timeline: Sequence[Instant], tick_of: Callable[[str], int]
) -> list[tuple[str, tuple[int, int]]]:
    """Return the completion times and logs of the writes that completed while a resize was pending."""
    done = sorted((i.completed, i.requested) for i in timeline if i.action == "deltacommit" and i.completed)
    until = resize.completed or "~"
    late = [(completed, requested) for completed, requested in done if resize.requested < completed < until]
    return [(completed, (tick_of(requested), 1)) for completed, requested in late]
