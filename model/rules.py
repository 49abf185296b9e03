"""The rules for reading a table, as one value with a function for each rule. Mechanisms and variants may wrap or
replace these functions.

Rules call each other through the parameter `rules`, so that a replaced rule is used everywhere. The defaults are the
functions of the kernel. Rules are composed once for each protocol.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, TypeVar

from . import answers, slices
from .answers import Query, Record
from .kernel import merge, planning, reads, slicing
from .kernel.merge import Fold, Merger, Ranked
from .kernel.table import Log, Table, Write
from .machine.options import Options
from .slices import FileSlice

Part = TypeVar("Part", bound=Options)
Writes = tuple[Write, ...]
Logs = tuple[Log, ...]
SliceTime = Callable[[Write, int], float]
IsVisible = Callable[[int, int | None, float], bool]
Barriers = Callable[["Rules", Table, int], tuple[int, ...]]
OneWindow = Callable[["Rules", Table, int, float, float], Fold]
FoldOf = Callable[["Rules", Table, int, int | None, Fold | None, Logs], Fold]
State = Callable[["Rules", Table, int, float], Fold]


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The rules of one protocol. The modules of the kernel document the functions that `Rules` contains. Two values of
    `Rules` are equal only if they are the same object.

    `options` are the options of the protocol, for example `rules[Slicing].slicing`. `under(**changes)` returns the
    rules of this protocol with some options changed.
    """

    options: Mapping[type[Options], Options]
    under: Callable[..., Rules]

    # kernel/slicing.py
    slice_time: SliceTime
    bases: Callable[[Table, int], list[tuple[int, int | None]]]
    barriers: Barriers
    sliced_writes: Callable[[Rules, Table, int], list[Write]]
    slices: Callable[[Rules, Table, int], dict[int | None, Writes]]
    file_slices: Callable[[Rules, Table, int], tuple[FileSlice, ...]]
    logs_of: Callable[[Write, int], Logs]
    in_order: Callable[[Iterable[Write], int], Writes]
    log_time: Callable[[Rules, Table, int, Log], float]
    merged_logs: Callable[[Rules, Table, int, Writes, float], Logs]

    # kernel/planning.py
    may_plan: Callable[[Table, int], bool]
    plan_takes: Callable[[Write, float], bool]

    # kernel/reads.py
    is_visible: IsVisible
    is_refused: Callable[[Table, float], bool]
    table_as_of: Callable[[Rules, Table, float], Table]
    as_of: State
    base_and_writes: Callable[[Rules, Table, int, float], tuple[int | None, Writes]]
    newest_first: Callable[[Rules, Table, int, float], Iterator[tuple[int | None, Writes]]]
    base_file: Callable[[Rules, Table, int, int | None], Fold | None]
    instants_with_logs: Callable[[Table, int], set[int]]
    fold_of: FoldOf
    in_window: Callable[[Table, float, float], Writes]
    incremental: OneWindow
    window: OneWindow
    window_logs: Callable[[Rules, Table, int, float, float], Logs]
    window_writes: Callable[[Rules, Table, int, float, float], Writes]

    # kernel/merge.py and answers.py
    merger: Callable[[Any], Merger]
    shown_row: Callable[[Rules, Table, Query], Callable[[Fold, Ranked], Record]]

    def __getitem__(self, part: type[Part]) -> Part:
        found = self.options[part]
        assert isinstance(found, part), "each part is stored under its own type"
        return found


DEFAULTS = {
    "file_slices": "files_by_slice", "logs_of": "log_files", "as_of": "newest_state", "base_file": "compacted",
    "incremental": "one_window", "merger": "merger_of",
}  # fmt: skip
"""Rule -> the name of its default function, if the name differs."""


def of_kernel(options: Mapping[type[Options], Options], under: Callable[..., Rules]) -> Rules:
    """Return the rules of RFC-66 without any mechanism or variant."""
    functions = ChainMap(*(vars(module) for module in (slicing, planning, reads, merge, slices, answers)), globals())
    rules = (each.name for each in fields(Rules) if each.name not in ("options", "under"))
    return Rules(options, under, **{name: functions[DEFAULTS.get(name, name)] for name in rules})


# Rules that are trivial in the kernel; mechanisms and variants change them.


def is_refused(table: Table, time: float) -> bool:
    """True if a read as of `time` is refused. Rules of the kernel refuse no read."""
    return False


def instants_with_logs(table: Table, group: int) -> set[int]:
    """The requested times of the instants that may have put log files."""
    return {write.requested for write in table.writes}


def one_window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """The incremental read of the kernel merges the whole window at once."""
    return rules.window(rules, table, group, after, until)


def table_as_of(rules: Rules, table: Table, time: float) -> Table:
    """Return the table as of `time`. The returned table contains the plans that were requested by `time`. In the
    returned table, a plan is pending unless its base files are visible at `time`.
    """
    plans = [(p, c) for p, c in zip(table.plans, table.completed, strict=True) if p.requested <= time]
    done = tuple(c if c and rules.is_visible(p.requested, c, time) else None for p, c in plans)
    return Table(reads.visible(rules, table.writes, time), tuple(p for p, _ in plans), done, table.marks)
