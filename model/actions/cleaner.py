"""Cleaners: a plan made under the lock says which files go and the horizon, then they go, then a completed instant.

Once the plan is there, a read before its horizon is refused, whether or not its files are gone already. Whoever takes
up the clean of a dead cleaner deletes the same files; one that is gone is no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..conditions import at, lock_is_free
from ..services.cleaning import horizon, published_horizon, since, superseded
from ..services.savepoints import kept, without
from ..step import Action, Args, Guard, Row
from ..table import Clean, Cleaned, DataFile, Instant, Victims, table_of
from ..timeline.clock import clock_of
from ..timeline.decisions import ALL_PUBLISHED, last_time, undecided
from ..timeline.publication import given_back, publication_actions, publication_rows, put_by_another
from ..timeline.resuming import resuming
from ..timeline.waiting import reading
from . import Setting

KIND, PREFIX = "cleaner", "d"
CHOOSES = ("completion_time",)
IN_RANDOM_WORLDS = 1
SERVICE = True
ACTIONS = (
    Action("cleaner_schedules_clean", "under the lock: takes a requested time and puts the plan with its horizon",
           "{actor} schedules a clean"),
    Action("cleaner_takes_time", "under a lock that can be lost: finds files that nobody needs, takes a requested time",
           "{actor} takes a time for its clean"),
    Action("cleaner_puts_plan", "puts that plan, or finds that something was decided meanwhile",
           "{actor} puts its plan of a clean"),
    Action("cleaner_starts_clean", "puts the inflight instant of the clean it scheduled", "{actor} starts its clean"),
    Action("cleaner_resumes_clean", "takes up the oldest pending clean whose runner died",
           "{actor} takes up the clean of a dead cleaner"),
    Action("cleaner_deletes_files", "deletes the superseded files of one file group",
           "{actor} deletes the superseded files of group {group}"),
    *publication_actions(KIND),
)  # fmt: skip


class Cleaner(NamedTuple):
    """`clean` is the requested time of the clean it scheduled or runs, `groups` what it deletes, `gone` how many did.

    `retained`: how many commits its policy retains. `horizon`: that of a plan that it has not put yet.
    `seen` (decision log only): how many decisions there were when it looked.
    """

    retained: int
    step: str = "idle"
    clean: int = 0
    groups: tuple[Victims, ...] = ()
    gone: int = 0
    completed: int = 0
    dead: bool = False
    seen: int = 0
    horizon: int = 0
    until: int = 0
    then: str = ""

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


TIMED, PLANNED = "given a time for its clean", "about to start its clean"


def components(setting: Setting) -> dict[str, Any]:
    cleaners = setting.of(KIND)
    shared = {"cleans": (), "deleted": frozenset()} if cleaners else {}
    return {**shared, **{me: Cleaner(setting.world.retained_by(me)) for me in cleaners}}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield from _scheduling(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Iterator[Row]:
    world, protocol = setting.world, setting.protocol
    clocks, fence = clock_of(world, protocol), put_by_another(setting)
    log_plans = setting.if_any("log_plans")
    saved = setting.if_any("savepoints")
    log = ("decisions",) if protocol.decision == "log" else ()
    before_log = len(log_plans) + len(saved)

    def planned(
        own: Cleaner, cleans: Any, published: Any, plans: Any, deleted: frozenset[DataFile], *more: tuple[Any, ...]
    ) -> Any:
        known = published_horizon(cleans, published, protocol)
        table = table_of(published, plans, log_plans=more[0] if log_plans else ())
        if not saved:  # else files that a savepoint kept from earlier cleans may be left
            table = since(table, world.groups, known, protocol)
        bound = horizon(table, own.retained)
        if bound is None:
            return bound, ()
        found = superseded(table, world.groups, bound, deleted, protocol)
        return bound, without(found, kept(more[len(log_plans)], protocol)) if saved else found

    def made(own: Cleaner, clock: int, cleans: tuple[Clean, ...], seen: tuple[Any, ...], ahead: int) -> Any:
        bound, groups = planned(own, cleans, *seen)
        published, plans, _, *more = seen
        begun = (*plans, *cleans, *(plan for each in more[:before_log] for plan in each))
        known = (*(entry.completed for entry in published), *(each.requested for each in begun))
        time, later = clocks.take(clock, ahead, after=max((*known, *map(last_time, more[before_log:]))))
        return own._replace(step=TIMED, clean=time, groups=groups, horizon=bound), later

    def schedules(own: Cleaner, lock: None, clock: int, cleans: Any, *seen: Any, ahead: int = 0) -> tuple[Any, ...]:
        new, later = made(own, clock, cleans, seen, ahead)
        return _planned(new), later, *_with_plan(me, new, cleans, seen[len(seen) - len(log) :])

    def takes_time(own: Cleaner, lock: None, clock: int, cleans: Any, *seen: Any, ahead: int = 0) -> tuple[Any, ...]:
        new, later = made(own, clock, cleans, seen, ahead)
        return new._replace(seen=len(seen[-1]) if log else 0), me, later, *((),) * len(fence)

    guards = [
        lock_is_free(),
        Guard("a clean must be left", lambda *v: len(v[3]) < world.cleans, budget=True),
        Guard("no clean may be pending", lambda *v: {c.requested for c in v[3]} <= {e.requested for e in v[4]}),
        Guard("there must be a file that nobody needs", lambda *v: bool(planned(v[0], *v[3:])[1])),
    ]
    if log:
        guards.append(Guard(ALL_PUBLISHED, lambda *v: not undecided(v[-1], v[4])))
    reads = (me, "lock", "clock", "cleans", "published", "plans", "deleted", *log_plans, *saved, *log)
    if world.lock_losses:
        yield reading(setting, Row("cleaner_takes_time", me, reads, (me, "lock", "clock", *fence), (at(me, "idle"),),
                                   takes_time, tuple(guards), lambda *_: clocks.readings()))  # fmt: skip
        yield _putting(me, log)
    else:
        yield Row("cleaner_schedules_clean", me, reads, (me, "clock", "cleans", *log), (at(me, "idle"),), schedules,
                  tuple(guards), lambda *_: clocks.readings())  # fmt: skip


def _putting(me: str, log: tuple[str, ...]) -> Row:
    """The plan of what nobody needed when it looked, under a lock that may be another's by now."""

    def puts(own: Cleaner, lock: str | None, cleans: tuple[Clean, ...], *decisions: tuple[Any, ...]) -> tuple[Any, ...]:
        there = any(clean.requested == own.clean for clean in cleans)  # put by another who read the same time
        if there or (log and len(decisions[0]) > own.seen):  # perhaps by a plan that needs its files
            return Cleaner(own.retained), given_back(me, lock), cleans, *decisions
        return _planned(own), given_back(me, lock), *_with_plan(me, own, cleans, decisions)

    reads = (me, "lock", "cleans", *log)
    return Row("cleaner_puts_plan", me, reads, reads, (at(me, TIMED),), puts)


def _planned(own: Cleaner) -> Cleaner:
    return own._replace(step=PLANNED, seen=0, horizon=0)


def _with_plan(me: str, own: Cleaner, cleans: tuple[Clean, ...], log: tuple[Any, ...]) -> tuple[Any, ...]:
    """All plans with its own; where decisions are logged it has taken a number as well."""
    return (*cleans, Clean(own.clean, own.horizon, me, False, own.groups)), *((*each, own.clean) for each in log)


def _resuming(me: str, setting: Setting) -> Row:
    # What is decided needs no runner any more: whoever decides next publishes it.
    known = "decisions" if setting.protocol.decision == "log" else "published"
    return resuming("cleaner_resumes_clean", me, setting.of(KIND), known=known, plans="cleans", finished=Cleaned,
                    take_up=lambda own, clean, cleans: _started(own, me, clean, cleans), what="clean")  # fmt: skip


def _running(me: str, setting: Setting) -> Iterator[Row]:
    def starts(own: Cleaner, cleans: tuple[Clean, ...]) -> tuple[Any, ...]:
        return _started(own, me, next(c for c in cleans if c.requested == own.clean), cleans)

    def next_group(own: Cleaner, deleted: Any) -> Iterable[Args]:
        return ((("group", own.groups[own.gone].group),),)

    def deletes(own: Cleaner, deleted: frozenset[DataFile], group: int) -> tuple[Any, ...]:
        last = own.gone + 1 == len(own.groups)
        after = own._replace(step="cleaned" if last else "cleaning", gone=own.gone + 1)
        return after, deleted | set(own.groups[own.gone].files)

    def publish(own: Cleaner) -> tuple[Cleaner, Cleaned]:
        return Cleaner(own.retained), Cleaned(own.clean, own.completed, me)

    yield Row("cleaner_starts_clean", me, (me, "cleans"), (me, "cleans"), (at(me, PLANNED),), starts)
    yield Row("cleaner_deletes_files", me, (me, "deleted"), (me, "deleted"), (at(me, "cleaning"),), deletes,
              choices=next_group)  # fmt: skip
    yield from publication_rows(KIND, me, "cleaned", setting, publish, requested=lambda own: own.clean)


def _started(own: Cleaner, me: str, started: Clean, cleans: tuple[Clean, ...]) -> tuple[Any, ...]:
    own = own._replace(step="cleaning", clean=started.requested, groups=started.groups, gone=0)
    return own, tuple(c._replace(runner=me, inflight=True) if c == started else c for c in cleans)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"] if isinstance(entry, Cleaned)}
    for each in values.get("cleans", ()):
        if each.requested not in done:
            yield Instant(each.requested, "clean", "inflight" if each.inflight else "requested", None)
