"""Promises of reads: SNAP, TRAVEL, INCR, CDC, ATOM. T is a settled time on the completion axis."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import inf

from .. import reads
from ..fold import Fold, logs_of
from ..model import Model, State
from ..step import Step
from ..table import Table, Write, table_of
from .compare import Ledger, against_oracle, one_against_other
from .oracle import completed
from .promise import Promise
from .sentences import key_given, row_of, write_named
from .valuations import changes_differ, expected, falls_behind, read, renamed

as_of = lru_cache(maxsize=1 << 16)(reads.as_of)
window = lru_cache(maxsize=1 << 16)(reads.incremental)


def table_and_readers(model: Model) -> tuple[str, ...]:
    """What a read rests on, a clock that reads go by and the answers of reader actors included."""
    clock = ("clock",) if model.protocol.read_time == "clock" else ()
    return (*model.table_reads, *clock, *model.setting.of("reader"))


def groups(model: Model) -> range:
    """The file groups."""
    return range(model.world.groups)


def completed_writes(model: Model, state: State) -> int:
    """How many writes are published."""
    return len(completed(model.component(state, "published"), 0, inf))


def answers(model: Model, state: State) -> Iterator[tuple[str, int, Table]]:
    """Each reader actor that has answered: its name, its T, and the table that its kept instants make up."""
    published, plans = model.component(state, "published"), model.component(state, "plans")
    for name in model.setting.of("reader"):
        reader = model.component(state, name)
        if reader.step == "answered":
            kept = tuple(entry for entry in published if entry.requested in reader.kept)
            yield name, reader.time, table_of(kept, plans[: reader.plans])


def snapshot_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """SNAP: the snapshot, every as-of at a settled T, and every answer of a reader merge what completed by then."""
    ledger, table, protocol = Ledger(model, after), model.table(after), model.protocol
    settled = model.settled(after)
    for group in groups(model):
        shapes: list[tuple[str, Fold, float]] = [
            (f"snapshot at t{settled}", as_of(table, group, inf, protocol), inf),
            *((f"read as of t{t}", as_of(table, group, t, protocol), t) for t in range(1, settled + 1)),
            *((f"{who}'s snapshot at t{t}", as_of(seen, group, inf, protocol), t)
              for who, t, seen in answers(model, after)),
        ]  # fmt: skip
        for what, shape, time in shapes:
            broken = against_oracle(ledger, what, group, shape, right=ledger.logs(group, 0, time))
            if broken:
                return broken
    return None


def same_reads(model: Model, before: State, after: State, times: list[float]) -> str | None:
    """The reads as of `times` before and after a step: None if none of them changed."""
    old, new, ledger = model.table(before), model.table(after), Ledger(model, after)
    for time in times:
        for group in groups(model):
            change = one_against_other(
                ledger, group, as_of(old, group, time, model.protocol), as_of(new, group, time, model.protocol)
            )
            if change:
                return f"the {'snapshot' if time == inf else f'read as of t{time}'} changed {change}"
    return None


def travel_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """TRAVEL: every read at a T that was settled before the step gives the same answer after it."""
    assert before is not None
    assert step is not None
    changed = same_reads(model, before, after, list(range(1, model.settled(before) + 1)))
    if changed:
        return f"when {model.describe(step)}: {changed}"
    ledger, table = Ledger(model, after), model.table(after)
    for who, time, seen in answers(model, after):
        for group in groups(model):
            answered = as_of(seen, group, inf, model.protocol)
            if change := one_against_other(ledger, group, answered, as_of(table, group, time, model.protocol)):
                return f"when {model.describe(step)}: {who} answered at t{time}; that answer changed {change}"
    return None


def incremental_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """INCR: a window merges exactly what completed in it, and merged into the state at its start gives its end."""
    ledger, table = Ledger(model, after), model.table(after)
    settled = model.settled(after)
    windows = ((start, end) for end in range(1, settled + 1) for start in range(end))
    for start, end in windows:
        for group in groups(model):
            shape = window(table, group, start, end, model.protocol)
            right = ledger.logs(group, start, end)
            what = f"incremental read (t{start}, t{end}]"
            broken = against_oracle(ledger, what, group, shape, right=right, deletes=True)
            if broken:
                return broken
            if behind := _behind(ledger, group, start, end, shape):
                return f"{what} {behind}"
    return None


def _behind(ledger: Ledger, group: int, start: int, end: int, shape: Fold) -> str | None:
    names = ledger.names(group, shape)
    old, new = (tuple(names[log] for log in ledger.logs(group, 0, time)) for time in (start, end))
    rows = falls_behind(renamed(shape, names), old, new, len(names), ledger.model.rule)
    if rows is None:
        return None
    given = key_given(ledger.named(rows, names), ledger.writes)
    return f"in group {group}, merged into the state at t{start}, is not the state at t{end} for {given}"


def changes_hold(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """CDC: the change log of a window is the difference of the two states that the completed writes make."""
    ledger, table = Ledger(model, after), model.table(after)
    settled = model.settled(after)
    for end in range(1, settled + 1):
        for start in range(end):
            for group in groups(model):
                found = reads.changes(table, group, start, end, model.protocol)
                if broken := _changes_broken(ledger, group, (start, end), found):
                    return broken
    return None


def _changes_broken(ledger: Ledger, group: int, times: tuple[int, int], found: tuple[Fold, Fold]) -> str | None:
    names = ledger.names(group, *found)
    right = tuple(ledger.logs(group, 0, time) for time in times)
    short = [(renamed(f, names), tuple(names[log] for log in logs)) for f, logs in zip(found, right, strict=True)]
    rule = ledger.model.rule
    rows = changes_differ(short[0], short[1], len(names), rule)
    if rows is None:
        return None
    own = ledger.named(rows, names)
    is_now = [row_of(read(shape, own, rule, False), ledger.writes) for shape in found]
    should = [row_of(expected(logs, own, rule, False), ledger.writes) for logs in right]
    return (
        f"change log (t{times[0]}, t{times[1]}] in group {group}: {key_given(own, ledger.writes)} goes from "
        f"{is_now[0]} to {is_now[1]}, not from {should[0]} to {should[1]}"
    )


def atomic_holds(model: Model, before: State | None, step: Step | None, after: State) -> str | None:
    """ATOM: a read sees all log files of a write in all file groups, or none, and none of an uncompleted write."""
    table, protocol, settled = model.table(after), model.protocol, model.settled(after)
    views = [("snapshot", [as_of(table, g, inf, protocol) for g in groups(model)])]
    for t in range(1, settled + 1):
        views.append((f"read as of t{t}", [as_of(table, g, t, protocol) for g in groups(model)]))
        views.append((f"incremental read (t0, t{t}]", [window(table, g, 0, t, protocol) for g in groups(model)]))
    for who, t, seen in answers(model, after):
        views.append((f"{who}'s snapshot at t{t}", [as_of(seen, g, inf, protocol) for g in groups(model)]))
    done = {write.requested: write for write in completed(model.component(after, "published"), 0, inf)}
    for what, shapes in views:
        if broken := _torn(what, shapes, done):
            return broken
    return None


def _torn(what: str, shapes: list[Fold], done: dict[int, Write]) -> str | None:
    held = {(group, *log) for group, shape in enumerate(shapes) for log in logs_of(shape)}
    for requested in sorted({log[1] for log in held}):
        write = done.get(requested)
        if write is None:
            group = min(log[0] for log in held if log[1] == requested)
            return f"{what} in group {group} holds a log of the write requested at t{requested}, which is not completed"
        lost = [(group, version) for group, version in write.files if (group, requested, version) not in held]
        if lost:
            return (
                f"{what} holds a part of {write_named(write)}: its log version {lost[0][1]} in group {lost[0][0]} "
                f"is missing"
            )
    return None


SNAP = Promise(
    name="SNAP",
    about="A snapshot at T merges the writes completed at or before T and nothing else.",
    source="RFC-66, reader expectations; design, section 4",
    kind="state",
    holds=snapshot_holds,
    sometimes=lambda model, state: completed_writes(model, state) > 1,
    reads=table_and_readers,
)
TRAVEL = Promise(
    name="TRAVEL",
    about="A read at a settled T gives the same answer for ever.",
    source="RFC-66, time travel queries",
    kind="step",
    holds=travel_holds,
    sometimes=lambda model, state: completed_writes(model, state) > 1,
    reads=table_and_readers,
)
INCR = Promise(
    name="INCR",
    about="The window (T0, T1] is the merge of exactly the writes that completed in it.",
    source="RFC-66, incremental queries; RFC-22, incremental reads",
    kind="state",
    holds=incremental_holds,
    sometimes=lambda model, state: completed_writes(model, state) > 1,
    reads=table_and_readers,
)
CDC = Promise(
    name="CDC",
    about="The change log of a window is the difference of the two snapshots.",
    source="RFC-66, incremental and CDC queries",
    kind="state",
    holds=changes_hold,
    sometimes=lambda model, state: completed_writes(model, state) > 1,
    reads=table_and_readers,
)
ATOM = Promise(
    name="ATOM",
    about="A read sees all of a write or nothing of it, and nothing of a write that never completed.",
    source="RFC-22, atomic commits",
    kind="state",
    holds=atomic_holds,
    sometimes=lambda model, state: completed_writes(model, state) > 0,
    reads=table_and_readers,
)
