"""Cleaners: a plan made under the lock says which files go and the horizon, then they go, then a completed instant.

Once the plan is there, a read before its horizon is refused, whether or not its files are gone already. Whoever takes
up the clean of a dead cleaner deletes the same files; one that is gone is no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ..cleaning import horizon, published_horizon, since, superseded
from ..clock import clock_of
from ..conditions import at, lock_is_free
from ..publication import publication_actions, publication_rows
from ..resuming import resuming
from ..step import Action, Args, Guard, Row
from ..table import Clean, Cleaned, DataFile, Instant, Plan, Victims, table_of
from . import Setting

KIND, PREFIX = "cleaner", "d"
IN_RANDOM_WORLDS = 1
SERVICE = True
ACTIONS = (
    Action("cleaner_schedules_clean", "under the lock: takes a requested time and puts the plan with its horizon",
           "{actor} schedules a clean"),
    Action("cleaner_starts_clean", "puts the inflight instant of the clean it scheduled", "{actor} starts its clean"),
    Action("cleaner_resumes_clean", "takes up the oldest pending clean whose runner died",
           "{actor} takes up the clean of a dead cleaner"),
    Action("cleaner_deletes_files", "deletes the superseded files of one file group",
           "{actor} deletes the superseded files of group {group}"),
    *publication_actions(KIND),
)  # fmt: skip


class Cleaner(NamedTuple):
    """`clean` is the requested time of the clean it scheduled or runs, `groups` what it deletes, `gone` how many did.

    `retained`: how many commits its policy retains.
    """

    retained: int
    step: str = "idle"
    clean: int = 0
    groups: tuple[Victims, ...] = ()
    gone: int = 0
    completed: int = 0
    dead: bool = False

    @property
    def busy(self) -> bool:
        """In the midst of an operation."""
        return not self.dead and self.step != "idle"


def components(setting: Setting) -> dict[str, Any]:
    cleaners = setting.of(KIND)
    shared = {"cleans": (), "deleted": frozenset()} if cleaners else {}
    return {**shared, **{me: Cleaner(setting.world.commits_retained) for me in cleaners}}


def rows(setting: Setting) -> Iterator[Row]:
    for me in setting.of(KIND):
        yield _scheduling(me, setting)
        yield _resuming(me, setting)
        yield from _running(me, setting)


def _scheduling(me: str, setting: Setting) -> Row:
    world, protocol = setting.world, setting.protocol
    clocks = clock_of(world, protocol)
    log_plans = ("log_plans",) if "log_plans" in setting.first else ()

    def planned(
        own: Cleaner, cleans: Any, published: Any, plans: Any, deleted: frozenset[DataFile], *logs: tuple[Plan, ...]
    ) -> Any:
        known = published_horizon(cleans, published, protocol)
        found = table_of(published, plans, log_plans=logs[0] if logs else ())
        table = since(found, world.groups, known, protocol)
        bound = horizon(table, own.retained)
        return (bound, superseded(table, world.groups, bound, deleted, protocol) if bound is not None else ())

    def schedules(
        own: Cleaner, lock: None, clock: int, cleans: tuple[Clean, ...], *seen: Any, ahead: int = 0
    ) -> tuple[Any, ...]:
        bound, groups = planned(own, cleans, *seen)
        published, plans, _, *logs = seen
        begun = (*plans, *cleans, *(plan for each in logs for plan in each))
        known = (*(entry.completed for entry in published), *(each.requested for each in begun))
        time, later = clocks.take(clock, ahead, after=max(known))
        started = own._replace(step="about to start its clean", clean=time, groups=groups)
        return started, later, (*cleans, Clean(time, bound, me, False, groups))

    guards = (
        lock_is_free(),
        Guard("a clean must be left", lambda *v: len(v[3]) < world.cleans, budget=True),
        Guard("no clean may be pending", lambda *v: {c.requested for c in v[3]} <= {e.requested for e in v[4]}),
        Guard("there must be a file that nobody needs", lambda *v: bool(planned(v[0], *v[3:])[1])),
    )
    reads = (me, "lock", "clock", "cleans", "published", "plans", "deleted", *log_plans)
    return Row("cleaner_schedules_clean", me, reads, (me, "clock", "cleans"), (at(me, "idle"),), schedules, guards,
               lambda *_: clocks.readings())  # fmt: skip


def _resuming(me: str, setting: Setting) -> Row:
    return resuming("cleaner_resumes_clean", me, setting.of(KIND), known="published", plans="cleans", finished=Cleaned,
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

    yield Row("cleaner_starts_clean", me, (me, "cleans"), (me, "cleans"), (at(me, "about to start its clean"),), starts)
    yield Row("cleaner_deletes_files", me, (me, "deleted"), (me, "deleted"), (at(me, "cleaning"),), deletes,
              choices=next_group)  # fmt: skip
    yield from publication_rows(KIND, me, "cleaned", setting, publish, requested=lambda own: own.clean)


def _started(own: Cleaner, me: str, started: Clean, cleans: tuple[Clean, ...]) -> tuple[Any, ...]:
    own = own._replace(step="cleaning", clean=started.requested, groups=started.groups, gone=0)
    return own, tuple(c._replace(runner=me, inflight=True) if c == started else c for c in cleans)


def pending(setting: Setting, values: Mapping[str, Any]) -> Iterator[Instant]:
    done = {entry.requested for entry in values["published"]}
    for each in values.get("cleans", ()):
        if each.requested not in done:
            yield Instant(each.requested, "clean", "inflight" if each.inflight else "requested", None)
