"""The options that select how a base file merges with logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from ..kernel.merge import Fold, Merger
from ..kernel.table import Log, Table
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..rules import FoldOf, Rules
from .order import Order

if TYPE_CHECKING:
    from ..protocol import Protocol


class Merging(Options):
    """Options for merging a base file with logs, where the RFCs allow several interpretations."""

    tombstones: Literal["keep", "drop"] = option(
        "keep",
        "Whether a compaction keeps deletes. By commit time no delete is needed, and none is kept.",
    )
    fold: Literal["rank", "logs_first"] = option(
        "rank",
        "rank: the logs merge with the base file one after another. logs_first: the logs and the tombstones of the "
        "compaction merge with each other first, and the result merges with the base file.",
    )


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for reading a table under the options of `Merging`."""
    options = protocol[Merging]
    if options.fold == "logs_first":
        rules = replace(rules, fold_of=with_tombstones_among_logs(rules.fold_of))
    return replace(rules, merger=merger_of(rules.merger, options))


def merger_of(inner: Callable[[Any], Merger], options: Merging) -> Callable[[Any], Merger]:
    """Return a version of the rule `merger` that follows the options `tombstones` and `fold`."""

    def merger(world: Any) -> Merger:
        kernel = inner(world)
        keeps = kernel.keeps_tombstones and options.tombstones == "keep"
        return kernel._replace(keeps_tombstones=keeps, logs_first=options.fold == "logs_first")

    return merger


def with_tombstones_among_logs(inner: FoldOf) -> FoldOf:
    """Return a version of the rule `fold_of` that merges a compaction's tombstones as if they were a log. The time of
    the compaction decides their position among the logs.

    If a compaction drops deletes, its base file has no tombstones. The base file of a bulk insert has no tombstones
    either.
    """

    def fold_of(
        rules: Rules, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
    ) -> Fold:
        shape = inner(rules, table, group, barrier, base, logs)
        plan = next((number for number, each in enumerate(table.plans) if each.requested == barrier), None)
        if base is None or base.drops_deletes or plan is None:
            return shape
        by_request = rules[Order].merge_order == "requested"
        own = table.plans[plan].requested if by_request else table.completed[plan] or inf
        earlier = sum(rules.log_time(rules, table, group, log) < own for log in logs)
        return shape._replace(logs_before_tombstones=earlier)

    return fold_of


MECHANISM = Mechanism(options=Merging, rules=refine)
