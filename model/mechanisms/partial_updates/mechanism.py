"""In a table with partial updates, a record may set only some columns of a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ...answers import Record
from ...combination import Content
from ...kernel.merge import Fold, Merger
from ...kernel.table import Log
from ...machine.mechanism import Mechanism
from ...machine.options import Limits, Options, limit, option
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from ..copy_on_write import is_copy_on_write
from . import columns
from .columns import Contents, Made


class PartialUpdates(Options):
    """The option that decides how partial updates of one column are ordered."""

    column_merge: Literal["by_column", "by_row", "by_row_in_base"] = option(
        "by_column",
        "The rank of a column: the one with which it was set; by_row: that of the row, wherever two records merge; "
        "by_row_in_base: that of the row, once several records are one row of a base file.",
    )


class PartialColumns(Limits):
    """The number of columns that partial updates may set."""

    columns: int = limit(
        0, "how many columns there are of which a write sets some; 0: rows are written whole", section="table"
    )


class ByColumns(NamedTuple):
    """Combines several records into one row, column by column. Implements `combination.Combination`."""

    columns: tuple[str, ...]
    column_merge: str = "by_column"

    def read(self, shape: Fold, content: Contents, merger: Merger, deletes: bool) -> Made | None:
        return columns.read(shape, content, merger, self.column_merge, deletes)

    def by_definition(
        self, logs: Iterable[Log], rows: Mapping[Log, Content], merger: Merger, deletes: bool
    ) -> Made | None:
        return columns.by_definition(logs, rows, merger, deletes)

    def records_of(self, made: Made, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        return columns.records_of(made, records, window)

    def merged_on(
        self, logs: tuple[Log, ...], rows: Mapping[Log, Any], state: Made | None, window: Made | None, merger: Merger
    ) -> Made | None:
        left = {**columns.left_of(state, rows), **columns.left_of(window, rows)}
        return columns.by_definition(logs, left, merger, deletes=True)


def column_names(world: World) -> tuple[str, ...]:
    """Return the names of the columns that partial updates may set."""
    return tuple(chr(ord("a") + number) for number in range(world[PartialColumns].columns))


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for reading tables with partial updates."""
    inner = rules.merger

    def merger(world: Any) -> Merger:
        kernel, names = inner(world), column_names(world)
        by = ByColumns(names, protocol[PartialUpdates].column_merge)
        return kernel._replace(combination=by) if names and kernel.combination is None else kernel

    return replace(rules, merger=merger)


def check(world: World) -> None:
    """Raise ValueError for partial updates of a copy-on-write table, which has no log files."""
    if world[PartialColumns].columns and is_copy_on_write(world):
        raise ValueError("world: partial updates are merged in log files, which a COPY_ON_WRITE table has none of")


MECHANISM = Mechanism(options=PartialUpdates, limits=PartialColumns, rules=refine, check=check)
