"""Cleaners plan a clean under the lock, delete the planned files, and publish the clean."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import PLANS
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication
from ...kernel.table import Instant, Table, pending_plans
from ...kernel.timeline import PENDING, Published
from ...machine.composition import Composition
from ...machine.mechanism import Kind
from ...machine.plans import Planner, Runner, runner
from ...machine.transition import Args, Changes, Guard, become, preset, transition
from ...rules import Rules
from ...world import World
from ..log_compaction.rules import log_compactions
from .options import Cleans
from .rules import Clean, CompletedClean, DataFile, Victims, horizon, published_horizon, since, superseded

Plans = tuple[Clean, ...]
CLEANED_TABLE, CLEAN_PLAN = "cleaned_table", "clean_plan"
"""Views: the table from which a clean deletes files, and the clean that would be planned now."""

PLANNED, CLEANING = "about to start its clean", "cleaning"


class Cleaner(NamedTuple):
    """The state of one cleaner. `clean` is the requested time of the cleaner's clean, and `groups` lists the files to
    delete in each file group. `gone` is the number of file groups whose planned files have been deleted.

    Until the plan is on the timeline, `horizon` is the horizon of the plan; afterwards, `horizon` is 0.
    """

    step: str = "idle"
    clean: int = 0
    groups: tuple[Victims, ...] = ()
    gone: int = 0
    completed: int = 0
    horizon: int = 0
    records: tuple[Any, ...] = ()


CLEANER = Kind(name="cleaner", prefix="clean", first=Cleaner(), in_random_worlds=(0, 1, 0, 2), service=True)


class CleanPlan(NamedTuple):
    """The files that a clean deletes in each file group, and the horizon (the oldest completion time that can be read).
    The horizon is 0 if fewer writes have completed than a clean retains.
    """

    horizon: int
    groups: tuple[Victims, ...]


def compose(composition: Composition) -> None:
    """Add the components (state variables), views and transitions of every cleaner to a model."""
    composition.add_component("cleans", ())
    composition.add_component("deleted", frozenset())
    composition.map_view(CLEANED_TABLE, cleaned_table)
    policies = {me: composition.world.limits_of(me, Cleans).commits_retained for me in composition.actors_of("cleaner")}
    composition.map_view(CLEAN_PLAN, preset(clean_plan, retained=policies))
    composition.map_view(PENDING, pending_cleans)
    for me in composition.actors_of("cleaner"):
        composition.add(
            transition("cleaner_schedules_clean", me, at="idle", to=PLANNED, effect=take_time,
                       guards=(LOCK_IS_FREE, CLEAN_LEFT, NO_CLEAN_PENDING, FILES_TO_DELETE),
                       changes=("own", "clock"), tags=(PLANS, READS_CLOCK)).extend(put_plan, "cleans"),
            transition("cleaner_deletes_files", me, at=CLEANING, effect=delete_files, arguments=next_group,
                       changes=("own", "deleted")),
        )  # fmt: skip
        composition.register(Planner("cleaner", me, "cleaner_schedules_clean", "cleans", "clean", become(Cleaner())))
        runs = Runner("cleaner", me, "cleans", "clean", start, CompletedClean, "cleaner_resumes_clean", "clean")
        runner(composition, "cleaner_starts_clean", PLANNED, runs)
        publication(composition, Publication("cleaner", me, "cleaned", partial(published_clean, me), "clean"))


def clean_is_left(cleans: Plans, world: World) -> bool:
    return len(cleans) < world[Cleans].cleans


def no_clean_is_pending(cleans: Plans, published: Published) -> bool:
    return {clean.requested for clean in cleans} <= {entry.requested for entry in published}


def cleaned_table(completed_table: Table, cleans: Plans, published: Published, world: World, rules: Rules) -> Table:
    """Define the view `cleaned_table`: the table without the file slices that the cleaning horizon makes invisible.

    With log compactions, the view is the whole table: an older slice may still have logs that an earlier clean kept for
    a log compaction that was pending.
    """
    if log_compactions(completed_table):
        return completed_table
    return since(rules, completed_table, world.groups, published_horizon(rules, cleans, published))


def clean_plan(
    me: str, cleaned_table: Table, deleted: frozenset[DataFile], world: World, rules: Rules,
    retained: Mapping[str, int],
) -> CleanPlan:  # fmt: skip
    """Define the view `clean_plan`: the horizon that a clean planned now would have, and the files that it would
    delete. `retained` maps each cleaner to the number of commits to retain.
    """
    found = horizon(cleaned_table, retained[me])
    if found is None:
        return CleanPlan(0, ())
    return CleanPlan(found, superseded(rules, cleaned_table, world.groups, found, deleted))


def files_to_delete(clean_plan: CleanPlan) -> tuple[Victims, ...]:
    return clean_plan.groups


CLEAN_LEFT = Guard("a clean must be left", clean_is_left, limit=True)
NO_CLEAN_PENDING = Guard("no clean may be pending", no_clean_is_pending)
FILES_TO_DELETE = Guard("there must be a file that no read needs", files_to_delete)


def take_time(clock: int, request_time: TakeTime, clean_plan: CleanPlan, cleans: Plans, latest_time: int) -> Changes:
    """Under the lock, select the files to delete and take a requested time for the clean."""
    after = max(latest_time, *(clean.requested for clean in cleans), 0)
    time, clock = request_time(clock, after=after, action="clean")
    return {"own": Cleaner(clean=time, groups=clean_plan.groups, horizon=clean_plan.horizon), "clock": clock}


def put_plan(own: Cleaner, me: str, cleans: Plans) -> Changes:
    plan = Clean(own.clean, own.horizon, me, False, own.groups)
    return {"own": own._replace(step=PLANNED, horizon=0), "cleans": (*cleans, plan)}


def start(own: Cleaner, clean: Clean) -> Cleaner:
    return own._replace(step=CLEANING, clean=clean.requested, groups=clean.groups, gone=0)


def next_group(own: Cleaner) -> Iterable[Args]:
    return ((("group", own.groups[own.gone].group),),)


def delete_files(own: Cleaner, deleted: frozenset[DataFile]) -> Changes:
    """Delete the planned files of the next file group."""
    last = own.gone + 1 == len(own.groups)
    after = own._replace(step="cleaned" if last else CLEANING, gone=own.gone + 1)
    return {"own": after, "deleted": deleted | set(own.groups[own.gone].files)}


def published_clean(me: str, own: Cleaner) -> tuple[Cleaner, CompletedClean]:
    return Cleaner(), CompletedClean(own.clean, own.completed, me)


def pending_cleans(pending_instants: Iterable[Instant], cleans: Plans, published: Published) -> Iterable[Instant]:
    """Add the pending cleans to the view `pending_instants`."""
    yield from pending_instants
    done = {entry.requested for entry in published if isinstance(entry, CompletedClean)} if cleans else ()
    yield from pending_plans(cleans, "clean", done)
