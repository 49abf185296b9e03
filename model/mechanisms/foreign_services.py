"""Compactions by another engine: by whose rules a file group is merged.

A compaction of another engine leaves no mark. It merges by requested times, logs among themselves first (a kept delete
is a log to it), and drops deletes. From its barrier on a reader that checks for the mark merges the file group as that
engine does, until the next compaction of this engine.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..kernel.merge import Fold
from ..kernel.reads import base_file as content_of
from ..kernel.reads import slice_fold
from ..kernel.rules import Rules
from ..kernel.table import Plan, Table
from ..machine.marks import mark
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


def merges_by_theirs(rules: Rules, table: Table, group: int, base: int | None) -> bool:
    """Whether logs merge with the base file of a file group by the rules of the other engine, which wrote it."""
    if rules[ForeignServices].unmarked == "by_the_table":
        return False
    return any(unmarked(plan) and plan.requested == base and plan.of(group) for plan in table.plans)


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules for tables that another engine compacts."""
    inner_read, inner_file = rules.as_of, rules.base_file

    def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
        if any(plan.marks and unmarked(plan) for plan in table.plans):
            barrier, writes = rules.base_and_writes(rules, table, group, time)
            if merges_by_theirs(rules, table, group, barrier):
                by = theirs(rules)
                return slice_fold(rules, table, group, barrier, by.merged_logs(by, table, group, writes, time))
        return inner_read(rules, table, group, time)

    def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
        plan = next((plan for plan in table.plans if plan.requested == barrier), None)
        part = plan.of(group) if plan else None
        if not plan or not part or not (unmarked(plan) or merges_by_theirs(rules, table, group, part.base)):
            return inner_file(rules, table, group, barrier)
        merged = inner_file(theirs(rules), table, group, barrier)
        if merged is None:
            return None
        merged = merged._replace(base=content_of(rules, table, group, part.base))  # by the rules of its own engine
        return merged._replace(logs_first=True, drops_deletes=True) if unmarked(plan) else merged

    return replace(rules, as_of=as_of, base_file=base_file)


MECHANISM = Mechanism(options=ForeignServices, rules=refined)
