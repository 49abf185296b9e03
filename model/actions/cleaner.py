"""Cleaners: a plan made under the lock says which files go and the horizon, then they go, then a completed instant.

Once the plan is there, a read before its horizon is refused, whether or not its files are gone already. Whoever takes
up the clean of a dead cleaner deletes the same files; one that is gone is no error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple

from ..kernel.table import DataFile, Instant, Plan, table_of
from ..machine.transition import Action, Args, Changes, Guard, Transition, transition
from ..mechanisms.cleaning import Clean, Cleaned, Victims, horizon, published_horizon, since, superseded
from ..mechanisms.log_compaction import with_log_plans
from ..mechanisms.savepoints import Savepoint, kept, without
from ..rules import rules_of
from ..timeline.clock import clock_of
from ..timeline.decisions import last_time
from ..timeline.plans_by_log import Planning, planning
from ..timeline.publication import publication, publication_actions
from ..timeline.resuming import resuming, starting
from ..world import World
from . import Setting

Published = tuple[Any, ...]
Plans = tuple[Plan, ...]
Cleans = tuple[Clean, ...]

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


def transitions(setting: Setting) -> Iterator[Transition]:
    for me in setting.of(KIND):
        yield from planning(me, setting, Planning(
            actions=("cleaner_schedules_clean", "cleaner_takes_time", "cleaner_puts_plan"),
            guards=(CLEAN_LEFT, NO_CLEAN_PENDING, FILES_TO_DELETE),
            look=look, put=put, plans="cleans", requested="clean", too_late=become_idle, timed=TIMED,
        ))  # fmt: skip
        yield resuming("cleaner_resumes_clean", KIND, me, setting, plans="cleans", finished=Cleaned, start=started,
                       what="clean")  # fmt: skip
        yield starting("cleaner_starts_clean", me, at=PLANNED, plans="cleans", field="clean", start=started)
        yield transition("cleaner_deletes_files", me, at="cleaning", effect=delete_files, arguments=next_group,
                         changes=("own", "deleted"))  # fmt: skip
        yield from publication(KIND, me, "cleaned", setting, partial(published_clean, me), requested="clean")


def clean_is_left(cleans: Cleans, world: World) -> bool:
    return len(cleans) < world.cleans


def no_clean_is_pending(cleans: Cleans, published: Published) -> bool:
    return {clean.requested for clean in cleans} <= {entry.requested for entry in published}


def planned(
    own: Cleaner, setting: Setting, cleans: Cleans, published: Published, plans: Plans, deleted: frozenset[DataFile],
    log_plans: Plans = (), savepoints: tuple[Savepoint, ...] | None = None,
) -> tuple[int | None, tuple[Victims, ...]]:  # fmt: skip
    """The horizon of a clean that is planned now, and the files that it deletes."""
    world, rules = setting.world, rules_of(setting.protocol)
    table = with_log_plans(table_of(published, plans), published, log_plans)
    if savepoints is None:  # else files that a savepoint kept from earlier cleans may be left
        table = since(rules, table, world.groups, published_horizon(rules, cleans, published))
    bound = horizon(table, own.retained)
    if bound is None:
        return bound, ()
    found = superseded(rules, table, world.groups, bound, deleted)
    return bound, found if savepoints is None else without(found, kept(rules, savepoints))


def files_to_delete(
    own: Cleaner, setting: Setting, cleans: Cleans, published: Published, plans: Plans, deleted: frozenset[DataFile],
    log_plans: Plans = (), savepoints: tuple[Savepoint, ...] | None = None,
) -> tuple[Victims, ...]:  # fmt: skip
    return planned(own, setting, cleans, published, plans, deleted, log_plans, savepoints)[1]


CLEAN_LEFT = Guard("a clean must be left", clean_is_left, limit=True)
NO_CLEAN_PENDING = Guard("no clean may be pending", no_clean_is_pending)
FILES_TO_DELETE = Guard("there must be a file that nobody needs", files_to_delete)


def look(
    own: Cleaner, clock: int, setting: Setting, cleans: Cleans, published: Published, plans: Plans,
    deleted: frozenset[DataFile], log_plans: Plans = (), savepoints: tuple[Savepoint, ...] | None = None,
    decisions: tuple[Any, ...] = (), *, ahead: int = 0,
) -> Changes:  # fmt: skip
    """Find the files that no read needs, and take a requested time."""
    bound, groups = planned(own, setting, cleans, published, plans, deleted, log_plans, savepoints)
    assert bound is not None, "the guard found files to delete"
    begun: tuple[Any, ...] = (*plans, *cleans, *log_plans, *(savepoints or ()))
    known = (*(entry.completed for entry in published), *(each.requested for each in begun), last_time(decisions))
    time, later = clock_of(setting.world, setting.protocol).take(clock, ahead, after=max(known))
    return {"own": own._replace(step=TIMED, clean=time, groups=groups, horizon=bound), "clock": later}


def put(own: Cleaner, me: str, cleans: Cleans) -> Changes:
    """Put the plan with its horizon."""
    plan = Clean(own.clean, own.horizon, me, False, own.groups)
    return {"own": own._replace(step=PLANNED, seen=0, horizon=0), "cleans": (*cleans, plan)}


def become_idle(own: Cleaner) -> Changes:
    return {"own": Cleaner(own.retained)}


def next_group(own: Cleaner) -> Iterable[Args]:
    return ((("group", own.groups[own.gone].group),),)


def delete_files(own: Cleaner, deleted: frozenset[DataFile]) -> Changes:
    """Delete the superseded files of one file group."""
    last = own.gone + 1 == len(own.groups)
    after = own._replace(step="cleaned" if last else "cleaning", gone=own.gone + 1)
    return {"own": after, "deleted": deleted | set(own.groups[own.gone].files)}


def published_clean(me: str, own: Cleaner) -> tuple[Cleaner, Cleaned]:
    """The cleaner after its clean is published, and the entry."""
    return Cleaner(own.retained), Cleaned(own.clean, own.completed, me)


def started(own: Cleaner, me: str, clean: Clean, cleans: Cleans) -> tuple[Cleaner, Cleans]:
    """The cleaner at work on a clean."""
    own = own._replace(step="cleaning", clean=clean.requested, groups=clean.groups, gone=0)
    return own, tuple(c._replace(runner=me, inflight=True) if c == clean else c for c in cleans)


def pending(published: tuple[Any, ...], cleans: tuple[Clean, ...] = ()) -> Iterator[Instant]:
    """The pending cleans."""
    done = {entry.requested for entry in published if isinstance(entry, Cleaned)} if cleans else ()
    for each in cleans:
        if each.requested not in done:
            yield Instant(each.requested, "clean", "inflight" if each.inflight else "requested", None)
