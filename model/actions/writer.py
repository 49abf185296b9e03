"""Writers under NBCC: upserts and deletes into log files of their own, no look at anybody else (RFC-66).

A writer takes a requested time, puts its log files one by one, and publishes. None of its guards reads another's data
phase, and no row value is in its component: the search needs no data.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..clock import requests_of
from ..conditions import at, lock_is_free
from ..publication import publication_actions, publication_rows
from ..step import Action, Args, Guard, Row
from ..table import Instant, Plan, Write
from . import Setting

KIND, PREFIX = "writer", "w"
IN_RANDOM_WORLDS = 3
ACTIONS = (
    Action("writer_requests_instant", "under the lock: takes a requested time and puts the requested instant",
           "{actor} requests an instant"),
    Action("writer_starts_writing", "puts the inflight instant", "{actor} starts writing"),
    Action("writer_writes_log", "puts one log file, named by its own instant and a version",
           "{actor} writes log version {version} of group {group}"),
    *publication_actions(KIND),
)  # fmt: skip


class Writer(NamedTuple):
    """`number` counts its writes from 1, `files` the log files of this write that are there.

    `bases` (layout before RFC-66 only): per file group the barrier it found when it started writing.
    """

    step: str = "idle"
    number: int = 0
    requested: int = 0
    completed: int = 0
    files: int = 0
    bases: tuple[int | None, ...] = ()
    inflight: bool = False
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    return {me: Writer() for me in setting.of(KIND)}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _rows_of(me, setting)


def _rows_of(me: str, setting: Setting) -> Iterator[Row]:
    world = setting.world
    left = Guard(f"{me} must have a write left", lambda own: own.number < world.writes_per_writer, budget=True)
    looks_up = setting.protocol.slicing == "base_instant"

    times = requests_of(setting, me)

    def requests(own: Writer, lock: None, clock: int, *seen: Any, ahead: int = 0) -> tuple[Any, ...]:
        time, later = times.take("deltacommit", clock, seen, ahead)
        return Writer("requested", own.number + 1, time), later

    def starts(own: Writer, plans: tuple[Plan, ...] = ()) -> tuple[Any, ...]:
        newest = (max((p.requested for p in plans if p.of(group)), default=None) for group in range(world.groups))
        return (own._replace(step="writing", inflight=True, bases=tuple(newest) if looks_up else ()),)

    def next_file(own: Writer) -> Iterable[Args]:
        group, version = world.files(me, own.number)[own.files]
        return ((("group", group), ("version", version)),)

    def writes(own: Writer, group: int, version: int) -> tuple[Any, ...]:
        last = own.files + 1 == len(world.files(me, own.number))
        return (own._replace(step="written" if last else "writing", files=own.files + 1),)

    def publish(own: Writer) -> tuple[Writer, Write]:
        files = world.files(me, own.number)
        return Writer(number=own.number), Write(own.requested, own.completed, me, own.number, files, own.bases)

    yield Row("writer_requests_instant", me, (me, "lock", "clock", *times.reads), (me, "clock"), (at(me, "idle"), left),
              requests, (lock_is_free(),), lambda *_: times.clock.readings())  # fmt: skip
    yield Row("writer_starts_writing", me, (me, "plans") if looks_up else (me,), (me,), (at(me, "requested"),), starts)
    yield Row("writer_writes_log", me, (me,), (me,), (at(me, "writing"),), writes, choices=next_file)
    yield from publication_rows(KIND, me, "written", setting, publish)


def unpublished(setting: Setting, values: Mapping[str, Any]) -> tuple[Write, ...]:
    """The writes that have put log files and are not published: what a reader or planner that does not ask sees."""
    return tuple(
        Write(w.requested, None, me, w.number, setting.world.files(me, w.number)[: w.files], w.bases)
        for me, w in ((me, values[me]) for me in setting.of(KIND))
        if w.files
    )


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    for me in setting.of(KIND):
        writer = values[me]
        if writer.requested:
            yield Instant(writer.requested, "deltacommit", "inflight" if writer.inflight else "requested", None)
