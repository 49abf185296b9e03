"""User-defined merge functions combine two records of a key into one row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from ...answers import Record
from ...combination import Content
from ...kernel.merge import Fold, Merger
from ...kernel.table import Log
from ...machine.mechanism import Mechanism
from ...machine.options import Options, option
from ...protocol import Protocol
from ...rules import Rules
from ...world import World
from ..copy_on_write import is_copy_on_write
from ..partial_updates.mechanism import PartialColumns
from . import values
from .values import Merged


class MergeFunction(Options):
    """The option that states which laws (such as commutativity) the table's merge function satisfies."""

    merge_laws: Literal["all", "not_idempotent", "not_commutative", "not_associative"] = option(
        "all",
        "The laws that the merge function of a table keeps: all of them; or all but the named one.",
    )


class ByFunction(NamedTuple):
    """Combines several records into one row with a merge function that satisfies the laws named by `laws`. Implements
    `combination.Combination`.
    """

    laws: str

    @property
    def columns(self) -> tuple[str, ...]:
        return ()

    def read(
        self, shape: Fold, content: Callable[[Log], Content | None], merger: Merger, deletes: bool
    ) -> Merged | None:
        return values.read(shape, content, self.laws, deletes)

    def by_definition(
        self, logs: Iterable[Log], rows: Mapping[Log, Content], merger: Merger, deletes: bool
    ) -> Merged | None:
        return values.by_definition(logs, rows, self.laws, deletes)

    def records_of(self, made: Merged, records: Callable[[Log], Record], window: bool) -> Iterator[Record]:
        return values.records_of(made, records, self.laws)

    def merged_on(
        self,
        logs: tuple[Log, ...],
        rows: Mapping[Log, Any],
        state: Merged | None,
        window: Merged | None,
        merger: Merger,
    ) -> Merged | None:
        return values.merged_on(state or Merged(), window or Merged(), self.laws)


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for reading tables with a user-defined merge function."""
    inner = rules.merger

    def merger(world: Any) -> Merger:
        kernel = inner(world)
        by = ByFunction(protocol[MergeFunction].merge_laws)
        return kernel._replace(combination=by) if world.custom else kernel

    return replace(rules, merger=merger)


def check(world: World) -> None:
    """Raise ValueError if a table with a merge function has no log files or allows partial updates."""
    if world.custom and (is_copy_on_write(world) or world[PartialColumns].columns):
        raise ValueError("world: a user's function merges whole rows of a MERGE_ON_READ table; leave columns out")


MECHANISM = Mechanism(options=MergeFunction, rules=refine, check=check)
