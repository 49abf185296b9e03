"""Savepointers: the state after the newest completed instant is pinned, until the savepoint is dropped.

Under one lock: which files a read as of that instant opens, then the inflight instant, then the completed one. A
savepoint carries the requested time of what it pins. Whoever plans a clean does so under the same lock, so that it
keeps the files of every savepoint that is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, released
from ..kernel.table import Instant, Plan, table_of
from ..machine.transition import Action, Changes, Guard, Transition, transition
from ..mechanisms.log_compaction import with_log_plans
from ..mechanisms.restores import WRITES
from ..mechanisms.savepoints import Savepoint, files_as_of
from ..rules import rules_of
from ..timeline.clock import clock_of, clock_readings
from ..world import World
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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield transition("savepointer_pins_instant", me, at="idle", to=PINNED,
                         guards=(LOCK_IS_FREE, SAVEPOINT_LEFT, CAN_BE_PINNED), effect=pin_instant,
                         changes=("own", "lock", "saved", "savepoints"))  # fmt: skip
        holds = () if setting.world.lock_losses else (HOLDS_LOCK,)
        yield transition("savepointer_publishes_savepoint", me, at=PINNED, guards=holds, arguments=clock_readings,
                         effect=publish_savepoint, changes=("own", "lock", "clock", "savepoints"))  # fmt: skip
        if setting.world.savepoints_dropped:
            yield transition("savepointer_drops_savepoint", me, at="idle",
                             guards=(LOCK_IS_FREE, DROP_LEFT, SOME_SAVEPOINT), effect=drop_savepoint,
                             changes=("dropped", "savepoints"))  # fmt: skip


def newest(published: tuple[Any, ...]) -> Any | None:
    """The completed instant that was published last of those that add files."""
    return next((entry for entry in reversed(published) if isinstance(entry, WRITES)), None)


def savepoint_is_left(saved: int, world: World) -> bool:
    return saved < world.savepoints


def newest_is_not_pinned(savepoints: tuple[Savepoint, ...], published: tuple[Any, ...]) -> bool:
    entry = newest(published)
    pinned = {each.requested for each in savepoints if each.completed is not None}
    return entry is not None and entry.requested not in pinned


def drop_is_left(dropped: int, world: World) -> bool:
    return dropped < world.savepoints_dropped


def some_savepoint(savepoints: tuple[Savepoint, ...]) -> bool:
    return bool(savepoints)


SAVEPOINT_LEFT = Guard("a savepoint must be left", savepoint_is_left, limit=True)
CAN_BE_PINNED = Guard("the newest completed instant must be there, and not pinned yet", newest_is_not_pinned)
DROP_LEFT = Guard("a savepoint must be left to drop", drop_is_left, limit=True)
SOME_SAVEPOINT = Guard("there must be a savepoint", some_savepoint)


def pin_instant(
    own: Savepointer, me: str, setting: Setting, saved: int, savepoints: tuple[Savepoint, ...],
    published: tuple[Any, ...], plans: tuple[Plan, ...], log_plans: tuple[Plan, ...] = (),
) -> Changes:  # fmt: skip
    """Take the lock and put the inflight savepoint, with the files that a read as of the pinned instant opens."""
    entry = newest(published)
    assert entry is not None, "the guard found one"
    table = with_log_plans(table_of(published, plans), published, log_plans)
    files = files_as_of(rules_of(setting.protocol), table, setting.world.groups, entry.completed)
    others = tuple(each for each in savepoints if each.requested != entry.requested)
    begun = Savepoint(entry.requested, entry.completed, files, tuple(write.requested for write in table.writes))
    own = own._replace(pinned=entry.requested)
    return {"own": own, "lock": me, "saved": saved + 1, "savepoints": (*others, begun)}


def publish_savepoint(
    own: Savepointer, me: str, lock: str | None, clock: int, savepoints: tuple[Savepoint, ...], setting: Setting,
    *, ahead: int = 0,
) -> Changes:  # fmt: skip
    """Put the completed savepoint and release the lock."""
    known = (time for each in savepoints for time in (each.at, each.completed or 0))
    after = max(known, default=0)  # the savepoint itself may have been dropped
    completed, later = clock_of(setting.world, setting.protocol).take(clock, ahead, after=after)
    done = (each._replace(completed=completed) if each.requested == own.pinned else each for each in savepoints)
    return {"own": Savepointer(), "lock": released(lock, me), "clock": later, "savepoints": tuple(done)}


def drop_savepoint(dropped: int, savepoints: tuple[Savepoint, ...]) -> Changes:
    """Under the lock: take the oldest savepoint off the timeline."""
    return {"dropped": dropped + 1, "savepoints": savepoints[1:]}


def pending(savepoints: tuple[Savepoint, ...] = ()) -> Iterator[Instant]:
    """The savepoints, completed ones as well: nothing may be archived past a savepoint."""
    for each in savepoints:
        yield Instant(each.requested, "savepoint", "completed" if each.completed else "inflight", each.completed)
