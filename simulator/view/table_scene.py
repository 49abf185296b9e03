"""Selects the content of pictures of a Hudi table: names, times and sizes from the table's inventory, but no rows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from nbcc.engine.audit import Inventory, inspect
from nbcc.engine.audit.amounts import size
from nbcc.engine.audit.inventory import FileRow, InstantRow, LeftOut, SliceRow
from nbcc.engine.file_names import parse_base, parse_log
from nbcc.engine.names import bucket_of
from nbcc.engine.storage import open_storage

from .scene import Bar, Chip, Files, Group, Lane, Slice, Status, Times
from .style import SERVICE, WRITERS, Hue

if TYPE_CHECKING:
    from nbcc.engine.reads.times import Time

MOST_INSTANTS = 24
MOST_GROUPS = 8
MOST_SLICES = 4
_FIELDS = ((0, 4, ""), (4, 6, "-"), (6, 8, "-"), (8, 10, " "), (10, 12, ":"), (12, 14, ":"), (14, 17, "."))
"""Year to millisecond: the digits of each in an instant, and what separates it from the one before."""

_GroupKey = tuple[str, str]


def scenes_of_table(table: Any, as_of: Time | None) -> tuple[Times, Files]:
    """Return the timeline and the files of a table for drawing. `table` is a `Table`, a path or URL, or an `Inventory`
    (for which `as_of` must be None).
    """
    if isinstance(table, Inventory):
        if as_of is not None:
            raise TypeError("an Inventory is of one time: inspect the table as of another")
        return scenes_of_inventory(table)
    storage = open_storage(table) if isinstance(table, (str, os.PathLike)) else table.context.storage
    now = inspect(storage)
    names = TimeNames(now)
    seen = now if as_of is None else inspect(storage, as_of)
    return times(names, seen), files(names, seen)


def scenes_of_inventory(inventory: Inventory) -> tuple[Times, Files]:
    names = TimeNames(inventory)
    return times(names, inventory), files(names, inventory)


class TimeNames:
    """The names of times (t1, t2, ... in chronological order) and the lanes of instants, which all pictures of a table
    share.
    """

    def __init__(self, now: Inventory) -> None:
        clock_times = {time for i in now.instants for time in (i.requested, i.completed) if time}
        self.names = {time: f"t{number}" for number, time in enumerate(sorted(clock_times), start=1)}
        self.merges = now.type == "MERGE_ON_READ"
        self.instants = {i.requested: i for i in now.instants}
        self.lane_of = dict(self._packed(now.instants))

    def _packed(self, instants: tuple[InstantRow, ...]) -> Iterator[tuple[str, tuple[str, int]]]:
        """Yield the requested time of each instant, and the lane in which it is drawn: (kind of lane, index among the
        lanes of this kind). An instant is placed in the first lane of its kind that is free at its requested time.
        """
        free: dict[str, list[str]] = {}
        for instant in sorted(instants, key=lambda i: i.requested):
            kind = self.kind(instant)
            ends = free.setdefault(kind, [])
            number = next((n for n, end in enumerate(ends) if end < instant.requested), len(ends))
            ends[number : number + 1] = [instant.completed or "~"]
            yield instant.requested, (kind, number)

    def kind(self, instant: InstantRow) -> str:
        """Return the kind of lane in which an instant is drawn, such as "writes" or "compaction". In a merge-on-read
        table, the action "commit" denotes a compaction, because writers create delta commits.
        """
        if instant.action == "compaction" or (instant.action == "commit" and self.merges):
            return "compaction"
        return "writes" if instant.action in ("deltacommit", "commit", "replacecommit") else instant.action

    def hue(self, requested: str) -> Hue:
        return _hue_of(*self.lane_of.get(requested, ("", 0)))

    def name(self, time: str) -> str:
        """Return the name of a time: t1, t2, and so on. The times of archived instants are returned as date and time.
        """
        return self.names.get(time) or clock(time)

    def log_name(self, name: str, requested: str) -> str:
        parsed = parse_log(name)
        return f"{self.name(requested)}.log.{parsed.version}" if parsed else self.name(requested)


# time


def times(names: TimeNames, seen: Inventory, most: int = MOST_INSTANTS) -> Times:
    """Return the description of a picture of the timeline. There is a column for each time at which an instant was
    requested or completed.
    """
    instants = seen.instants[-most:]
    columns = sorted({time for i in instants for time in (i.requested, i.completed) if time})
    lanes = sorted({names.lane_of[i.requested] for i in instants}, key=lambda lane: (lane[0] != "writes", lane))
    shared, labels = shortened_times(columns)
    left_out = len(seen.instants) - len(instants)
    earlier = f"{left_out} earlier instants are not shown" if left_out else ""
    distances = "times in their order, at equal distances" if columns else ""
    captions = [f"UTC {shared}" if shared else "", distances, earlier]
    return Times(
        axis="clock",
        columns=tuple(labels),
        lanes=tuple(Lane("" if number else kind, _hue_of(kind, number)) for kind, number in lanes),
        bars=tuple(_bar(names, instant, columns, lanes) for instant in instants),
        caption="; ".join(caption for caption in captions if caption),
    )


def _bar(names: TimeNames, instant: InstantRow, columns: list[str], lanes: list[tuple[str, int]]) -> Bar:
    kind = names.kind(instant)
    return Bar(
        name=instant.requested,
        lane=lanes.index(names.lane_of[instant.requested]),
        start=columns.index(instant.requested),
        end=columns.index(instant.completed) if instant.completed else len(columns),
        ending="completed" if instant.completed else "pending",
        begins=names.name(instant.requested),
        ends=names.name(instant.completed) if instant.completed else "",
        content=kind if kind != "writes" else counted(instant.files, "file"),
        barrier=kind == "compaction",
    )


# files


def files(names: TimeNames, seen: Inventory) -> Files:
    """Return the file groups to draw. A group contains its newest slices, and the data files that belong to no slice.
    """
    rows: dict[_GroupKey, list[SliceRow]] = {}
    for row in seen.slices:
        rows.setdefault((row.partition, row.file_group), []).append(row)
    loose: dict[_GroupKey, list[LeftOut]] = {}
    for file in _loose(seen):
        loose.setdefault((file.partition, _file_id(file.name)), []).append(file)
    groups = sorted(rows.keys() | loose.keys(), key=natural)
    orders = {barrier: n for n, barrier in enumerate(sorted({row.barrier or "" for row in seen.slices} | {""}))}
    shown = groups[:MOST_GROUPS]
    older = sum(max(0, len(rows.get(group, ())) - MOST_SLICES) for group in shown)
    left_out = ((len(groups) - len(shown), "file group"), (older, "older slice"))
    words = " and ".join(counted(number, thing) for number, thing in left_out if number)
    return Files(
        tuple(
            Group(_label(group), tuple(_slices(names, rows.get(group, []), loose.get(group, []), orders, seen.as_of)))
            for group in shown
        ),
        f"{words} not shown" if words else "",
    )


def natural(key: Sequence[str]) -> list[list[tuple[bool, int, str]]]:
    """Return a sort key for natural order: numbers in strings are compared by value, so that 2 precedes 10."""
    return [[(not p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in re.split(r"(\d+)", k)] for k in key]


def _loose(seen: Inventory) -> Iterator[LeftOut]:
    """Yield the data files outside all slices. Base files of pending plans, and files created after the time of the
    picture, are omitted.
    """
    then = {i.requested for i in seen.instants}
    planned = {row.barrier for row in seen.slices if row.role == "planned"}
    for file in seen.left_out:
        if file.requested not in planned and (seen.as_of is None or file.requested in then):
            yield file


def _slices(
    names: TimeNames, rows: list[SliceRow], loose: list[LeftOut], orders: dict[str, int], as_of: str | None
) -> Iterator[Slice]:
    newest_first = sorted(rows, key=lambda row: row.barrier or "", reverse=True)
    places = [row.barrier or "" for row in newest_first] or [""]
    chips: dict[str, list[Chip]] = {}
    for file in loose:
        chips.setdefault(_place(names, file, places, as_of), []).append(_left_out(names, file, as_of))
    if not newest_first:
        yield Slice("", 0, "", tuple(chips[""]), hidden=False, reason="")
    base = ""
    for row in newest_first[:MOST_SLICES]:
        superseded, barrier = row.role == "superseded", row.barrier or ""
        yield Slice(
            "", orders[barrier], names.name(barrier) if barrier else "",
            (*_chips(names, row, base if superseded else ""), *chips.get(barrier, ())), superseded,
            f"replaced by base {base}" if superseded else "",
        )  # fmt: skip
        base = names.name(row.base.requested) if row.base else base


def _place(names: TimeNames, file: LeftOut, newest_first: list[str], as_of: str | None) -> str:
    """Return the barrier of the slice in which to draw a file that belongs to no slice.

    If the file's write is pending, this is the newest slice of the file group. For other files, the completion time
    determines the slice; if it is unknown, the requested time does.
    """
    if _is_pending(names, file, as_of):
        return newest_first[0]
    instant = names.instants.get(file.requested)
    time = (instant and instant.completed) or file.requested
    return next((barrier for barrier in newest_first if barrier <= time), newest_first[-1])


def _is_pending(names: TimeNames, file: LeftOut, as_of: str | None) -> bool:
    instant = names.instants.get(file.requested)
    return instant is not None and (instant.completed is None or (as_of or "~") < instant.completed)


def _chips(names: TimeNames, row: SliceRow, newer_base: str) -> Iterator[Chip]:
    """Yield the files of a slice for drawing. `newer_base` names the base file that hides the slice, or is '' if the
    slice is read.
    """
    status: Status = "hidden" if newer_base else "read"
    if row.base:
        yield Chip("", "base", f"base {names.name(row.base.requested)}", "", (size(row.base.size),), SERVICE, status)
    elif row.barrier:
        yield Chip("", "base", f"base {names.name(row.barrier)}", "", ("planned",), SERVICE, "pending")
    for file in row.tombstones:
        yield Chip("", "log", "kept records", "", (f"of base {names.name(file.requested)}",), SERVICE, status)
    for file in row.logs:
        yield _log(names, file, f"in base {newer_base}" if newer_base else "")


def _log(names: TimeNames, file: FileRow, merged: str) -> Chip:
    at = f"@{names.name(file.completed)}" if file.completed else ""
    return Chip(
        "", "log", names.log_name(file.name, file.requested), at, (merged or size(file.size),),
        names.hue(file.requested), "merged" if merged else "read",
    )  # fmt: skip


def _left_out(names: TimeNames, file: LeftOut, as_of: str | None) -> Chip:
    pending = _is_pending(names, file, as_of)
    base = parse_base(file.name) is not None
    text = f"base {names.name(file.requested)}" if base else names.log_name(file.name, file.requested)
    return Chip(
        "", "base" if base else "log", text, "", ("not completed" if pending else "counted by no read",),
        SERVICE if base else names.hue(file.requested), "pending" if pending else "hidden",
    )  # fmt: skip


def _hue_of(kind: str, number: int) -> Hue:
    return WRITERS[number % len(WRITERS)] if kind == "writes" else SERVICE


def _file_id(name: str) -> str:
    parsed = parse_base(name) or parse_log(name)
    return parsed.file_id if parsed else ""


def _label(group: _GroupKey) -> str:
    partition, file_id = group
    bucket = bucket_of(file_id)
    name = f"file group {file_id[:8]}" if bucket is None else f"file group {bucket}"
    return f"{partition}, {name}" if partition else name


def counted(number: int, thing: str) -> str:
    """Return a count with its noun, such as ``1 file`` or ``3 files``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def clock(instant: str, first: int = 0) -> str:
    """Format an instant as date and time, such as ``2026-11-21 18:31:09.412``. `first` is the first field to include,
    from 0 (year) to 6 (milliseconds).
    """
    parts = [(instant[start:end], sign) for start, end, sign in _FIELDS[first:] if instant[start:end]]
    return "".join(text if place == 0 else sign + text for place, (text, sign) in enumerate(parts))


def shortened_times(times: list[str]) -> tuple[str, list[str]]:
    """Remove the prefix that all times share: the date, or the date with hour and minute. Returns the prefix and the
    remaining part of each time.
    """
    shared = 0
    while shared < 5 and len({time[: _FIELDS[shared][1]] for time in times}) == 1:
        shared += 1
    shared = {1: 0, 2: 0, 4: 3}.get(shared, shared)  # a date, or a date with hour and minute
    if not times or not shared:
        return "", [clock(time) for time in times]
    return clock(times[0][: _FIELDS[shared - 1][1]]), [clock(time, shared) for time in times]
