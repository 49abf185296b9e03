"""Replacing writes: an insert overwrite hides what completed before it was requested, in all its partitions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from ..kernel.merge import Fold
from ..kernel.reads import visible
from ..kernel.rules import Rules
from ..kernel.table import Table, Write
from ..machine.marks import mark
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing(Options):
    """Replacing writes."""

    replacing: Literal["plan", "file_ids"] = choice(
        "plan",
        "plan: an insert overwrite hides older writes by a barrier at its request. file_ids: it names the file groups "
        "that it replaces, which also hides what is written to them later (Hudi's replacecommit).",
    )


class Replaced(NamedTuple):
    """Of a write: the file groups in which it hides what completed before it was requested."""

    groups: tuple[int, ...] = ()
    kind: str = "replaced"


def replaced(write: Write) -> tuple[int, ...]:
    """The file groups in which a write hides older writes."""
    return mark(write, Replaced).groups if write.marks else ()


def ranks_at(write: Write, group: int) -> int | None:
    """The time at which the records of a write rank in a file group: its completion; those of a replace its request."""
    return write.requested if group in replaced(write) else write.completed


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules for tables with replacing writes."""
    rules = _in_windows(rules)
    return _by_file_ids(rules) if protocol[Replacing].replacing == "file_ids" else rules


def _in_windows(rules: Rules) -> Rules:
    """A window leaves out the writes that a replace in it hides."""
    inner = rules.window_writes

    def window_writes(rules: Rules, table: Table, group: int, after: int, until: float) -> tuple[Write, ...]:
        writes = inner(rules, table, group, after, until)
        since = max([write.requested for write in writes if write.marks and group in replaced(write)], default=0)
        return tuple([write for write in writes if (ranks_at(write, group) or 0) >= since]) if since else writes

    return replace(rules, window_writes=window_writes)


def _by_file_ids(rules: Rules) -> Rules:
    """The last replace that named the file group hides every other write of it, whenever that completes."""
    inner = rules.as_of

    def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
        by = [write for write in visible(rules, table.writes, time) if group in replaced(write)]
        return Fold(None, by[-1].files_in(group)) if by else inner(rules, table, group, time)

    return replace(rules, as_of=as_of)


MECHANISM = Mechanism(options=Replacing, rules=refined, after=("foreign_services",))
