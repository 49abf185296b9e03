"""Models foreign table services: an engine other than nbcc compacts the table with different merge rules.

The record `Unmarked` identifies a plan that another engine completed without leaving nbcc's mark in the base file. The
engine that publishes a compaction, not the one that planned it, determines the merge rules of the base files.
"""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ..kernel.compactor import COMPACTOR
from ..kernel.merge import Fold
from ..kernel.publication import COMMITS
from ..kernel.reads import base_file as base_fold
from ..kernel.reads import slice_fold
from ..kernel.table import Plan, Table
from ..machine.composition import Composition
from ..machine.marks import in_shapes, mark, with_mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..machine.transition import Changes
from ..protocol import Protocol
from ..rules import Rules


class ForeignServices(Options):
    """The options that decide whether an engine other than nbcc compacts, and how readers merge logs with base files of
    foreign engines.
    """

    services: Literal["own", "foreign"] = option(
        "own",
        "own: this engine compacts, and marks the base file; foreign: another engine compacts, merges by requested "
        "time, drops deletes and leaves no mark",
        by=(COMPACTOR.name,),
    )
    unmarked: Literal["by_its_engine", "by_the_table"] = option(
        "by_its_engine",
        "how a file group is merged whose base file has no mark. by_its_engine: by the rules of the engine that made "
        "it, until this engine compacts; by_the_table: by the rules of the table",
    )


@in_shapes("unmarked", "kind")
class Unmarked(NamedTuple):
    """A mark of a plan: True if an engine other than nbcc completed the plan."""

    unmarked: bool = False
    kind: str = "unmarked"


def unmarked(plan: Plan) -> bool:
    """True if an engine other than nbcc completed the plan."""
    return bool(plan.marks) and mark(plan, Unmarked).unmarked


def foreign_rules(rules: Rules) -> Rules:
    """Return the rules by which the foreign engine merges: by requested time, logs first, deletes dropped."""
    other: Rules = rules.under(merge_order="requested", fold="logs_first", tombstones="drop")
    return other


def merges_by_foreign_rules(rules: Rules, table: Table, group: int, base: int | None) -> bool:
    """True if the base file was written by an engine other than nbcc, so that logs merge with it by the rules of that
    engine.

    The result is False for the base file of a pending plan, because the engine that will complete the plan is not yet
    known.
    """
    if rules[ForeignServices].unmarked == "by_the_table":
        return False
    written = (plan for plan, done in zip(table.plans, table.completed, strict=True) if done is not None)
    return any(unmarked(plan) and plan.requested == base and plan.part_in(group) for plan in written)


class WithForeignServices(Rules):
    """The rules for reading tables that are compacted by an engine other than nbcc."""

    compares_requested_times = False

    def as_of(self, table: Table, group: int, time: float) -> Fold:
        if any(plan.marks and unmarked(plan) for plan in table.plans):
            barrier, writes = self.base_and_writes(table, group, time)
            if merges_by_foreign_rules(self, table, group, barrier):
                logs = foreign_rules(self).merged_logs(table, group, writes, time)
                return slice_fold(self, table, group, barrier, logs)
        return super().as_of(table, group, time)

    def base_file(self, table: Table, group: int, barrier: int | None) -> Fold | None:
        plan = next((plan for plan in table.plans if plan.requested == barrier), None)
        part = plan.part_in(group) if plan else None
        if not plan or not part or not (unmarked(plan) or merges_by_foreign_rules(self, table, group, part.base)):
            return super().base_file(table, group, barrier)
        other = foreign_rules(self)
        assert isinstance(other, WithForeignServices), "the mechanism is part of every protocol"
        merged = super(WithForeignServices, other).base_file(table, group, barrier)
        if merged is None:
            return None
        # The older base file keeps the rules of the engine that wrote it: only this merge was the foreign engine's.
        merged = merged._replace(base=base_fold(self, table, group, part.base))
        return merged._replace(logs_first=True, drops_deletes=True) if unmarked(plan) else merged


def compose(composition: Composition) -> None:
    """Let compactors record in the plan whether an engine other than nbcc completes the plan."""
    compactors = composition.actors_of(COMPACTOR)
    if any(composition.protocol_of(me)[ForeignServices].services == "foreign" for me in compactors):
        composition.select(COMMITS, actors=compactors).precede(note_engine, "plans")


def note_engine(own: Any, plans: tuple[Plan, ...], protocol: Protocol) -> Changes:
    """Record in the plan whether an engine other than nbcc is completing it."""
    foreign = protocol[ForeignServices].services == "foreign"

    def noted(plan: Plan) -> Plan:
        own_plan = plan.requested == own.plan
        return plan._replace(marks=with_mark(plan.marks, Unmarked(foreign))) if own_plan else plan

    return {"plans": tuple(noted(plan) for plan in plans)}


MECHANISM = Mechanism(
    rules=lambda protocol: (WithForeignServices,),
    compose=compose,
    after=("schema_evolution", "rivals"),
    options=ForeignServices,
)
