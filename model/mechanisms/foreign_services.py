"""Foreign services: another engine compacts a table, by its own rules of merging.

The plan notes whose engine runs it (`unmarked`: not ours): the runner decides by whose rules the base files are merged,
not the actor that made the plan.
"""


from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ..kernel.compactor import STARTS_PLAN
from ..kernel.merge import Fold
from ..kernel.rules import Rules
from ..kernel.table import Plan, Table, mark, with_mark
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from ..machine.transition import Changes
from ..protocol import Protocol
from .crashes import RESUMES_PLAN

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignServices(Options):
    """Whose engine compacts, and how readers take what it leaves."""

    services: Literal["own", "foreign"] = choice(
        "own",
        "own: this engine compacts, and marks the base file; foreign: another engine compacts, merges by requested "
        "time, drops deletes and leaves no mark",
        by=("compactor",),
    )
    unmarked: Literal["by_its_maker", "by_the_table"] = choice(
        "by_its_maker",
        "how a file group is merged whose base file has no mark. by_its_maker: by the rules of the engine that made "
        "it, until this engine compacts; by_the_table: by the rules of the table",
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


def compose(composition: Composition) -> None:
    """Mark the plans that another engine runs."""
    compactors = composition.of("compactor")
    if any(composition.protocol_of(me)[ForeignServices].services == "foreign" for me in compactors):
        composition.select(STARTS_PLAN, RESUMES_PLAN, actors=compactors).extend(note_engine, "plans")


def note_engine(own: Any, plans: tuple[Plan, ...], protocol: Protocol) -> Changes:
    """The runner of a plan notes whose engine it is."""
    foreign = protocol[ForeignServices].services == "foreign"

    def noted(plan: Plan) -> Plan:
        own_plan = plan.requested == own.plan
        return plan._replace(marks=with_mark(plan.marks, Unmarked(foreign))) if own_plan else plan

    return {"plans": tuple(noted(plan) for plan in plans)}


MECHANISM = Mechanism(rules=refined, compose=compose, after=("added_columns", "crashes"), options=ForeignServices)
