"""The rules of reading a table as one value: each is a function that a mechanism or a variant may wrap or replace.

A rule calls other rules through the value that it is given, so that a replaced rule holds wherever it is used. The
defaults are the functions of the kernel. Rules are composed once for each protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from . import answers, slices
from .answers import Query
from .kernel import merge, planning, reads, slicing
from .kernel.merge import Fold, Merger, Ranked, Record
from .kernel.table import Log, Plan, Table, Write
from .machine.options import Options
from .slices import FileSlice

Part = TypeVar("Part", bound=Options)
Writes = tuple[Write, ...]
Logs = tuple[Log, ...]
SliceTime = Callable[[Write, int], float]
Stands = Callable[[int, int | None, float], bool]
Barriers = Callable[["Rules", Table, int], tuple[int, ...]]
OneWindow = Callable[["Rules", Table, int, int, float], Fold]
State = Callable[["Rules", Table, int, float], Fold]


@dataclass(frozen=True, slots=True, eq=False)
class Rules:
    """The functions are described where the kernel defines them. Two rules are equal only if they are one object.

    `options`: the protocol that these rules were composed for; `rules[Slicing].slicing` reads one. `under` returns the
    rules of the same protocol with other options.
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
    stands: Stands
    is_refused: Callable[[Table, float], bool]
    table_as_of: Callable[[Rules, Table, float], Table]
    as_of: State
    base_and_writes: Callable[[Rules, Table, int, float], tuple[int | None, Writes]]
    newest_first: Callable[[Rules, Table, int, float], Iterator[tuple[int | None, Writes]]]
    base_file: Callable[[Rules, Table, int, int | None], Fold | None]
    instants_with_logs: Callable[[Table, int], set[int]]
    layers: Callable[[Table, int, Logs], tuple[Log | Fold, ...]]
    logs_before_tombstones: Callable[[Rules, Table, int, int | None, Fold | None, Logs], int]
    on_base: Callable[[Rules, Table, int, int | None], Rules]
    rules_of_plan: Callable[[Rules, Table, Plan, int], Rules]
    in_window: Callable[[Table, int, float], Writes]
    incremental: OneWindow
    window: OneWindow
    window_logs: Callable[[Rules, Table, int, int, float], Logs]
    window_writes: Callable[[Rules, Table, int, int, float], Writes]

    # kernel/merge.py and kernel/answers.py
    merger: Callable[[Any], Merger]
    shown_row: Callable[[Rules, Table, Query], Callable[[Fold, Ranked], Record]]

    def __getitem__(self, part: type[Part]) -> Part:
        found = self.options[part]
        assert isinstance(found, part), "each part is stored under its own type"
        return found


def of_kernel(options: Mapping[type[Options], Options], under: Callable[..., Rules]) -> Rules:
    """The rules of RFC-66 alone."""
    return Rules(
        options=options,
        under=under,
        slice_time=slicing.slice_time,
        bases=slicing.bases,
        barriers=slicing.barriers,
        sliced_writes=slicing.sliced_writes,
        slices=slicing.slices,
        file_slices=slices.files_by_slice,
        logs_of=slicing.log_files,
        in_order=slicing.in_order,
        log_time=slicing.log_time,
        merged_logs=slicing.merged_logs,
        may_plan=planning.may_plan,
        plan_takes=planning.plan_takes,
        stands=reads.stands,
        is_refused=is_refused,
        table_as_of=table_as_of,
        as_of=reads.newest_state,
        base_and_writes=reads.base_and_writes,
        newest_first=reads.newest_first,
        base_file=reads.compacted,
        instants_with_logs=instants_with_logs,
        layers=layers,
        logs_before_tombstones=logs_before_tombstones,
        on_base=same_rules,
        rules_of_plan=rules_of_plan,
        in_window=reads.in_window,
        incremental=one_window,
        window=reads.window,
        window_logs=reads.window_logs,
        window_writes=reads.window_writes,
        shown_row=answers.shown_row,
        merger=merge.merger_of,
    )


# Rules that say nothing in the kernel: there is one way, which mechanisms and variants change.


def is_refused(table: Table, time: float) -> bool:
    """Whether a read as of `time` gets no answer: never."""
    return False


def layers(table: Table, group: int, logs: tuple[Log, ...]) -> tuple[Log | Fold, ...]:
    """The logs as they merge: each is a file of its own."""
    return logs


def instants_with_logs(table: Table, group: int) -> set[int]:
    """The requested times of the instants that can have put logs."""
    return {write.requested for write in table.writes}


def logs_before_tombstones(
    rules: Rules, table: Table, group: int, barrier: int | None, base: Fold | None, logs: tuple[Log, ...]
) -> int:
    """How many logs merge before the tombstones of the base file: none, because the base file comes first."""
    return 0


def same_rules(rules: Rules, table: Table, group: int, base: int | None) -> Rules:
    """By whose rules logs merge with the base file of a file group: by those of the table."""
    return rules


def rules_of_plan(rules: Rules, table: Table, plan: Plan, group: int) -> Rules:
    """By whose rules a plan is carried out in a file group."""
    part = plan.of(group)
    return rules.on_base(rules, table, group, part.base if part else None)


def one_window(rules: Rules, table: Table, group: int, after: int, until: float) -> Fold:
    """The whole window at once."""
    return rules.window(rules, table, group, after, until)


def table_as_of(rules: Rules, table: Table, time: float) -> Table:
    """The table as it stood: a plan that was made by then and whose base files do not stand yet is pending."""
    plans = [(p, c) for p, c in zip(table.plans, table.completed, strict=True) if p.requested <= time]
    done = tuple(c if c and rules.stands(p.requested, c, time) else None for p, c in plans)
    return Table(reads.standing(rules, table.writes, time), tuple(p for p, _ in plans), done, table.marks)
