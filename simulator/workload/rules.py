"""Uses functions of the model to decide whether a simulated write conflicts, and which logs a compaction plan includes.

For each decision, the functions build a small model table in which events have the same order as in the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from nbcc.model import Protocol
from nbcc.model.assembly import rules_of
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.table import GroupPlan, Plan, Table, Write
from nbcc.model.mechanisms.occ.conflicts import UncheckedWrite, conflicting

PROTOCOL: Final = Protocol(concurrency="occ")
"""The default protocol, for a writer that checks for conflicts."""


def conflicts(newest: Iterable[tuple[int, int]], groups: Sequence[int]) -> bool:
    """Return True if a pending write to the given file groups conflicts with writes that completed after it began.

    `newest` contains pairs (file group, sequence number of the write that completed last in it). `newest` omits file
    groups in which no write completed after the pending write began.
    """
    published = tuple(Write(number, number + 1, "w", 1, ((group, 1),)) for group, number in newest)
    return conflicting(published, (), UncheckedWrite(tuple(groups), (), 0), PROTOCOL) is not None


@lru_cache(maxsize=1 << 16)
def logs_taken(completed: int, late: int, has_base: bool, is_planned: bool) -> int:
    """Return how many log files of one file group a compaction plan includes.

    `completed` is the number of log files that completed before the plan's requested time, and `late` is the number
    that completed afterwards. `has_base` is True if the file group has a base file. `is_planned` is True if a pending
    plan already includes the file group.
    """
    barrier = completed + 5
    times = [*range(4, 4 + completed), *range(barrier + 1, barrier + 1 + late)]
    writes = tuple(Write(3, time, "w", number, ((0, 1),)) for number, time in enumerate(times, 1))
    plans: list[tuple[int, int | None]] = [(1, 2)] if has_base else []
    plans += [(3, None)] if is_planned else []
    made = tuple(Plan(requested, "c", True, (GroupPlan(0, None, ()),)) for requested, _ in plans)
    table = Table(writes, made, tuple(done for _, done in plans))
    return sum(len(part.logs) for part in plan(rules_of(PROTOCOL), table, 1, barrier))
