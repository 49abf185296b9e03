"""The options that select how a base file merges with logs."""

from __future__ import annotations

from math import inf
from typing import Any, Literal

from ..kernel.merge import Fold, Merger
from ..kernel.table import Log, Table
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..protocol import Protocol
from ..rules import Rules
from .order import Order


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


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for reading a table under the options of `Merging`."""
    return (TombstonesAmongLogs, MergesByOption) if protocol[Merging].fold == "logs_first" else (MergesByOption,)


class MergesByOption(Rules):
    """The records of a key are merged by the options `tombstones` and `fold`."""

    compares_requested_times = False

    def merger(self, world: Any) -> Merger:
        kernel, options = super().merger(world), self[Merging]
        keeps = kernel.keeps_tombstones and options.tombstones == "keep"
        return kernel._replace(keeps_tombstones=keeps, logs_first=options.fold == "logs_first")


class TombstonesAmongLogs(Rules):
    """A compaction's tombstones are merged as if they were a log. The time of the compaction decides their position
    among the logs.

    If a compaction drops deletes, its base file has no tombstones. The base file of a bulk insert has no tombstones
    either.
    """

    def fold_of(
        self, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
    ) -> Fold:
        fold = super().fold_of(table, group, barrier, base, logs)
        # A base file that no plan made, of a bulk insert, has no tombstones.
        plan = next((number for number, each in enumerate(table.plans) if each.requested == barrier), None)
        if base is None or base.drops_deletes or plan is None:
            return fold
        by_request = self[Order].merge_order == "requested"
        own = table.plans[plan].requested if by_request else table.completed[plan] or inf
        earlier = sum(self.log_time(table, group, log) < own for log in logs)
        return fold._replace(logs_before_tombstones=earlier)


MECHANISM = Mechanism(options=Merging, rules=refine)
