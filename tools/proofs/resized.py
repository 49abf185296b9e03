"""Translates the resizes in a model state for the transition relation in `lemmas/resizes.py`."""

from __future__ import annotations

from typing import Any

from nbcc.model import Model, State
from nbcc.model.kernel.table import Compaction, Plan
from nbcc.model.machine.marks import mark
from nbcc.model.machine.plans import WRITTEN, PlanRunner
from nbcc.model.machine.transition import record_of
from nbcc.model.mechanisms.resizes.mechanism import BEHIND, RESIZER
from nbcc.model.mechanisms.resizes.rules import (
    Generations,
    Resizes,
    buckets_of,
    generations,
    ranges_in_bucket,
    resize_of,
    written_in,
)
from nbcc.model.world import World
from nbcc.simulator.search.prove.lemmas import state as core

from .finite import Instance, Table


def layouts(world: World) -> list[int]:
    """Return one element for each number of file groups that a partition may have."""
    return [count for count in range(1, world.buckets + 1) if world.buckets % count == 0]


def fixed(model: Model, groups: list[int]) -> Table:
    """Return the values of the fixed relations: which actors are resizers, and which ranges share a file group."""
    found: Table = {("runs_resizes", me): True for me in model.actors_of(RESIZER)}
    for count in layouts(model.world):
        for group in groups:
            found |= {("shares", count, group, other): True for other in ranges_in_bucket(group, count, model.world)}
    return found


def interpret(model: Model, state: State, elements: Instance, written: dict[Any, Any], facts: Table) -> None:
    """Add the values of the relations of resizes in a model state to `facts`. `written` contains the completed writes.
    """
    plans = model.component(state, "plans") if "plans" in model.components else ()
    done = {each.requested for each in model.component(state, "published") if isinstance(each, Compaction)}
    place = {plan.requested: number for number, plan in enumerate(plans)}
    current = max((plan.requested for plan in plans if resize_of(plan) and plan.requested in done), default=0)
    facts |= {("current",): current, ("current_layout",): buckets_of(plans, current, model.world)}
    for write in elements.elements[core.WRITE]:
        if facts.get(("phase", write), 0) >= core.WRITING:
            own = model.component(state, write[0])
            made = generations(written[write]) if write in written else written_in(record_of(own, Generations))
            facts |= {("made_by", write): made[0] if len(made) == 1 else made,
                      ("layout_in", write): buckets_of(plans, made[0], model.world)}  # fmt: skip
    for number, plan in enumerate(plans):
        if found := resize_of(plan):
            facts |= {("resizes", number): True, ("layout_of", number): found.buckets,
                      ("copied", number): mark(plan, Resizes).copied}  # fmt: skip
            if plan.requested not in done:
                _newest(plans[:number], facts, elements)
    for me in model.actors_of(RESIZER):
        own = model.component(state, me)
        if own.step != "idle":
            facts |= {("behind", me): own.step == BEHIND, ("copied_to", me): max(own.records, default=0)}
        for first in own.groups[: own.written]:
            buckets = facts["layout_of", place[own.plan]]
            facts |= {("base_written", me, group): True for group in ranges_in_bucket(first, buckets, model.world)}


def runner(own: PlanRunner) -> PlanRunner:
    """Return the state of a resizer as that of a compactor, which has no step in which it copies late logs."""
    return own._replace(step=WRITTEN) if own.step == BEHIND else own


def _newest(plans: tuple[Plan, ...], facts: Table, elements: Instance) -> None:
    """A plan that is made now would build on these plans, and not on a resize that is pending."""
    for group in elements.elements[core.GROUP]:
        facts["newest", group] = max((n for n, plan in enumerate(plans) if plan.part_in(group)), default=None)
