"""Extracts from a trace the answers that systems under test returned at each step.

The field ``observed`` of a step may map names of systems to answers; other entries are ignored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..trace import Trace
from .content import SystemAnswers

READS = ("snapshot", "read", "rows")


def systems_of(trace: Trace) -> list[SystemAnswers]:
    found: dict[str, list[tuple[int, list[tuple[str, str | None]]]]] = {}
    for number, observed in enumerate(trace.observed, start=1):
        for name, seen in observed.items():
            if isinstance(seen, Mapping):
                reads = [seen[read] for read in READS if read in seen]
                if reads:
                    found.setdefault(name, []).append((number, [_row(row) for row in reads[-1]]))
    return [SystemAnswers(name, answers) for name, answers in found.items()]


def _row(row: str | Sequence[Any]) -> tuple[str, str | None]:
    """Return the key and the value of a row, with None as the value of a delete.

    A row is a string such as ``k1: 2 B r1``, or a list: key, ordering value, value, requested time.
    """
    if isinstance(row, str):
        key, _, cells = row.rpartition(": ")
        value = cells.split(" ", 1)[-1].rpartition(" ")[0]
        return key, None if value == "deleted" else value
    return str(row[0]), None if row[2] is None else str(row[2])
