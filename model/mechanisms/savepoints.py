"""A savepoint pins the table as of the newest completed instant, until the savepoint is dropped.

Under the table's lock, a savepointer (an actor that creates savepoints) lists the files that a read as of the pinned
instant opens. The savepointer puts the inflight savepoint, and then the completed savepoint, on the timeline. A
savepoint has the same requested time as the pinned instant. A clean is planned under the same lock; by default, it
retains the files of every savepoint. Dropping a savepoint is one atomic step: it requires that the lock is free, which
stands for taking the lock, dropping the savepoint and releasing the lock.
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
from ..machine.transition import Action, Changes, Guard, limit_left, transition
from ..rules import Rules
from ..world import World
from .cleaning.mechanism import CLEAN_PLAN, CLEANED_TABLE, CLEANER, CleanPlan
from .cleaning.rules import DataFile, Victims, needed
from .log_compaction.rules import ADDS_FILES, with_inputs


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
    is None while the savepoint is inflight. `planned_from` is the time reserved by the last entry of a log of announced
    commits from which the files were found; 0 if no clean can delete them meanwhile.
    """

    requested: int
    at: int
    files: tuple[DataFile, ...]
    writes: tuple[int, ...]
    completed: int | None = None
    planned_from: int = 0


def files_as_of(rules: Rules, table: Table, groups: int, time: int) -> tuple[DataFile, ...]:
    """Return the files that a read as of `time` needs, and also the input logs of each needed compacted log."""
    files: set[DataFile] = set()
    for group in range(groups):
        opened = needed(rules, table, group, time)
        logs = tuple((file.requested, file.version) for file in opened if file.version)
        files |= {*opened, *(DataFile(group, *log) for log in with_inputs(table, group, logs))}
    return tuple(sorted(files))


SavepointList = tuple[Savepoint, ...]


def retained_files(rules: Rules, savepoints: SavepointList) -> frozenset[DataFile]:
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


SAVEPOINTER_PINS_INSTANT = "savepointer_pins_instant"
SAVEPOINTER_PUBLISHES_SAVEPOINT = "savepointer_publishes_savepoint"
PINNED = "about to publish its savepoint"


class Savepointer(NamedTuple):
    """The state of one savepointer (an actor that creates savepoints). `pinned` is the requested time of the pinned
    instant. `records` is where other mechanisms add their fields (machine/effects.py).
    """

    step: str = "idle"
    pinned: int = 0
    records: tuple[Any, ...] = ()


SAVEPOINTER = Kind(name="savepointer", prefix="save", first=Savepointer(), service=True)


def compose(composition: Composition) -> None:
    """Add savepoint actors to a model, and make cleaners retain the files of savepoints.

    The component (state variable) `savepoints` contains the savepoints on the timeline. The components
    `savepoints_begun` and `dropped` count the savepoints begun and dropped so far, because a savepoint that is dropped
    still counts towards the limit.
    """
    savepointers = composition.actors_of(SAVEPOINTER)
    if not savepointers:
        return
    composition.add_component("savepoints", ())
    composition.add_component("savepoints_begun", 0)
    composition.add_component("dropped", 0)
    composition.map_view(PENDING, pending_savepoints)
    composition.map_view(LATEST, latest_time)
    if composition.actors_of(CLEANER):
        composition.map_view(CLEANED_TABLE, cleaned_table)
        composition.map_view(CLEAN_PLAN, clean_plan)
    drops = (LOCK_IS_FREE, DROP_LEFT, SOME_SAVEPOINT)
    for me in savepointers:
        composition.add(
            transition(SAVEPOINTER_PINS_INSTANT, me, at="idle", to=PINNED, effect=pin_instant,
                       guards=(LOCK_IS_FREE, SAVEPOINT_LEFT, CAN_BE_PINNED),
                       changes=("own", "lock", "savepoints_begun", "savepoints")),
            transition(SAVEPOINTER_PUBLISHES_SAVEPOINT, me, at=PINNED, guards=(HOLDS_LOCK,),
                       effect=publish_savepoint, changes=("own", "lock", "clock", "savepoints"), tags=(READS_CLOCK,)),
        )  # fmt: skip
        if composition.world[SavepointLimits].savepoints_dropped:
            composition.add(transition("savepointer_drops_savepoint", me, at="idle", guards=drops,
                                       effect=drop_savepoint, changes=("dropped", "savepoints")))  # fmt: skip


def newest_with_files(published: Published) -> Any | None:
    """Return the last published instant that adds data files; None if there is none."""
    return next((entry for entry in reversed(published) if isinstance(entry, ADDS_FILES)), None)


def newest_is_not_pinned(savepoints: SavepointList, published: Published) -> bool:
    entry = newest_with_files(published)
    pinned = {each.requested for each in savepoints if each.completed is not None}
    return entry is not None and entry.requested not in pinned


def some_savepoint(savepoints: SavepointList) -> bool:
    return bool(savepoints)


SAVEPOINT_LEFT = limit_left(
    "a savepoint must be left", "savepoints_begun", lambda world: world[SavepointLimits].savepoints
)
CAN_BE_PINNED = Guard("the newest completed instant must be there, and not pinned yet", newest_is_not_pinned)
DROP_LEFT = limit_left(
    "a savepoint must be left to drop", "dropped", lambda world: world[SavepointLimits].savepoints_dropped
)
SOME_SAVEPOINT = Guard("there must be a savepoint", some_savepoint)


def pin_instant(
    own: Savepointer, me: str, savepoints_begun: int, savepoints: SavepointList, published: Published,
    completed_table: Table, world: World, rules: Rules,
) -> Changes:  # fmt: skip
    """Take the lock, and put the inflight savepoint with the files that a read as of the pinned instant opens."""
    entry = newest_with_files(published)
    assert entry is not None, "the guard found one"
    files = files_as_of(rules, completed_table, world.groups, entry.completed)
    # A crashed savepointer may have left an inflight savepoint of the same instant: the new one replaces it.
    others = tuple(each for each in savepoints if each.requested != entry.requested)
    writes = tuple(write.requested for write in completed_table.writes)
    begun = Savepoint(entry.requested, entry.completed, files, writes)
    own = own._replace(pinned=entry.requested)
    return {"own": own, "lock": me, "savepoints_begun": savepoints_begun + 1, "savepoints": (*others, begun)}


def publish_savepoint(
    own: Savepointer, me: str, lock: str | None, clock: int, completion_time: TakeTime, savepoints: SavepointList
) -> Changes:
    """Put the completed savepoint and release the lock."""
    # The savepoint itself may have been dropped, if its lock was lost.
    after = max((time for each in savepoints for time in (each.at, each.completed or 0)), default=0)
    completed, clock = completion_time(clock, after=after)
    savepoints = tuple(
        each._replace(completed=completed) if each.requested == own.pinned else each for each in savepoints
    )
    return {"own": Savepointer(), "lock": released(lock, me), "clock": clock, "savepoints": savepoints}


def drop_savepoint(dropped: int, savepoints: SavepointList) -> Changes:
    """Remove the oldest savepoint from the timeline, in one atomic step."""
    # `pin_instant` appends, so the first savepoint is the oldest.
    return {"dropped": dropped + 1, "savepoints": savepoints[1:]}


def cleaned_table(completed_table: Table) -> Table:
    """Define the view `cleaned_table` as the whole table, not only the slices that no clean has covered. An older slice
    may still have files that a clean retained for a savepoint.
    """
    return completed_table


def clean_plan(clean_plan: CleanPlan, savepoints: SavepointList, rules: Rules) -> CleanPlan:
    """Define the view `clean_plan`: omit the files that must be retained for savepoints."""
    return clean_plan._replace(groups=without(clean_plan.groups, retained_files(rules, savepoints)))


def latest_time(latest_time: int, savepoints: SavepointList) -> int:
    """Redefine the view `latest_time` to be no earlier than the requested time of any savepoint: an actor that takes a
    requested time takes one later than every instant that it lists, and it lists the savepoints.
    """
    return max(latest_time, *(each.requested for each in savepoints), 0)


def pending_savepoints(pending_instants: Iterable[Instant], savepoints: SavepointList) -> Iterable[Instant]:
    """Add all savepoints to the view `pending_instants`, so that no instant requested after a savepoint is archived."""
    yield from pending_instants
    for each in savepoints:
        yield Instant(each.requested, "savepoint", "completed" if each.completed else "inflight", each.completed)


MECHANISM = Mechanism(
    compose=compose,
    kinds=(SAVEPOINTER,),
    options=Savepoints,
    limits=SavepointLimits,
    after=("cleaning",),  # whose views it redefines
    service=True,
    actions=(
        Action(SAVEPOINTER_PINS_INSTANT,
               "takes the lock; puts the inflight savepoint of the newest completed instant",
               "{actor} pins the newest completed instant"),
        Action(SAVEPOINTER_PUBLISHES_SAVEPOINT, "puts the completed savepoint with its files, releases the lock",
               "{actor} publishes its savepoint"),
        Action("savepointer_drops_savepoint", "under the lock: takes the oldest savepoint off the timeline",
               "{actor} drops the oldest savepoint"),
    ),
)  # fmt: skip
