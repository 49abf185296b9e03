"""A savepoint pins the table as of the newest completed instant, until the savepoint is dropped.

Under the table's lock, a savepointer (an actor that creates savepoints) lists the files that a read as of the pinned
instant opens. The savepointer puts the inflight savepoint, and then the completed savepoint, on the timeline. A
savepoint has the same requested time as the pinned instant. A clean is planned under the same lock; by default, it
retains the files of every savepoint.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

from ..kernel.clock import READS_CLOCK, TakeTime
from ..kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, released
from ..kernel.table import Instant, Table
from ..kernel.timeline import LATEST, PENDING, Published
from ..machine.composition import Composition
from ..machine.mechanism import Kind, Mechanism
from ..machine.options import Limits, Options, limit, option
from ..machine.transition import Action, Changes, Guard, transition
from ..rules import Rules
from ..world import World
from .cleaning.cleaner import CLEAN_PLAN, CLEANED_TABLE, CleanPlan
from .cleaning.rules import DataFile, Victims, needed
from .log_compaction.rules import WRITES, covered


class Savepoints(Options):
    """The option that decides which files cleans retain for a savepoint."""

    savepoint_keeps: Literal["files", "base_files", "nothing"] = option(
        "files",
        "the files that a clean keeps for a savepoint. files: all that the savepoint names; base_files: the base files "
        "among them; nothing: none",
    )


class SavepointLimits(Limits):
    """The limits on how many savepoints are created and dropped."""

    savepoints: int = limit(0, "how many savepoints may be begun")
    savepoints_dropped: int = limit(0, "how many savepoints may be dropped")


class Savepoint(NamedTuple):
    """A savepoint of the instant with the requested time `requested` and the completion time `at`. `files` contains the
    files that a read as of `at` needs.

    `writes` lists the requested times of the writes that had completed when the inflight savepoint was put. `completed`
    is None while the savepoint is inflight.
    """

    requested: int
    at: int
    files: tuple[DataFile, ...]
    writes: tuple[int, ...]
    completed: int | None = None


def files_as_of(rules: Rules, table: Table, groups: int, time: int) -> tuple[DataFile, ...]:
    """Return the files that a read as of `time` needs, and also the input logs of each needed compacted log."""
    files: set[DataFile] = set()
    for group in range(groups):
        opened = needed(rules, table, group, time)
        logs = tuple((file.requested, file.version) for file in opened if file.version)
        files |= {*opened, *(DataFile(group, *log) for log in covered(table, group, logs))}
    return tuple(sorted(files))


def kept(rules: Rules, savepoints: tuple[Savepoint, ...]) -> frozenset[DataFile]:
    """Return the files that a clean must retain for completed savepoints."""
    keeps = rules[Savepoints].savepoint_keeps
    if keeps == "nothing":
        return frozenset()
    files = (file for each in savepoints if each.completed is not None for file in each.files)
    return frozenset(file for file in files if keeps == "files" or not file.version)


def without(victims: tuple[Victims, ...], files: frozenset[DataFile]) -> tuple[Victims, ...]:
    """Remove `files` from the files that a clean plan deletes in each file group."""
    left = (each._replace(files=tuple(file for file in each.files if file not in files)) for each in victims)
    return tuple(each for each in left if each.files)


Saved = tuple[Savepoint, ...]
PINNED = "about to publish its savepoint"


class Savepointer(NamedTuple):
    """The state of one savepointer (an actor that creates savepoints). `pinned` is the requested time of the pinned
    instant.
    """

    step: str = "idle"
    pinned: int = 0
    records: tuple[Any, ...] = ()


def compose(composition: Composition) -> None:
    """Add savepoint actors to a model, and make cleaners retain the files of savepoints.

    The component (state variable) `savepoints` contains the savepoints on the timeline. The components `saved` and
    `dropped` count the savepoints created and dropped so far.
    """
    savepointers = composition.actors_of("savepointer")
    if not savepointers:
        return
    composition.add_component("savepoints", ())
    composition.add_component("saved", 0)
    composition.add_component("dropped", 0)
    composition.map_view(PENDING, pending_savepoints)
    composition.map_view(LATEST, latest_time)
    if composition.actors_of("cleaner"):
        composition.map_view(CLEANED_TABLE, cleaned_table)
        composition.map_view(CLEAN_PLAN, clean_plan)
    drops = (LOCK_IS_FREE, DROP_LEFT, SOME_SAVEPOINT)
    for me in savepointers:
        composition.add(
            transition("savepointer_pins_instant", me, at="idle", to=PINNED, effect=pin_instant,
                       guards=(LOCK_IS_FREE, SAVEPOINT_LEFT, CAN_BE_PINNED),
                       changes=("own", "lock", "saved", "savepoints")),
            transition("savepointer_publishes_savepoint", me, at=PINNED, guards=(HOLDS_LOCK,),
                       effect=publish_savepoint, changes=("own", "lock", "clock", "savepoints"), tags=(READS_CLOCK,)),
        )  # fmt: skip
        if composition.world[SavepointLimits].savepoints_dropped:
            composition.add(transition("savepointer_drops_savepoint", me, at="idle", guards=drops,
                                       effect=drop_savepoint, changes=("dropped", "savepoints")))  # fmt: skip


def newest(published: Published) -> Any | None:
    """Return the last published instant that adds data files; None if there is none."""
    return next((entry for entry in reversed(published) if isinstance(entry, WRITES)), None)


def savepoint_is_left(saved: int, world: World) -> bool:
    return saved < world[SavepointLimits].savepoints


def newest_is_not_pinned(savepoints: Saved, published: Published) -> bool:
    entry = newest(published)
    pinned = {each.requested for each in savepoints if each.completed is not None}
    return entry is not None and entry.requested not in pinned


def drop_is_left(dropped: int, world: World) -> bool:
    return dropped < world[SavepointLimits].savepoints_dropped


def some_savepoint(savepoints: Saved) -> bool:
    return bool(savepoints)


SAVEPOINT_LEFT = Guard("a savepoint must be left", savepoint_is_left, limit=True)
CAN_BE_PINNED = Guard("the newest completed instant must be there, and not pinned yet", newest_is_not_pinned)
DROP_LEFT = Guard("a savepoint must be left to drop", drop_is_left, limit=True)
SOME_SAVEPOINT = Guard("there must be a savepoint", some_savepoint)


def pin_instant(
    own: Savepointer, me: str, saved: int, savepoints: Saved, published: Published, completed_table: Table,
    world: World, rules: Rules,
) -> Changes:  # fmt: skip
    """Take the lock, and put the inflight savepoint with the files that a read as of the pinned instant opens."""
    entry = newest(published)
    assert entry is not None, "the guard found one"
    files = files_as_of(rules, completed_table, world.groups, entry.completed)
    others = tuple(each for each in savepoints if each.requested != entry.requested)
    writes = tuple(write.requested for write in completed_table.writes)
    begun = Savepoint(entry.requested, entry.completed, files, writes)
    own = own._replace(pinned=entry.requested)
    return {"own": own, "lock": me, "saved": saved + 1, "savepoints": (*others, begun)}


def publish_savepoint(
    own: Savepointer, me: str, lock: str | None, clock: int, completion_time: TakeTime, savepoints: Saved
) -> Changes:
    """Put the completed savepoint and release the lock."""
    # The savepoint itself may have been dropped, if its lock was lost.
    after = max((time for each in savepoints for time in (each.at, each.completed or 0)), default=0)
    completed, clock = completion_time(clock, after=after)
    done = (each._replace(completed=completed) if each.requested == own.pinned else each for each in savepoints)
    return {"own": Savepointer(), "lock": released(lock, me), "clock": clock, "savepoints": tuple(done)}


def drop_savepoint(dropped: int, savepoints: Saved) -> Changes:
    """Under the lock, remove the oldest savepoint from the timeline."""
    return {"dropped": dropped + 1, "savepoints": savepoints[1:]}


def cleaned_table(completed_table: Table) -> Table:
    """Define the view `cleaned_table` as the whole table, not only the slices that no clean has covered. An older slice
    may still have files that a clean retained for a savepoint.
    """
    return completed_table


def clean_plan(clean_plan: CleanPlan, savepoints: Saved, rules: Rules) -> CleanPlan:
    """Define the view `clean_plan`: omit the files that must be retained for savepoints."""
    return clean_plan._replace(groups=without(clean_plan.groups, kept(rules, savepoints)))


def latest_time(latest_time: int, savepoints: Saved) -> int:
    """Redefine the view `latest_time` to be no earlier than the requested time of any savepoint."""
    return max(latest_time, *(each.requested for each in savepoints), 0)


def pending_savepoints(pending_instants: Iterable[Instant], savepoints: Saved) -> Iterable[Instant]:
    """Add all savepoints to the view `pending_instants`, so that no instant requested after a savepoint is archived."""
    yield from pending_instants
    for each in savepoints:
        yield Instant(each.requested, "savepoint", "completed" if each.completed else "inflight", each.completed)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(Kind(name="savepointer", prefix="save", first=Savepointer(), service=True),),
    options=Savepoints,
    limits=SavepointLimits,
    after=("cleaning",),
    service=True,
    actions=(
        Action("savepointer_pins_instant",
               "takes the lock; puts the inflight savepoint of the newest completed instant",
               "{actor} pins the newest completed instant"),
        Action("savepointer_publishes_savepoint", "puts the completed savepoint with its files, releases the lock",
               "{actor} publishes its savepoint"),
        Action("savepointer_drops_savepoint", "under the lock: takes the oldest savepoint off the timeline",
               "{actor} drops the oldest savepoint"),
    ),
)  # fmt: skip
