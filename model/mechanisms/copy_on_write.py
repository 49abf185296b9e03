"""Copy-on-write tables: a write merges its rows onto the base file of each group that it touches, and puts a new one.

There are no log files, so no compaction merges later: a read takes the newest base file. A delete leaves no trace in
it, as in Hudi: an update that is older by its ordering value and completes later brings the row back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ..kernel.merge import NOTHING, Fold, Merger
from ..kernel.reads import standing
from ..kernel.rules import Rules
from ..kernel.table import FileSlice, Table, Write, mark
from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit
from ..variants.windows import Windows

if TYPE_CHECKING:
    from ..protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class TableKind(Limits):
    """Limits: copy-on-write tables."""

    table_type: str = limit("MERGE_ON_READ", "whether writes put log files or base files", section="table")


class Onto(NamedTuple):
    """Of a write: (file group, requested time of the base file that it merged, None without one)."""

    bases: tuple[tuple[int, int | None], ...] = ()
    kind: str = "onto"


def onto(write: Write) -> tuple[tuple[int, int | None], ...]:
    """The base files onto which a write merged its rows, by file group."""
    return mark(write, Onto).bases if write.marks else ()


def refined(rules: Rules, protocol: Protocol) -> Rules:
    """The rules that read base files alone where the writes of a table put them."""
    inner_read, inner_window, inner_slices = rules.as_of, rules.incremental, rules.file_slices

    def as_of(rules: Rules, table: Table, group: int, time: float) -> Fold:
        if not is_copy_on_write(table):
            return inner_read(rules, table, group, time)
        base = content(table, group, newest_base(standing(rules, table.writes, time), group))
        return NOTHING if base is None else Fold(base, ())

    def incremental(rules: Rules, table: Table, group: int, after: int, until: float) -> Fold:
        if not is_copy_on_write(table):
            return inner_window(rules, table, group, after, until)
        shape = window_of(table, group, rules.in_window(table, after, until))
        return shape._replace(deletes=rules[Windows].window_deletes == "marked")

    def file_slices(rules: Rules, table: Table, group: int) -> tuple[FileSlice, ...]:
        return slices_of(table, group) if is_copy_on_write(table) else inner_slices(rules, table, group)

    merger = without_tombstones(rules.merger)
    return replace(rules, as_of=as_of, incremental=incremental, file_slices=file_slices, merger=merger)


def without_tombstones(inner: Callable[[Any], Merger]) -> Callable[[Any], Merger]:
    """The base files of a copy-on-write table keep no deletes."""

    def merger(world: Any) -> Merger:
        kernel = inner(world)
        return kernel._replace(keeps_tombstones=False) if world.copy_on_write else kernel

    return merger


def is_copy_on_write(table: Table) -> bool:
    """Whether the writes of a table put base files."""
    return any(write.marks and onto(write) for write in table.writes)


def newest_base(published: tuple[object, ...], group: int) -> int | None:
    """The requested time of the base file that a reader or writer takes in a group: the greatest."""
    writes = (entry for entry in published if isinstance(entry, Write))
    return max((write.requested for write in writes if group in write.groups), default=None)


def content(table: Table, group: int, base: int | None) -> Fold | None:
    """The content of the base file of an instant: the rows of its write over those of the base file that it merged."""
    write = next((write for write in table.writes if write.requested == base), None)
    if write is None:
        return None
    return Fold(content(table, group, dict(onto(write))[group]), write.files_in(group))


def window_of(table: Table, group: int, inside: tuple[Write, ...]) -> Fold:
    """What the base files of a window changed, each against the base file that it was merged onto."""
    files = (content(table, group, write.requested) for write in inside if group in write.groups)
    return Fold(None, (), changed=tuple(file for file in files if file is not None))


def slices_of(table: Table, group: int) -> tuple[FileSlice, ...]:
    """A slice for each base file."""
    bases = sorted(write.requested for write in table.writes if write.completed and group in write.groups)
    return tuple(FileSlice(group, base, base, ()) for base in bases)


MECHANISM = Mechanism(limits=TableKind, rules=refined, after=("clustering", "replacing"))
