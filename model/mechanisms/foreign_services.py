"""Compactions by another engine: by whose rules a file group is merged.

A compaction of another engine leaves no mark. It merges by requested times, logs among themselves first (a kept delete
is a log to it), and drops deletes. From its barrier on a reader that checks for the mark merges the file group as that
engine does, until the next compaction of this engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..kernel.merge import Fold
from ..kernel.rules import Rules
from ..kernel.table import Plan, Table, mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignServices(Options):
    """Compactions by another engine."""

    services: Literal["own", "foreign"] = choice(
        "own",
        "own: this engine runs the compaction and marks it. foreign: another engine runs it, which merges by request, "
        "drops deletes and leaves no mark.",
        by=("compactor",),
    )
    unmarked: Literal["by_its_maker", "by_the_table"] = choice(
        "by_its_maker",
        "The rules for a file group whose base file has no mark: those of the engine that wrote it, until the next "
        "compaction of this engine; or those of the table.",
    )


class Unmarked(NamedTuple):
    """Of a plan: whether another engine has begun with it, and merges by its own rules."""

    unmarked: bool = False
    kind: str = "unmarked"


def unmarked(plan: Plan) -> bool:
    """Whether another engine carries the plan out."""
    return bool(plan.marks) and mark(plan, Unmarked).unmarked


def theirs(rules: Rules) -> Rules:
    """The rules with the merge of the other engine."""
    return rules.under(merge_order="requested", fold="logs_first", tombstones="drop")


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules for tables that another engine compacts."""
    by_maker = protocol[ForeignServices].unmarked == "by_its_maker"
    inner_base, inner_plan, inner_file = rules.on_base, rules.rules_of_plan, rules.base_file

    def on_base(rules: Rules, table: Table, group: int, base: int | None) -> Rules:
        if any(unmarked(plan) and plan.requested == base and plan.of(group) for plan in table.plans):
            return theirs(rules)
        return inner_base(rules, table, group, base)

    def rules_of_plan(rules: Rules, table: Table, plan: Plan, group: int) -> Rules:
        return theirs(rules) if unmarked(plan) else inner_plan(rules, table, plan, group)

    def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
        shape = inner_file(rules, table, group, barrier)
        plan = next((plan for plan in table.plans if plan.requested == barrier), None)
        if shape is None or plan is None or not unmarked(plan):
            return shape
        return shape._replace(logs_first=True, drops_deletes=True)

    rules = replace(rules, rules_of_plan=rules_of_plan, base_file=base_file)
    return replace(rules, on_base=on_base) if by_maker else rules


MECHANISM = Mechanism(options=ForeignServices, rules=refined)
