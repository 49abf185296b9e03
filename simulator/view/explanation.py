"""Explains a wrong answer of a read in four sentences: about a write, its log file, the rule that caused the error, and
the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nbcc.model import Record

from .content import FileName, FileState, Parts, WrongAnswer
from .mechanisms import HELPS, RULES
from .rows import Example, ReadAnswers
from .wording import (
    PageContext,
    actor_of,
    completed_at,
    lost_row,
    published_at,
    ranked,
    read_words,
    row_words,
    wins_by_ordering,
    write_words,
)


def explanation(context: PageContext, step: int, found: ReadAnswers, key: Any) -> WrongAnswer | None:
    """Explain one wrong answer of a read. Returns None if no log file with the row to explain exists at this step.

    With partial updates or a user-defined merge function, returns None, because a row may combine values from several
    files.
    """
    if context.model.merger.combination:
        return None
    must, got = (found.must or {}).get(key), (found.got or {}).get(key)
    lost = lost_row(context, must, got)
    name = _file(context, step, key, lost)
    if name is None:
        return None
    there = context.files.at(context.states[step])
    (status, _, _, barrier), group = there[name], name.group
    source_file = _source_file(there, str(key), got)
    base = _base_above(context, step, group, barrier)
    home = FileName("slice", group, barrier)
    stop = FileName("base", group, base) if status == "merged" and base else home
    rule, right = _rule(context, status, lost, got if got is not lost else must, base)
    return WrongAnswer(
        str(key),
        lost.requested or 0,
        name,
        home,
        stop,
        base if status == "hidden" and base else 0,
        source_file,
        [
            [*_written(context, step, key, lost), *(_why_it_wins(context, key, lost, got) if got is not lost else [])],
            [
                "Its log file ",
                [_log_name(name), lost.requested],
                f" is {_place_words(context, there, group, barrier)}.",
            ],
            [rule],
            [
                f"{_read_name(context.case)} returns ",
                *row_words(key, got),
                *_source_words(source_file),
                "; it must return ",
                *row_words(key, must),
                ".",
            ],
        ],
        _outcome(context.case, right, row_words(key, must)) if right else [],
    )


def _outcome(case: Example, right: str, row: Parts) -> Parts:
    text = f"{right[0].upper()}{right[1:]}"
    steady = case.reading.stable and case.reading.query.kind == "snapshot"
    return [f"{text}."] if steady else [f"{text}, and the reader returns ", *row, "."]


def _written(context: PageContext, step: int, key: Any, lost: Record) -> Parts:
    completed = completed_at(context, step, lost.requested)
    ordering = f", ordering {lost.ordering}" if ranked(context.case.data) else ""
    done = f"completed t{completed} (step {published_at(context, lost.requested)})"
    deed = " deletes " if lost.deleted else " writes "
    times = f"{ordering}: requested t{lost.requested}, {done if completed else 'not completed'}."
    return [[actor_of(context, lost), lost.requested], deed, *write_words(key, lost), times]


def _why_it_wins(context: PageContext, key: Any, lost: Record, got: Record | None) -> Parts:
    if got is None:
        return []
    other: Parts = ["the delete" if got.deleted else [f"{key}={got.value}", got.requested]]
    if wins_by_ordering(context, lost, got):
        return [" It wins over ", *other, f" by ordering, {lost.ordering} > {got.ordering}."]
    last = len(context.states) - 1
    return [" It wins over ", *other, f", completed earlier (t{completed_at(context, last, got.requested)})."]


def _source_words(source_file: FileName | None) -> Parts:
    if source_file is None:
        return []
    if source_file.kind == "base":
        return [f" from base t{source_file.time}"]
    return [" from ", [_log_name(source_file), source_file.time]]


def _source_file(there: Mapping[FileName, FileState], key: str, got: Record | None) -> FileName | None:
    """Return the file from which the reader took the row `got`. If both a base file and a log contain the row, return
    the base file.
    """
    if got is None or got.deleted:
        return None
    for name, file in sorted((name, file) for name, file in there.items() if file.status == "read"):
        for row in file.rows:
            if row.key == key and (name.time if row.requested is None else row.requested) == got.requested:
                return name
    return None


def _rule(context: PageContext, status: str, lost: Record, other: Record | None, base: int | None) -> tuple[str, str]:
    """Return two sentences: the effect of the rule that caused the wrong answer, and the effect of the default
    protocol's rule. The second may be ''.
    """
    differences = context.protocol.differences()
    field = next((name for name in HELPS[status] if name in differences), next(iter(differences), ""))
    rule = RULES.get((field, differences.get(field, "")))
    if rule is None:
        return "The reader does not take it.", ""
    later = completed_at(context, len(context.states) - 1, other.requested) if other is not None else None
    row = f"{context.case.key}={other.value}" if other is not None and not other.deleted else "a delete"
    words: Mapping[str, Any] = {
        "r": lost.requested,
        "c": completed_at(context, len(context.states) - 1, lost.requested),
        "b": base,
        "o": other.requested if other is not None else None,
        "at": f", t{later}" if later else "",
        "T": context.case.reading.query.until,
        "other": row if other is not None and not other.deleted else "row",
        "seen": f"{row}, completed t{later}," if later else "later completions",
    }
    return rule.did.format(**words), rule.right.format(**words)


def _read_name(case: Example) -> str:
    reading = case.reading
    if reading.reader and reading.query.kind == "incremental":
        return f"What {reading.reader} has read in all"
    return reading.words() if reading.reader else f"The {read_words(case)}"


def _file(context: PageContext, step: int, key: Any, record: Record) -> FileName | None:
    files = context.case.data.get(record.requested or 0, {})
    names = [FileName("log", group, record.requested or 0, v) for (group, v), rows in files.items() if key in rows]
    there = context.files.at(context.states[step])
    return next((name for name in reversed(names) if name in there), None)


def _base_above(context: PageContext, step: int, group: int, barrier: int) -> int | None:
    bases = [s.base for s in context.model.slices(context.states[step]) if s.group == group and s.base]
    return min((base for base in bases if base > barrier), default=None)


def _log_name(name: FileName) -> str:
    return f"t{name.time}.log.{name.version}"


def _place_words(context: PageContext, there: Mapping[FileName, FileState], group: int, barrier: int) -> str:
    of_group = f" of group {group}" if context.model.world.groups > 1 else ""
    if barrier:
        return f"in slice t{barrier}{of_group}"
    barriers = [name.time for name in there if name.kind == "base" and name.group == group]
    return f"before barrier t{min(barriers)}{of_group}" if barriers else f"in the only slice{of_group}: no barrier yet"
