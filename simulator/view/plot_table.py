"""The scenes of a Hudi table, from what `inspect` finds: names, times and sizes, never rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from nbcc.engine.audit import Inventory, inspect
from nbcc.engine.audit.inventory import FileRow, InstantRow, LeftOut, SliceRow
from nbcc.engine.file_names import parse_base, parse_log
from nbcc.engine.names import bucket_of
from nbcc.engine.storage import open_storage

from .plot_scene import Bar, Chip, Files, Group, Lane, Slice, Status, Times
from .style import SERVICE, WRITERS, Hue

if TYPE_CHECKING:
    from nbcc.engine.reads.times import Time

MOST_INSTANTS = 24
MOST_GROUPS = 8
MOST_SLICES = 4
_FIELDS = ((0, 4, ""), (4, 6, "-"), (6, 8, "-"), (8, 10, " "), (10, 12, ":"), (12, 14, ":"), (14, 17, "."))
"""Year to millisecond: where each lies in an instant, and what is put before it."""


def scenes_of_table(table: Any, as_of: Time | None) -> tuple[Times, Files]:
    """Of a `Table`, the path or URL of one, or an `Inventory`; a time only where the table is looked at here."""
    if isinstance(table, Inventory):
        if as_of is not None:
            raise TypeError("an Inventory is of one time: inspect the table as of another")
        return _scenes(table, table)
    storage = open_storage(table) if isinstance(table, (str, os.PathLike)) else table.context.storage
    now = inspect(storage)
    return _scenes(now, now if as_of is None else inspect(storage, as_of))


def _scenes(now: Inventory, seen: Inventory) -> tuple[Times, Files]:
    names = _Names(now)
    return names.times(seen), names.files(seen)


class _Names:
    """Names of times (t1, t2, ... by the clock) and lanes of instants, the same at whatever time a table is drawn."""

    def __init__(self, now: Inventory) -> None:
        times = {time for i in now.instants for time in (i.requested, i.completed) if time}
        self.names = {time: f"t{number}" for number, time in enumerate(sorted(times), start=1)}
        self.merges = now.type == "MERGE_ON_READ"
        self.rows = {i.requested: i for i in now.instants}
        self.lane_of = dict(self._packed(now.instants))

    def _packed(self, instants: tuple[InstantRow, ...]) -> Iterator[tuple[str, tuple[str, int]]]:
        """Requested time -> (kind of lane, number): the first lane on which nothing is going on."""
        free: dict[str, list[str]] = {}
        for instant in sorted(instants, key=lambda i: i.requested):
            kind = self._kind(instant)
            ends = free.setdefault(kind, [])
            number = next((n for n, end in enumerate(ends) if end < instant.requested), len(ends))
            ends[number : number + 1] = [instant.completed or "~"]
            yield instant.requested, (kind, number)

    def _kind(self, instant: InstantRow) -> str:
        if self._is_compaction(instant):
            return "compaction"
        return "writes" if instant.action in ("deltacommit", "commit", "replacecommit") else instant.action

    def _is_compaction(self, instant: InstantRow) -> bool:
        """In a merge-on-read table writers make delta commits, so that a commit is a completed compaction."""
        return instant.action == "compaction" or (instant.action == "commit" and self.merges)

    def _hue(self, requested: str) -> Hue:
        kind, number = self.lane_of.get(requested, ("", 0))
        return WRITERS[number % len(WRITERS)] if kind == "writes" else SERVICE

    def name(self, time: str) -> str:
        """t1, t2, ...; a time that has left for the archive is told by itself."""
        return self.names.get(time) or clock(time)

    # time

    def times(self, seen: Inventory) -> Times:
        """Columns are the times of the clock at which something happened."""
        shown = seen.instants[-MOST_INSTANTS:]
        times = sorted({time for i in shown for time in (i.requested, i.completed) if time})
        lanes = sorted({self.lane_of[i.requested] for i in shown}, key=lambda lane: (lane[0] != "writes", lane))
        shared, labels = shortened(times)
        left_out = len(seen.instants) - len(shown)
        words = [f"UTC {shared}" if shared else "", f"{left_out} earlier instants are not shown" if left_out else ""]
        return Times(
            axis="clock",
            columns=tuple(labels),
            lanes=tuple(Lane("" if number else kind, _hue_of(kind, number)) for kind, number in lanes),
            bars=tuple(self._bar(instant, times, lanes) for instant in shown),
            caption="; ".join(word for word in words if word),
        )

    def _bar(self, instant: InstantRow, times: list[str], lanes: list[tuple[str, int]]) -> Bar:
        kind = self._kind(instant)
        return Bar(
            lane=lanes.index(self.lane_of[instant.requested]),
            start=times.index(instant.requested),
            end=times.index(instant.completed) if instant.completed else len(times),
            ending="completed" if instant.completed else "pending",
            begins=self.name(instant.requested),
            ends=self.name(instant.completed) if instant.completed else "",
            says=kind if kind != "writes" else counted(instant.files, "file"),
            barrier=kind == "compaction",
        )

    # files

    def files(self, seen: Inventory) -> Files:
        """Slices by group and barrier; data files that no read counts lie in the newest slice of their group."""
        groups: dict[tuple[str, str], list[SliceRow]] = {}
        for row in seen.slices:
            groups.setdefault((row.partition, row.file_group), []).append(row)
        loose: dict[tuple[str, str], list[LeftOut]] = {}
        for each in self._loose(seen):
            loose.setdefault((each.partition, _file_id(each.name)), []).append(each)
        every = sorted(groups.keys() | loose.keys())
        orders = {barrier: n for n, barrier in enumerate(sorted({row.barrier or "" for row in seen.slices} | {""}))}
        shown = tuple(
            Group(_label(group), tuple(self._slices(groups.get(group, []), loose.get(group, []), orders, seen.as_of)))
            for group in every[:MOST_GROUPS]
        )
        hidden = len(every) - len(shown)
        older = sum(max(0, len(groups.get(group, ())) - MOST_SLICES) for group in every[:MOST_GROUPS])
        left_out = (
            counted(number, thing) for number, thing in ((hidden, "file group"), (older, "older slice")) if number
        )
        words = " and ".join(left_out)
        return Files(shown, f"{words} not shown" if words else "")

    def _loose(self, seen: Inventory) -> Iterator[LeftOut]:
        """Data files outside every slice, without those that were not there yet and the base files of a plan."""
        then = {i.requested for i in seen.instants}
        planned = {row.barrier for row in seen.slices if row.role == "planned"}
        for file in seen.left_out:
            if file.requested not in planned and (seen.as_of is None or file.requested in then):
                yield file

    def _slices(
        self, rows: list[SliceRow], loose: list[LeftOut], orders: dict[str, int], as_of: str | None
    ) -> Iterator[Slice]:
        newest_first = sorted(rows, key=lambda row: row.barrier or "", reverse=True)[:MOST_SLICES]
        pending = tuple(self._left_out(file, as_of) for file in loose)
        if not newest_first and pending:
            yield Slice(0, "", pending, hidden=False, reason="")
        base = ""
        for place, row in enumerate(newest_first):
            superseded = row.role == "superseded"
            chips = (*self._chips(row, base if superseded else ""), *(pending if place == 0 else ()))
            reason = f"replaced by base {base}" if superseded else ""
            name = self.name(row.barrier) if row.barrier else ""
            yield Slice(orders[row.barrier or ""], name, chips, superseded, reason)
            base = self.name(row.base.requested) if row.base else base

    def _chips(self, row: SliceRow, newer_base: str) -> Iterator[Chip]:
        """`newer_base` stands for the slice: it holds the rows of all its files."""
        if row.base:
            status: Status = "hidden" if newer_base else "read"
            yield Chip("base", f"base {self.name(row.base.requested)}", "", size(row.base.size), SERVICE, status)
        elif row.barrier:
            yield Chip("base", f"base {self.name(row.barrier)}", "", "planned", SERVICE, "pending")
        for file in row.tombstones:
            yield Chip("log", "tombstones", "", f"kept by base {self.name(file.requested)}", SERVICE,
                       "hidden" if newer_base else "read")  # fmt: skip
        for file in row.logs:
            yield self._log(file, f"in base {newer_base}" if newer_base else "")

    def _log(self, file: FileRow, merged: str) -> Chip:
        at = f"@{self.name(file.completed)}" if file.completed else ""
        status: Status = "merged" if merged else "read"
        return Chip("log", self._log_name(file.name, file.requested), at, merged or size(file.size),
                    self._hue(file.requested), status)  # fmt: skip

    def _left_out(self, file: LeftOut, as_of: str | None) -> Chip:
        instant = self.rows.get(file.requested)
        pending = instant is not None and (instant.completed is None or (as_of or "~") < instant.completed)
        base = parse_base(file.name) is not None
        text = f"base {self.name(file.requested)}" if base else self._log_name(file.name, file.requested)
        note = "not completed" if pending else "counted by no read"
        return Chip("base" if base else "log", text, "", note, SERVICE if base else self._hue(file.requested),
                    "pending" if pending else "hidden")  # fmt: skip

    def _log_name(self, name: str, requested: str) -> str:
        parsed = parse_log(name)
        return f"{self.name(requested)}.log.{parsed.version}" if parsed else self.name(requested)


def _hue_of(kind: str, number: int) -> Hue:
    return WRITERS[number % len(WRITERS)] if kind == "writes" else SERVICE


def _file_id(name: str) -> str:
    parsed = parse_base(name) or parse_log(name)
    return parsed.file_id if parsed else ""


def _label(group: tuple[str, str]) -> str:
    partition, file_id = group
    bucket = bucket_of(file_id)
    name = f"file group {file_id[:8]}" if bucket is None else f"file group {bucket}"
    return f"{partition}, {name}" if partition else name


def counted(number: int, thing: str) -> str:
    """``1 file``, ``3 files``."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def size(count: int) -> str:
    """Bytes for people: ``512 B``, ``7.4 kB``, ``1.2 GB``."""
    value, units = float(count), ("B", "kB", "MB", "GB", "TB")
    for unit in units:
        if value < 1000 or unit == units[-1]:
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    raise AssertionError("the last unit takes everything")


def clock(instant: str, first: int = 0) -> str:
    """``2026-11-21 18:31:09.412`` of an instant's digits, from its `first` field on (0: year, 6: milliseconds)."""
    parts = [(instant[start:end], sign) for start, end, sign in _FIELDS[first:] if instant[start:end]]
    return "".join(text if place == 0 else sign + text for place, (text, sign) in enumerate(parts))


def shortened(times: list[str]) -> tuple[str, list[str]]:
    """What all times share, in whole fields up to the minute, and each time without it."""
    shared = 0
    while shared < 5 and len({time[: _FIELDS[shared][1]] for time in times}) == 1:
        shared += 1
    shared = {1: 0, 2: 0, 4: 3}.get(shared, shared)  # a date, or a date with hour and minute
    if not times or not shared:
        return "", [clock(time) for time in times]
    return clock(times[0][: _FIELDS[shared - 1][1]]), [clock(time, shared) for time in times]
