"""Defines how actors detect that a restore has undone their instant.

Writers and overwriters (insert-overwrite actors) check for restores only while holding the lock that covers
publication. Compactors and log compactors also check when they start a plan and when they read its input files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ...kernel.compactor import COMPACTOR, PLANS, READS_INPUT
from ...kernel.table import Plans
from ...kernel.writer import WRITER, give_up
from ...machine.composition import Composition
from ...machine.plans import STARTS_PLAN, PlanRunner
from ...machine.transition import Action, Component, Guard, become, preset, transition
from ..insert_overwrite import OVERWRITER, Overwriter
from ..log_compaction.mechanism import LOG_COMPACTOR
from ..refusal import refuse
from .rules import Restore, is_undone, loses_input

Planned = tuple[Restore, ...]

RUNNERS = {COMPACTOR.name: "plans", LOG_COMPACTOR.name: "log_plans"}
"""The kinds whose state is a `PlanRunner` -> the component of their plans."""


def compose(composition: Composition) -> None:
    """Let every writer, overwriter, compactor and log compactor detect that a restore has undone its instant."""
    for me in composition.actors_of(WRITER):
        refuse(composition, WRITER.name, me, IS_NOT_UNDONE, give_up)
    for me in composition.actors_of(OVERWRITER):
        refuse(composition, OVERWRITER.name, me, IS_NOT_UNDONE, become(Overwriter("gave up")))
    for kind, plans in RUNNERS.items():
        for me in composition.actors_of(kind):
            _counts_undone(composition, me, plans)
            _runs_undone(composition, kind, me, become(PlanRunner()))
    if composition.actors_of(COMPACTOR):
        composition.map_view("plans_ever", plans_ever)
    if composition.actors_of(LOG_COMPACTOR):
        composition.map_view("log_plans_ever", log_plans_ever)


def _counts_undone(composition: Composition, me: str, plans: str) -> None:
    # A restore takes plans out of `plans`. Counted there, each would give its planner one plan more than the world
    # allows.
    [left] = (guard for each in composition.select(PLANS, actors=[me]) for guard in each.guards if guard.limit)
    ever = preset(left.holds, **{plans: Component(f"{plans}_ever")})
    composition.select(PLANS, actors=[me]).swap(left, replace(left, holds=ever))


def plans_ever(plans: Plans, restores: Planned) -> Plans:
    return (*plans, *(plan for each in restores for plan in each.plans))


def log_plans_ever(log_plans: Plans, restores: Planned) -> Plans:
    return (*log_plans, *(plan for each in restores for plan in each.plans))


def _runs_undone(composition: Composition, kind: str, me: str, becomes_idle: Any) -> None:
    gone = Guard("a restore must have undone its plan", PLAN_STANDS.holds, negated=True)
    lost = Guard("a file of its plan must be deleted", INPUT_STANDS.holds, negated=True)
    starts = composition.select(STARTS_PLAN, actors=[me]).require(PLAN_STANDS)
    starts.exit(lambda _: transition(f"{kind}_finds_plan_gone", me, guards=(gone,), effect=becomes_idle))
    reads = composition.select(READS_INPUT, actors=[me]).require(INPUT_STANDS)
    reads.exit(lambda _: transition(f"{kind}_misses_input", me, guards=(lost,), effect=becomes_idle))
    refuse(composition, kind, me, Guard(IS_NOT_UNDONE.reason, PLAN_STANDS.holds), becomes_idle)
    # A runner lists the timeline before it looks for its files, so it finds the restore first.
    composition.find(f"{kind}_misses_files", f"{kind}_finds_it_done", actors=[me]).require(PLAN_STANDS)


def is_not_undone(own: Any, restores: Planned, requested: str) -> bool:
    return not is_undone(restores, getattr(own, requested))


def keeps_input(own: Any, restores: Planned) -> bool:
    return not loses_input(own.plan, own.group, restores)


PLAN_STANDS = Guard("no restore may have undone its plan", preset(is_not_undone, requested="plan"))
INPUT_STANDS = Guard("no restore may have deleted what the plan takes", keeps_input)
IS_NOT_UNDONE = Guard("no restore may have undone its instant", preset(is_not_undone, requested="requested"))


def actions() -> Iterator[Action]:
    """Yield the actions of a compactor, log compactor or overwriter whose instant was undone by a restore. The
    mechanism `rollback` declares the actions of a writer whose write was undone.
    """
    for kind in RUNNERS:
        yield Action(f"{kind}_finds_plan_gone", "is about to start its plan, and a restore has undone it",
                     "{actor} finds its plan undone")  # fmt: skip
        yield Action(f"{kind}_misses_input",
                     "finds a file of its plan deleted, by the restore that has undone the plan",
                     "{actor} finds its input deleted")  # fmt: skip
    for kind in (*RUNNERS, OVERWRITER.name):
        yield Action(f"{kind}_is_refused",
                     "under the lock: finds that a restore has undone its plan; releases the lock",
                     "{actor} finds that its plan was undone")  # fmt: skip
        yield Action(f"{kind}_gives_up", "deletes its files, then, under the lock, what it left of its instant",
                     "{actor} takes its files back")  # fmt: skip
