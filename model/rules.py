"""`Rules` holds the functions that define how a table is read: slicing, planning, visibility and merging. Mechanisms
and variants (alternative rules) may wrap or replace any of these functions.

The functions call each other through the parameter `rules`, so that a replaced function takes effect everywhere. The
default functions are those of the kernel (RFC-66 alone). For each protocol, one `Rules` object combines the functions
of the kernel, mechanisms and variants.
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
    """The functions that define how a table is read under one protocol. Each function is documented in the kernel
    module that implements it. Two `Rules` are equal only if they are the same object.

    `options` contains the options of the protocol; for example, `rules[Slicing].slicing` is the value of one option.
    `under(**changes)` returns the rules for the protocol with some options changed.
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
    """Return the rules of RFC-66 alone, without any mechanism or variant."""
    functions = ChainMap(*(vars(module) for module in (slicing, planning, reads, merge, slices, answers)), globals())
    rules = (each.name for each in fields(Rules) if each.name not in ("options", "under"))
    return Rules(options, under, **{name: functions[DEFAULTS.get(name, name)] for name in rules})


# Rules that are trivial in the kernel; mechanisms and variants change them.


def is_refused(table: Table, time: float) -> bool:
    """True if a read as of `time` is refused. By default, no read is refused."""
    return False


def instants_with_logs(table: Table, group: int) -> set[int]:
    """Return the requested times of the writes that may have logs in a file group: by default, of all writes."""
    return {write.requested for write in table.writes}


def one_window(rules: Rules, table: Table, group: int, after: float, until: float) -> Fold:
    """Return the default incremental read, which merges all logs of the window (after, until] in a single merge."""
    return rules.window(rules, table, group, after, until)


def table_as_of(rules: Rules, table: Table, time: float) -> Table:
    """Return the table as of `time`: its visible writes, and the plans requested at or before `time`. A plan is marked
    as completed only if reads as of `time` may use its base files.
    """
    plans = [(p, c) for p, c in zip(table.plans, table.completed, strict=True) if p.requested <= time]
    done = tuple(c if c and rules.is_visible(p.requested, c, time) else None for p, c in plans)
    return Table(reads.visible(rules, table.writes, time), tuple(p for p, _ in plans), done, table.marks)
