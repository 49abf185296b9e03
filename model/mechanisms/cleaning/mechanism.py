"""Cleaning deletes the files that are needed only by reads before the horizon (the oldest completion time that can be
read).

Under the lock, a cleaner makes a plan that contains the files to delete and the horizon. Once the plan is on the
timeline, reads before the horizon are refused, whether or not the planned files have been deleted. A cleaner that
resumes a pending plan deletes the remaining files of the plan; an absent file is not an error. The cleaner then
publishes the clean. The module `rules` decides which files a clean may delete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from math import inf
from typing import Any, NamedTuple

from ...kernel.clock import READS_CLOCK, TakeTime
from ...kernel.compactor import COMPACTOR, PLANS, READS_INPUT
from ...kernel.lock import LOCK_IS_FREE
from ...kernel.publication import Publication, publication, publication_actions
from ...kernel.reader import READER_READS, Reader
from ...kernel.table import Plan, Table
from ...kernel.timeline import Published, add_pending_plans
from ...machine.composition import Composition
from ...machine.mechanism import Kind, Mechanism
from ...machine.plans import PlanRunner, Runner, none_pending, plans_and_runs
from ...machine.transition import Action, Args, Changes, Component, Guard, limit_left, preset, transition
from ...rules import Rules
from ...validation import whole_number
from ...world import World
from ..log_compaction.rules import log_plans_of
from .rules import (
    Clean,
    Cleaning,
    Cleans,
    CompletedClean,
    DataFile,
    SlicesSinceHorizon,
    Victims,
    horizon,
    needed,
    published_horizon,
    since,
    superseded,
    taken_files,
)

Plans = tuple[Clean, ...]
CLEANED_TABLE, CLEAN_PLAN = "cleaned_table", "clean_plan"
"""Views: the table from which a clean deletes files, and the clean that would be planned now."""

CLEANER_SCHEDULES_CLEAN = "cleaner_schedules_clean"
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
    """Add cleaners to the model, and let readers and compactors handle deleted files."""
    if not composition.actors_of(CLEANER):
        return
    composition.add_component("cleans", ())
    composition.add_component("deleted", frozenset())
    composition.map_view(CLEANED_TABLE, cleaned_table)
    policies = {me: composition.world.limits_of(me, Cleans).commits_retained for me in composition.actors_of(CLEANER)}
    composition.map_view(CLEAN_PLAN, preset(clean_plan, retained=policies))
    add_pending_plans(composition, "cleans", "clean", lambda entry: isinstance(entry, CompletedClean))
    for me in composition.actors_of(CLEANER):
        composition.add(
            transition(CLEANER_SCHEDULES_CLEAN, me, at="idle", to=PLANNED, effect=take_time,
                       guards=(LOCK_IS_FREE, CLEAN_LEFT, NO_CLEAN_PENDING, FILES_TO_DELETE),
                       changes=("own", "clock"), tags=(PLANS, READS_CLOCK)).extend(put_plan, "cleans"),
            transition("cleaner_deletes_files", me, at=CLEANING, effect=delete_files, arguments=next_group,
                       changes=("own", "deleted")),
        )  # fmt: skip
        runs = Runner("cleaner", me, "cleans", "clean", start, CompletedClean, "cleaner_resumes_clean", "clean")
        plans_and_runs(composition, CLEANER_SCHEDULES_CLEAN, "cleaner_starts_clean", Cleaner(), runs, at=PLANNED)
        publication(composition, Publication("cleaner", me, "cleaned", partial(published_clean, me), "clean"))
    miss_deleted_files(composition)


def cleaned_table(completed_table: Table, cleans: Plans, published: Published, world: World, rules: Rules) -> Table:
    """Define the view `cleaned_table`: the table without the file slices that the cleaning horizon makes invisible.

    With log compactions, the view is the whole table: an older slice may still have logs that an earlier clean kept for
    a log compaction that was pending.
    """
    if log_plans_of(completed_table):
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


CLEAN_LEFT = limit_left("a clean must be left", "cleans", lambda world: world[Cleans].cleans)
NO_CLEAN_PENDING = Guard("no clean may be pending", preset(none_pending, plans=Component("cleans")))
FILES_TO_DELETE = Guard("there must be a file that no read needs", files_to_delete)


def take_time(clock: int, request_time: TakeTime, clean_plan: CleanPlan, cleans: Plans, latest_time: int) -> Changes:
    """Under the lock, select the files to delete and take a requested time for the clean."""
    # Later than all that is on the timeline, also by clocks that differ.
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


# What readers and compactors do if a clean has deleted a file that they need.


def miss_deleted_files(composition: Composition) -> None:
    """A read ends without an answer if a clean has deleted a file that the read needs. A compactor stops if a clean has
    deleted an input file of the compaction plan.
    """
    composition.find(READER_READS).divert(misses_file, end_without_answer)
    # Only a clean that breaks its promise deletes a file of a pending plan.
    composition.find(READS_INPUT, actors=composition.actors_of(COMPACTOR)).require(INPUT_IS_THERE)


def misses_file(own: Reader, kept_table: Table, deleted: frozenset[DataFile], world: World, rules: Rules) -> bool:
    """True if a clean has deleted a file that the read needs."""
    # As a snapshot of what was kept: the reader has left later instants out already.
    opened = (needed(rules, kept_table, group, inf) for group in range(world.groups))
    return not deleted.isdisjoint(chain.from_iterable(opened))


def end_without_answer(own: Reader, cleans: tuple[Clean, ...], published: Published, rules: Rules) -> Changes:
    """End a read that needs a deleted file. The reader ends in the step "refused" if its time is before the cleaning
    horizon, and otherwise in "lost".
    """
    behind = own.time < published_horizon(rules, cleans, published)
    return {"own": own._replace(step="refused" if behind else "lost")}


def inputs_are_there(own: PlanRunner, plans: tuple[Plan, ...], deleted: frozenset[DataFile]) -> bool:
    parts = (plan.part_in(own.group) for plan in plans if plan.requested == own.plan)
    # A plan that is no longer there, because a restore has undone it, has no input that could be missing.
    return all(part is not None and deleted.isdisjoint(taken_files(part)) for part in parts)


INPUT_IS_THERE = Guard("the files that the plan takes must be there", inputs_are_there)


def check(world: World) -> None:
    """Raise ValueError if the world has a cleaner and `commits_retained` is 0."""
    least = int(world.actors.get("cleaner", 0) > 0)
    whole_number(world[Cleans].commits_retained, "world: commits_retained", least=least)


MECHANISM = Mechanism(
    rules=lambda protocol: (SlicesSinceHorizon,),
    rules_need_use=True,
    compose=compose,
    kinds=(CLEANER,),
    options=Cleaning,
    limits=Cleans,
    check=check,
    service=True,
    actions=(
        Action(CLEANER_SCHEDULES_CLEAN, "under the lock: takes a requested time and puts the plan with its horizon",
               "{actor} schedules a clean"),
        Action("cleaner_starts_clean", "puts the inflight instant of the clean it scheduled",
               "{actor} starts its clean"),
        Action("cleaner_deletes_files", "deletes the superseded files of one file group",
               "{actor} deletes the superseded files of group {group}", data_phase=True),
        *publication_actions("cleaner"),
    ),
)  # fmt: skip
