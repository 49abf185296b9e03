"""Clustering: a compaction that sorts, or one that writes a file group of its own."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..kernel.merge import Fold
from ..kernel.reads import slice_fold, visible
from ..kernel.rules import Rules
from ..kernel.slicing import logs_in_order
from ..kernel.table import Compaction, Plan, Table, Write
from ..machine.marks import mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustering(Options):
    """Clustering."""

    clustering: Literal["plan", "file_ids"] = choice(
        "plan",
        "plan: a clustering is a compaction that sorts, where buckets fix the file ids. file_ids: it writes a new file "
        "group that replaces the named one, and must not have missed a write that completed since its plan.",
    )


class Clusters(NamedTuple):
    """Of a plan: whether it writes new file groups, which take the place of those that it names."""

    clusters: bool = False
    kind: str = "clusters"


class Clustered(NamedTuple):
    """Of a completed clustering: the file groups that it replaced."""

    groups: tuple[int, ...] = ()
    kind: str = "clustered"


class Into(NamedTuple):
    """Of a write: (file group, requested time of the clustering whose file group its writer found), if there is one."""

    clusterings: tuple[tuple[int, int], ...] = ()
    kind: str = "into"


def clusters(plan: Plan) -> bool:
    """Whether a plan writes new file groups."""
    return bool(plan.marks) and mark(plan, Clusters).clusters


def clustered(entry: Compaction) -> tuple[int, ...]:
    """The file groups that a completed clustering replaced."""
    return mark(entry, Clustered).groups if entry.marks else ()


def into(write: Write) -> tuple[tuple[int, int], ...]:
    """The clusterings whose file groups the writer found, by file group."""
    return mark(write, Into).clusterings if write.marks else ()


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules under which a clustering replaces a file group by another."""
    if protocol[Clustering].clustering == "plan":
        return rules
    inner = rules.as_of

    def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
        if not (last := _last_clustering(table, group, time)):
            return inner(rules, table, group, time)
        found = (write for write in visible(rules, table.writes, time) if dict(into(write)).get(group) == last)
        return slice_fold(rules, table, group, last, logs_in_order(rules, found, group))

    return replace(rules, as_of=as_of)


def _last_clustering(table: Table, group: int, time: float) -> int:
    """The last clustering that replaced the file group by `time`: only writes into its file group are visible. Or 0."""
    plans = zip(table.plans, table.completed, strict=True)
    done = [plan for plan, completed in plans if clusters(plan) and plan.of(group) and completed and completed <= time]
    return max([plan.requested for plan in done], default=0)


MECHANISM = Mechanism(options=Clustering, rules=refined, after=("foreign_services", "replacing"))
