"""Why an answer is wrong, told along one thread: the write, its file, the rule that decides about it, the reader.

Each stop of the thread that a page draws is a sentence here. Which sentence speaks of the rule is looked up by the
protocol's field that differs from the default, so a new weak choice is one more row of `rules.RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from nbcc.model import Record

from .rows import Answers, Case
from .rules import HELPS, RULES
from .telling import (
    Parts,
    Setting,
    actor_of,
    by_ordering,
    completed_at,
    culprit,
    published_at,
    ranked,
    says_put,
    says_read,
    says_row,
)


class Story(NamedTuple):
    """The thread starts at `instant` and its `file`, which lies in `slice`, and ends in the cell of `key`.

    Between them it runs into `stop`: that slice, or the base file that took the log; `wall` is the barrier that it
    is held to be older than (0: none). `giver`: the file whose row is read instead ("": none is).
    `captions`: one sentence for each of the four stops; `right`: what happens under the default protocol.
    """

    key: str
    instant: int
    file: str
    slice: str
    stop: str
    wall: int
    giver: str
    captions: list[Parts]
    right: Parts


def story(setting: Setting, step: int, found: Answers, key: Any) -> Story | None:
    """The thread of one wrong answer; None if the row that is lost or too much comes from no file that is there.

    Nor is there one where a row comes from several files: of partial updates, of what a function has merged.
    """
    if setting.model.merger.combination:
        return None
    must, got = (found.must or {}).get(key), (found.got or {}).get(key)
    lost = culprit(setting, must, got)
    name = _file(setting, step, key, lost)
    if name is None:
        return None
    there = setting.files.at(setting.states[step])
    status, _, _, barrier = there[name]
    group = int(name.removeprefix("log ").partition("/")[0])
    giver = _giver(there, str(key), got)
    base = _base_above(setting, step, group, barrier)
    stop = f"base {group}/{base}" if status == "merged" and base else f"slice {group}/{barrier}"
    rule, right = _rule(setting, status, lost, got if got is not lost else must, base)
    return Story(
        str(key),
        lost.requested or 0,
        name,
        f"slice {group}/{barrier}",
        stop,
        base if status == "hidden" and base else 0,
        giver,
        [
            [*_written(setting, step, key, lost), *(_beats(setting, key, lost, got) if got is not lost else [])],
            ["Its log file ", [_log_name(name), lost.requested], f" lies {_where(setting, there, group, barrier)}."],
            [rule],
            [
                f"{_the(setting.case)} returns ",
                *says_row(key, got),
                *_from(giver),
                "; it must return ",
                *says_row(key, must),
                ".",
            ],
        ],
        _outcome(setting.case, right, says_row(key, must)) if right else [],
    )


def _outcome(case: Case, right: str, row: Parts) -> Parts:
    """What the right rule does; what is read then, unless the two answers are one read before and after a service,
    of which either may be the wrong one.
    """
    said = f"{right[0].upper()}{right[1:]}"
    steady = case.reading.stable and case.reading.query.kind == "snapshot"
    return [f"{said}."] if steady else [f"{said}, and the reader returns ", *row, "."]


def _written(setting: Setting, step: int, key: Any, lost: Record) -> Parts:
    completed = completed_at(setting, step, lost.requested)
    ordering = f", ordering {lost.ordering}" if ranked(setting.case.data) else ""
    done = f"completed t{completed} (step {published_at(setting, lost.requested)})"
    deed = " deletes " if lost.deleted else " writes "
    times = f"{ordering}: requested t{lost.requested}, {done if completed else 'not completed'}."
    return [[actor_of(setting, lost), lost.requested], deed, *says_put(key, lost), times]


def _beats(setting: Setting, key: Any, lost: Record, got: Record | None) -> Parts:
    """Why the row must be read and not the other one."""
    if got is None:
        return []
    other: Parts = ["the delete" if got.deleted else [f"{key}={got.value}", got.requested]]
    if by_ordering(setting, lost, got):
        return [" It wins over ", *other, f" by ordering, {lost.ordering} > {got.ordering}."]
    last = len(setting.states) - 1
    return [" It wins over ", *other, f", completed earlier (t{completed_at(setting, last, got.requested)})."]


def _from(giver: str) -> Parts:
    if not giver:
        return []
    requested = giver.rpartition("/")[2].partition(".")[0]
    return [f" from base t{requested}"] if giver.startswith("base") else [" from ", [_log_name(giver), int(requested)]]


def _giver(there: Mapping[str, list[Any]], key: str, got: Record | None) -> str:
    """The file that a read row comes from, a base file before a log."""
    if got is None or got.deleted:
        return ""
    for name, (_, _, rows, *_) in sorted((n, value) for n, value in there.items() if not n.startswith("slice")):
        wrote = int(name.rpartition("/")[2].partition(".")[0])
        for row in rows if there[name][0] == "read" else []:
            if row[0] == key and (row[3] if name.startswith("base") else wrote) == got.requested:
                return name
    return ""


def _rule(setting: Setting, status: str, lost: Record, other: Record | None, base: int | None) -> tuple[str, str]:
    """What decided about the file, and what the default would have done; fitting words or none."""
    differences = setting.protocol.differences()
    field = next((name for name in HELPS[status] if name in differences), next(iter(differences), ""))
    rule = RULES.get(f"{field}={differences.get(field)}")
    if rule is None:
        return "The reader does not take it.", ""
    later = completed_at(setting, len(setting.states) - 1, other.requested) if other is not None else None
    row = f"{setting.case.key}={other.value}" if other is not None and not other.deleted else "a delete"
    words: Mapping[str, Any] = {
        "r": lost.requested,
        "c": completed_at(setting, len(setting.states) - 1, lost.requested),
        "b": base,
        "o": other.requested if other is not None else None,
        "at": f", t{later}" if later else "",
        "T": setting.case.reading.query.until,
        "other": row if other is not None and not other.deleted else "row",
        "seen": f"{row}, completed t{later}," if later else "later completions",
    }
    return rule.did.format(**words), rule.right.format(**words)


def _the(case: Case) -> str:
    reading = case.reading
    if reading.reader and reading.query.kind == "incremental":
        return f"What {reading.reader} has read in all"
    return reading.says() if reading.reader else f"The {says_read(case)}"


def _file(setting: Setting, step: int, key: Any, record: Record) -> str | None:
    files = setting.case.data.get(record.requested or 0, {})
    names = [f"log {group}/{record.requested}.{version}" for (group, version), rows in files.items() if key in rows]
    there = setting.files.at(setting.states[step])
    return next((name for name in reversed(names) if name in there), None)


def _base_above(setting: Setting, step: int, group: int, barrier: int) -> int | None:
    """The oldest base file that is newer than a slice."""
    bases = [s.base for s in setting.model.slices(setting.states[step]) if s.group == group and s.base]
    return min((base for base in bases if base > barrier), default=None)


def _log_name(name: str) -> str:
    requested, _, version = name.rpartition("/")[2].partition(".")
    return f"t{requested}.log.{version}"


def _where(setting: Setting, there: Mapping[str, Any], group: int, barrier: int) -> str:
    of_group = f" of group {group}" if setting.model.world.groups > 1 else ""
    if barrier:
        return f"in slice t{barrier}{of_group}"
    barriers = [int(name.rpartition("/")[2]) for name in there if name.startswith(f"base {group}/")]
    return f"before barrier t{min(barriers)}{of_group}" if barriers else f"in the only slice{of_group}: no barrier yet"
