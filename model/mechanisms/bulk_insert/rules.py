"""Rules for reading a table with bulk inserts: a base file put by a write begins a file slice and contains the rows of
the write.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from ...kernel.merge import Fold
from ...kernel.table import Log, Table, Write
from ...machine.marks import mark
from ...protocol import Protocol
from ...rules import Rules


class Loaded(NamedTuple):
    """A mark of a write: the file groups in which the write put a base file instead of logs."""

    groups: tuple[int, ...] = ()
    kind: str = "loaded"


def loaded(write: Write) -> tuple[int, ...]:
    """Return the file groups in which a write has put a base file."""
    return mark(write, Loaded).groups if write.marks else ()


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for reading tables with bulk inserts."""
    return _with_files_in_windows(_with_base_files(_without_logs(rules)))


def _without_logs(rules: Rules) -> Rules:
    inner = rules.logs_of

    def logs_of(write: Write, group: int) -> tuple[Log, ...]:
        return () if write.marks and group in loaded(write) else inner(write, group)

    return replace(rules, logs_of=logs_of)


def _with_base_files(rules: Rules) -> Rules:
    inner_bases, inner_file = rules.bases, rules.base_file

    def bases(table: Table, group: int) -> list[tuple[int, int | None]]:
        own = [(write.requested, write.completed) for write in table.writes if write.marks and group in loaded(write)]
        return inner_bases(table, group) + own

    def base_file(rules: Rules, table: Table, group: int, barrier: int | None) -> Fold | None:
        by = next((w for w in table.writes if w.requested == barrier and group in loaded(w)), None)
        return inner_file(rules, table, group, barrier) if by is None else Fold(None, by.files_in(group))

    return replace(rules, bases=bases, base_file=base_file)


def _with_files_in_windows(rules: Rules) -> Rules:
    inner = rules.window

    def window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
        writes = rules.window_writes(rules, table, group, after, until)
        files = tuple(file for write in writes if group in loaded(write) for file in write.files_in(group))
        shape = inner(rules, table, group, after, until)
        return shape._replace(logs=(*files, *shape.logs)) if files else shape

    return replace(rules, window=window)
