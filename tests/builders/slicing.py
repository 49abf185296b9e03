"""The table of RFC-66's example of file slicing."""

from __future__ import annotations

from nbcc.model import Protocol
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.table import Compaction, GroupPlan, Plan, Table, Write, table_of
from nbcc.model.machine.marks import marks
from nbcc.model.rules import Rules
from nbcc.model.variants.slicing import BaseInstants


def under(**options: str) -> Rules:
    return rules_of(Protocol.from_mapping(options))


RFC = under()


def write(requested: int, completed: int | None, *, base: int | None = None, groups: int = 1) -> Write:
    named = marks(BaseInstants((base,) * groups))
    return Write(requested, completed, "w", 1, tuple((g, 1) for g in range(groups)), named)


def compaction(requested: int, completed: int | None, base: int | None, *takes: int) -> tuple[Plan, Compaction | None]:
    part = GroupPlan(0, base, tuple((time, 1) for time in takes))
    return Plan(requested, "c", True, (part,)), Compaction(requested, completed, "c") if completed else None


def table(*parts: Write | tuple[Plan, Compaction | None]) -> Table:
    plans = [part for part in parts if not isinstance(part, Write)]
    done = [each for _, each in plans if each is not None]
    published: list[Write | Compaction] = [each for each in parts if isinstance(each, Write) and each.completed]
    published += done
    pending = tuple(part for part in parts if isinstance(part, Write) and not part.completed)
    return table_of(tuple(published), tuple(each for each, _ in plans), pending)


DEMO = table(
    compaction(10, 20, None), write(21, 40), write(30, 50), compaction(60, 80, 10, 21, 30), write(35, 90)
)  # fmt: skip
"""The RFC's "Demo Conducive to Comprehension"; its very first base file counts as one of a compaction of nothing."""
