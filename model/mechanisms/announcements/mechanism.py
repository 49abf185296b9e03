"""Commits that actors announce, and that one entry of the decision log decides together.

An actor that has written its files announces its instant. Under `decision = free` no actor takes a lock: each actor
creates the next entry of the log, if another actor does not create it first. Under `decision = shared` only writers
announce (`locked`), and the holder of the lock creates the next entry. In both cases the entry decides every
announcement that its author listed. The items of an entry are published in ascending order, by its author or by any
actor that comes later, before the next entry is created. If an actor dies after its announcement, another actor decides
and publishes its instant.

Read `author` next (the steps, and why an actor fails at most twice), then `rules` (what an entry decides, and its
times).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ...kernel.compactor import COMPACTOR
from ...kernel.lock import HOLDS_LOCK, LOCK_IS_FREE, release_lock, take_lock
from ...kernel.publication import PUBLISHES, TAKES_COMPLETION_TIME, TAKES_LOCK, Publication
from ...kernel.reader import READER
from ...kernel.writer import WRITER
from ...machine.composition import Composition
from ...machine.mechanism import Mechanism
from ...machine.options import Limits, Options, overrides
from ...machine.selection import Selection
from ...machine.transition import CRASHES, Action, Guard, Transition, preset, transition
from ...protocol import Protocol
from ...variants.completion import Completion
from ...world import World
from ..cleaning.mechanism import CLEANER
from ..cleaning.rules import Cleans
from ..clocks import Clocks
from ..crashes import Crashes
from ..decision_log import TOGETHER, DecisionLog, decides_together
from ..fencing import Fencing
from ..lock_wait import LockWait
from ..occ.conflicts import Occ, has_optimistic_writers
from ..queries import QUERIER, AskedQueries
from ..restores.mechanism import RESTORER
from ..restores.rules import RestoreLimits
from ..rivals import PlanCheck
from ..rollback.rollbacker import ROLLBACKER
from ..rollback.rules import Failures, Rollbacks
from ..savepoints import SAVEPOINTER, SavepointLimits
from .author import (
    ALL_PUBLISHED,
    ANNOUNCED,
    DECIDED,
    KNOWS_TAIL,
    OPEN,
    REFUSED,
    Deciding,
    announce_instant,
    author_actions,
    author_steps,
    forget,
    on_timeline,
)
from .cut import CUTTER, Cuts, cut_actions, cut_log
from .locked import HOLDS, commit_alone, commits_alone, plan_alone, refuse_writer
from .optimistic import optimistic_writers
from .restoring import publication_of_savepoints, savepoints_and_restores
from .services import even_time, finds_decided, finds_refused, plan_cleans, plan_compactions, plan_rollbacks
from .settling import settle_by_entries, settling_actions

WITH_SHARED = (WRITER.name, COMPACTOR.name, ROLLBACKER.name)
"""The kinds of actors that are modelled under `decision = shared`, apart from readers."""
KINDS = (*WITH_SHARED, CLEANER.name, RESTORER.name, SAVEPOINTER.name)
"""The kinds of actors whose commits can be announced."""
WITH_OPTIMISTS = (WRITER.name, COMPACTOR.name, READER.name)
NOT_WITH_SAVEPOINTS_AND_CLEANS = (ROLLBACKER.name, CUTTER.name)
NOT_WITH_SAVEPOINTS = (COMPACTOR.name, *NOT_WITH_SAVEPOINTS_AND_CLEANS)
WITH_QUERIERS = (*WITH_OPTIMISTS, CLEANER.name, QUERIER.name)
NOT_WITH_CLEANS = (ROLLBACKER.name, RESTORER.name, CUTTER.name)
LIMITS: tuple[type[Limits], ...] = (AskedQueries, Cleans, Crashes, Cuts, Failures, RestoreLimits, SavepointLimits)
"""The limits of worlds in which commits can be announced, in addition to those of the kernel."""
OPTIONS: tuple[type[Options], ...] = (Clocks, Completion, Fencing, LockWait, PlanCheck, Rollbacks)
"""The options that must have their defaults if commits are announced, because they change how an actor uses the lock.
"""


def compose(composition: Composition) -> None:
    """Let actors announce their commits, and decide all announced commits in one entry of the decision log."""
    if not decides_together(composition):
        return
    composition.add_component("announced", frozenset())
    composition.add_component("entries", ())
    composition.map_view("timeline", on_timeline)
    composition.map_view("request_time", even_time)
    for kind in KINDS:
        composition.add_field(kind, "deciding", Deciding())
    # Before anything is added: the transitions that `locked` adds do need the lock.
    Selection(composition, tuple(composition.transitions)).replace(without_lock)
    for each in composition.facts(Publication).values():
        if commits_alone(composition, each.kind):
            commit_alone(composition, each)
            continue
        announces(composition, each)
        decides(composition, each)
    for me in composition.actors_of(SAVEPOINTER):
        decides(composition, publication_of_savepoints(me))
    savepoints_and_restores(composition)
    optimistic_writers(composition)
    settle_by_entries(composition)
    if composition.protocol[DecisionLog].decision == "shared":
        plan_alone(composition)
    else:
        for me in composition.actors_of(COMPACTOR):
            plan_compactions(composition, me)
        for me in composition.actors_of(CLEANER):
            plan_cleans(composition, me)
        for me in composition.actors_of(ROLLBACKER):
            plan_rollbacks(composition, me)
    # Last, when every transition by which an author may create an entry is there.
    authors = (*composition.facts(Publication), *composition.actors_of(CUTTER), *composition.actors_of(QUERIER))
    cut_log(composition)
    composition.find(CRASHES, actors=authors).extend(forget, "own")


def without_lock(each: Transition) -> Transition:
    """Return a copy of a transition that needs no lock: requests are put if absent, and entries decide the rest."""
    return replace(each, guards=tuple(guard for guard in each.guards if guard not in (LOCK_IS_FREE, HOLDS_LOCK)))


def announces(composition: Composition, each: Publication) -> None:
    """Replace the critical section in which an actor publishes by its announcement."""
    effects = (preset(announce_instant, publish=each.publish),)

    def announcing(first: Transition) -> Transition:
        renamed = first.renamed(f"{each.kind}_announces", to=ANNOUNCED)
        return replace(renamed, effects=effects, changes=("own", "announced"))

    composition.select(TAKES_LOCK, actors=[each.actor]).replace(announcing)
    composition.select(TAKES_COMPLETION_TIME, PUBLISHES, actors=[each.actor]).remove()


def decides(composition: Composition, each: Publication) -> None:
    """Add the steps by which an actor has its announcement decided."""
    kind, me, is_shared = each.kind, each.actor, composition.protocol[DecisionLog].decision == "shared"
    composition.add(
        *author_steps(composition, kind, me, OPEN),
        transition(f"{kind}_finds_decided", me, guards=(FINDS, ALL_PUBLISHED, DECIDED), effect=finds_decided(each)),
    )
    finds = [f"{kind}_finds_decided"]
    if may_be_refused(composition, kind):
        drops = ("savepoints", "savepoints_begun", "announced") if kind == SAVEPOINTER.name else ()
        composition.add(transition(f"{kind}_finds_refused", me, guards=(FINDS, ALL_PUBLISHED, REFUSED),
                                   effect=finds_refused(each), changes=("own", *drops)))  # fmt: skip
        finds.append(f"{kind}_finds_refused")
        if is_shared:
            refuse_writer(composition, me)
    if is_shared:
        waits = transition(f"{kind}_takes_lock", me, guards=(LOCK_IS_FREE, ~DECIDED), effect=take_lock,
                           changes=("own", "lock"))  # fmt: skip
        composition.select(f"{kind}_learns_tail", actors=[me]).insert_before(HOLDS, lambda _: waits)
        composition.select(*finds, actors=[me]).extend(release_lock, "lock")


def may_be_refused(composition: Composition, kind: str) -> bool:
    """True if an entry may decide against what an actor of a kind announces: a restore, or another plan or savepoint.
    """
    # A lone planner is never refused: only another plan could decide against its own.
    planners = [me for each in (COMPACTOR, CLEANER, SAVEPOINTER) for me in composition.actors_of(each)]
    others = {COMPACTOR.name: len(planners) > 1, CLEANER.name: len(planners) > 1, RESTORER.name: False,
              SAVEPOINTER.name: bool(composition.actors_of(CLEANER))}  # fmt: skip
    return others.get(kind, bool(composition.actors_of(ROLLBACKER) or composition.actors_of(RESTORER)))


FINDS = Guard("{me} must have announced", lambda own: own.step in (ANNOUNCED, KNOWS_TAIL))


def fit(world: World, protocol: Protocol) -> None:
    """Raise ValueError for a world in which announcements are not modelled."""
    decision = protocol[DecisionLog].decision
    if decision not in TOGETHER:
        return  # a cutter has no log of announced commits to cut
    there = [kind for kind, count in sorted(world.actors.items()) if count]
    known = (*KINDS, CUTTER.name, READER.name, QUERIER.name) if decision == "free" else (*WITH_SHARED, READER.name)
    others = [kind for kind in there if kind not in known]
    if has_optimistic_writers(protocol):
        others += [f"an optimistic writer and a {kind}" for kind in there if kind not in WITH_OPTIMISTS]
    if SAVEPOINTER.name in there:
        # Without a compaction a clean has nothing to delete.
        without = NOT_WITH_SAVEPOINTS_AND_CLEANS if CLEANER.name in there else NOT_WITH_SAVEPOINTS
        others += [f"a savepointer and a {kind}" for kind in there if kind in without]
        others += ["several savepoints"] * (world[SavepointLimits].savepoints > 1)
        others += ["savepoints that are dropped"] * (world[SavepointLimits].savepoints_dropped > 0)
    if QUERIER.name in there:
        others += [f"a querier and a {kind}" for kind in there if kind not in WITH_QUERIERS]
    if CLEANER.name in there:
        others += [f"a cleaner and a {kind}" for kind in there if kind in NOT_WITH_CLEANS]
        others += ["several cleaners"] * (world.actors[CLEANER.name] > 1)
    others += [name for part in world.limits.values() if type(part) not in LIMITS for name in overrides(part)]
    if world.actors.get(COMPACTOR.name, 0) > 1:  # such a world has millions of states
        others += ["crashes of one of several compactors"] * (world[Crashes].crashes > 0)
    if others:
        what = others[0].replace("_", " ")
        raise ValueError(f"world: decision = {decision!r} is not modelled with {what}")


def agree(protocol: Protocol) -> None:
    """Raise ValueError for options that are not modelled with announcements."""
    decision = protocol[DecisionLog].decision
    chosen = [each for part in OPTIONS for each in overrides(protocol[part]).items()]
    chosen += overrides(replace(protocol[Occ], concurrency=Occ().concurrency)).items()
    for name, value in chosen if decision in TOGETHER else ():
        raise ValueError(f"protocol: decision = {decision!r} is not modelled with {name} = {value!r}")


def _actions() -> Iterator[Action]:
    for kind in KINDS:
        yield Action(f"{kind}_announces", "puts its announcement: all that another actor needs to complete its instant",
                     "{actor} announces", continues_call=kind == SAVEPOINTER.name)  # fmt: skip
        yield from author_actions(
            kind,
            ends="ends the listing: all earlier announcements, and some that were put meanwhile",
            creates="creates the next entry, which decides what it has listed, if no other actor has created it",
            entry="the next entry",
        )
        yield Action(f"{kind}_finds_decided", "finds what it announced on the timeline",
                     "{actor} finds its announcement decided", continues_call=True)  # fmt: skip
        if kind != RESTORER.name:
            yield Action(f"{kind}_finds_refused", "finds that an entry has decided the opposite of what it announced",
                         "{actor} finds the opposite decided", continues_call=True)  # fmt: skip
    yield Action("compactor_begins_plan", "lists the decision log, to plan from the entries up to the last one; "
                 "under decision = shared, it takes the lock first",
                 "{actor} learns the tail of the log, to plan")  # fmt: skip
    yield Action("cleaner_begins_plan", "lists the decision log, to plan from the entries up to the last one",
                 "{actor} learns the tail of the log, to plan a clean")  # fmt: skip
    yield Action("cleaner_finds_nothing_to_plan", "finds that a savepoint pins all files that there were to delete",
                 "{actor} finds nothing to clean", continues_call=True)  # fmt: skip
    yield Action("rollbacker_begins_plan", "takes the lock, and lists the decision log, to plan after the last entry",
                 "{actor} takes the lock and learns the tail of the log, to plan")  # fmt: skip
    yield Action("rollbacker_finds_nothing_to_plan", "finds that no write is left to roll back",
                 "{actor} finds nothing to roll back", continues_call=True)  # fmt: skip
    yield Action("compactor_finds_nothing_to_plan", "finds that another compactor has planned all that there was",
                 "{actor} finds nothing to plan", continues_call=True)  # fmt: skip
    yield from cut_actions()
    yield from settling_actions()


MECHANISM = Mechanism(
    compose=compose,
    kinds=(CUTTER,),
    limits=Cuts,
    after=("clocks", "decision_log", "endless", "lost_locks", "rollback", "*"),
    agree=agree,
    fit=fit,
    actions=tuple(_actions()),
)
