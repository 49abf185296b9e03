"""Explains a wrong answer of a read in four sentences: about a write, its log file, the rule that caused the error, and
the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nbcc.model import Record

from .rows import Answers, Case
from .rules import HELPS, RULES
from .wording import (
    Context,
    Parts,
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


class WrongAnswer(NamedTuple):
    """The explanation of one wrong answer, as a path from the write at `instant` through `file` in `slice` to the
    answer for `key`.

    `stop` names the slice that contains `file`, or the base file into which a compaction merged `file`. `barrier` is
    the requested time of the newer base file that hides `file`, or 0 if none does. `source_file` is the file whose row
    is read instead of the row in `file`, or "". `captions` contains four sentences: about the write, the file, the rule
    and the answer. `right` states what happens under the default protocol.
    """

    key: str
    instant: int
    file: str
    slice: str
    stop: str
    barrier: int
    source_file: str
    captions: list[Parts]
    right: Parts


def explanation(context: Context, step: int, found: Answers, key: Any) -> WrongAnswer | None:
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
    status, _, _, barrier = there[name]
    group = int(name.removeprefix("log ").partition("/")[0])
    source_file = _source_file(there, str(key), got)
    base = _base_above(context, step, group, barrier)
    stop = f"base {group}/{base}" if status == "merged" and base else f"slice {group}/{barrier}"
    rule, right = _rule(context, status, lost, got if got is not lost else must, base)
    return WrongAnswer(
        str(key),
        lost.requested or 0,
        name,
        f"slice {group}/{barrier}",
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


def _outcome(case: Case, right: str, row: Parts) -> Parts:
    text = f"{right[0].upper()}{right[1:]}"
    steady = case.reading.stable and case.reading.query.kind == "snapshot"
    return [f"{text}."] if steady else [f"{text}, and the reader returns ", *row, "."]


def _written(context: Context, step: int, key: Any, lost: Record) -> Parts:
    completed = completed_at(context, step, lost.requested)
    ordering = f", ordering {lost.ordering}" if ranked(context.case.data) else ""
    done = f"completed t{completed} (step {published_at(context, lost.requested)})"
    deed = " deletes " if lost.deleted else " writes "
    times = f"{ordering}: requested t{lost.requested}, {done if completed else 'not completed'}."
    return [[actor_of(context, lost), lost.requested], deed, *write_words(key, lost), times]


def _why_it_wins(context: Context, key: Any, lost: Record, got: Record | None) -> Parts:
    if got is None:
        return []
    other: Parts = ["the delete" if got.deleted else [f"{key}={got.value}", got.requested]]
    if wins_by_ordering(context, lost, got):
        return [" It wins over ", *other, f" by ordering, {lost.ordering} > {got.ordering}."]
    last = len(context.states) - 1
    return [" It wins over ", *other, f", completed earlier (t{completed_at(context, last, got.requested)})."]


def _source_words(source_file: str) -> Parts:
    if not source_file:
        return []
    requested = source_file.rpartition("/")[2].partition(".")[0]
    return (
        [f" from base t{requested}"]
        if source_file.startswith("base")
        else [" from ", [_log_name(source_file), int(requested)]]
    )


def _source_file(there: Mapping[str, list[Any]], key: str, got: Record | None) -> str:
    """Return the file from which the reader took the row `got`, or ''. If both a base file and a log contain the row,
    return the base file.
    """
    if got is None or got.deleted:
        return ""
    for name, (_, _, rows, *_) in sorted((n, value) for n, value in there.items() if not n.startswith("slice")):
        wrote = int(name.rpartition("/")[2].partition(".")[0])
        for row in rows if there[name][0] == "read" else []:
            if row[0] == key and (row[3] if name.startswith("base") else wrote) == got.requested:
                return name
    return ""


def _rule(context: Context, status: str, lost: Record, other: Record | None, base: int | None) -> tuple[str, str]:
    """Return two sentences: the effect of the rule that caused the wrong answer, and the effect of the default
    protocol's rule. The second may be ''.
    """
    differences = context.protocol.differences()
    field = next((name for name in HELPS[status] if name in differences), next(iter(differences), ""))
    rule = RULES.get(f"{field}={differences.get(field)}")
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


def _read_name(case: Case) -> str:
    reading = case.reading
    if reading.reader and reading.query.kind == "incremental":
        return f"What {reading.reader} has read in all"
    return reading.words() if reading.reader else f"The {read_words(case)}"


def _file(context: Context, step: int, key: Any, record: Record) -> str | None:
    files = context.case.data.get(record.requested or 0, {})
    names = [f"log {group}/{record.requested}.{version}" for (group, version), rows in files.items() if key in rows]
    there = context.files.at(context.states[step])
    return next((name for name in reversed(names) if name in there), None)


def _base_above(context: Context, step: int, group: int, barrier: int) -> int | None:
    bases = [s.base for s in context.model.slices(context.states[step]) if s.group == group and s.base]
    return min((base for base in bases if base > barrier), default=None)


def _log_name(name: str) -> str:
    requested, _, version = name.rpartition("/")[2].partition(".")
    return f"t{requested}.log.{version}"


def _place_words(context: Context, there: Mapping[str, Any], group: int, barrier: int) -> str:
    of_group = f" of group {group}" if context.model.world.groups > 1 else ""
    if barrier:
        return f"in slice t{barrier}{of_group}"
    barriers = [int(name.rpartition("/")[2]) for name in there if name.startswith(f"base {group}/")]
    return f"before barrier t{min(barriers)}{of_group}" if barriers else f"in the only slice{of_group}: no barrier yet"
