"""Savepointers: the state after the newest completed instant is pinned, until the savepoint is dropped.

Under one lock: which files a read as of that instant opens, then the inflight instant, then the completed one. A
savepoint carries the requested time of what it pins. Whoever plans a clean does so under the same lock, so that it
keeps the files of every savepoint that is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..services.archiving import WRITES
from ..services.savepoints import files_as_of
from ..step import Action, Guard, Row
from ..table import Instant, Savepoint, table_of
from ..timeline.clock import clock_of
from ..timeline.publication import believes, given_back
from . import Setting

KIND, PREFIX = "savepointer", "s"
SERVICE = True
ACTIONS = (
    Action("savepointer_pins_instant", "takes the lock; puts the inflight savepoint of the newest completed instant",
           "{actor} pins the newest completed instant"),
    Action("savepointer_publishes_savepoint", "puts the completed savepoint with its files, gives the lock back",
           "{actor} publishes its savepoint"),
    Action("savepointer_drops_savepoint", "under the lock: takes the oldest savepoint off the timeline",
           "{actor} drops the oldest savepoint"),
)  # fmt: skip

PINNED = "about to publish its savepoint"


class Savepointer(NamedTuple):
    """`pinned`: the requested time of the instant that it pins."""

    step: str = "idle"
    pinned: int = 0
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    """`savepoints`: those on the timeline; `saved`, `dropped`: how many were begun and dropped."""
    mine = setting.of(KIND)
    shared = {"savepoints": (), "saved": 0, "dropped": 0} if mine else {}
    return {**shared, **{me: Savepointer() for me in mine}}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _pinning(me, setting)
        yield _publishing(me, setting)
        if setting.world.savepoints_dropped:
            yield _dropping(me, setting)


def newest(published: tuple[Any, ...]) -> Any | None:
    """The completed instant that was published last of those that add files."""
    return next((entry for entry in reversed(published) if isinstance(entry, WRITES)), None)


def _pinning(me: str, setting: Setting) -> Row:
    world, protocol = setting.world, setting.protocol
    log_plans = setting.if_any("log_plans")

    def pins(own: Savepointer, lock: None, saved: int, there: tuple[Savepoint, ...], *seen: Any) -> tuple[Any, ...]:
        published, plans, *logs = seen
        entry = newest(published)
        assert entry is not None, "the guard saw the same timeline"
        table = table_of(published, plans, log_plans=logs[0] if logs else ())
        files = files_as_of(table, world.groups, entry.completed, protocol)
        others = tuple(each for each in there if each.requested != entry.requested)
        begun = Savepoint(entry.requested, entry.completed, files, tuple(write.requested for write in table.writes))
        return own._replace(step=PINNED, pinned=entry.requested), me, saved + 1, (*others, begun)

    def is_free(savepoints: tuple[Savepoint, ...], published: Any) -> bool:
        entry = newest(published)
        pinned = {each.requested for each in savepoints if each.completed is not None}
        return entry is not None and entry.requested not in pinned

    guards = (
        lock_is_free(),
        Guard("a savepoint must be left", lambda *v: v[2] < world.savepoints, budget=True),
        Guard("the newest completed instant must be there, and not pinned yet", lambda *v: is_free(v[3], v[4])),
    )
    writes = (me, "lock", "saved", "savepoints")
    return Row("savepointer_pins_instant", me, (*writes, "published", "plans", *log_plans), writes, (at(me, "idle"),),
               pins, guards)  # fmt: skip


def _publishing(me: str, setting: Setting) -> Row:
    clocks = clock_of(setting.world, setting.protocol)

    def publishes(
        own: Savepointer, lock: str, clock: int, savepoints: tuple[Savepoint, ...], ahead: int = 0
    ) -> tuple[Any, ...]:
        known = (time for each in savepoints for time in (each.at, each.completed or 0))
        completed, later = clocks.take(clock, ahead, after=max(known, default=0))  # it may have been dropped
        done = (each._replace(completed=completed) if each.requested == own.pinned else each for each in savepoints)
        return Savepointer(), given_back(me, lock), later, tuple(done)

    shared = (me, "lock", "clock", "savepoints")
    return Row("savepointer_publishes_savepoint", me, shared, shared, (at(me, PINNED),), publishes,
               believes(me, setting), lambda *_: clocks.readings())  # fmt: skip


def _dropping(me: str, setting: Setting) -> Row:
    most = setting.world.savepoints_dropped
    guards = (
        lock_is_free(),
        Guard("a savepoint must be left to drop", lambda *v: v[2] < most, budget=True),
        Guard("there must be a savepoint", lambda *v: bool(v[3])),
    )
    return Row("savepointer_drops_savepoint", me, (me, "lock", "dropped", "savepoints"), ("dropped", "savepoints"),
               (at(me, "idle"),), lambda own, lock, dropped, savepoints: (dropped + 1, savepoints[1:]),
               guards)  # fmt: skip


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    """Completed ones, too: nothing may be archived past a savepoint."""
    for each in values.get("savepoints", ()):
        yield Instant(each.requested, "savepoint", "completed" if each.completed else "inflight", each.completed)
