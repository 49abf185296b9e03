"""Why an answer is wrong, told along one thread: the write, its file, the rule that decides about it, the reader.

Each stop of the thread that a page draws is a sentence here. Which sentence speaks of the rule is looked up by the
protocol's field that differs from the default, so a new weak choice is one more row of `rules.RULES`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from nbcc.model import Model, Protocol, Record
from nbcc.model.answers import Data

from .files import Files
from .rows import Answers, Case, Put, visible
from .rules import HELPS, RULES

Parts = list[Any]
"""A sentence in pieces: text, or [text, requested time] where the text is coloured like that instant."""


class Setting(NamedTuple):
    """A run under one rule, with the case that is shown."""

    model: Model
    states: Sequence[Any]
    case: Case
    puts: Sequence[Put]
    files: Files

    @property
    def protocol(self) -> Protocol:
        return self.model.protocol


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


def sentence(setting: Setting, broke: int, because: str, answers_at: Sequence[Answers]) -> Parts:
    """The one sentence at the top: who wrote what, when it was acknowledged, and what is read since.

    `answers_at`: the answers from the breaking step on.
    """
    case, found = setting.case, answers_at[0]
    if not case.key and case.key not in found.wrong():
        return [f"{because[0].upper()}{because[1:]}." if because else "No promise was seen broken."]
    must, got = (found.must or {}).get(case.key), (found.got or {}).get(case.key)
    lost = _culprit(setting, must, got)
    step = published_at(setting, lost.requested)
    name = [_actor(setting, lost), lost.requested]
    if case.reading.stable:
        until: Parts = [f"step {broke}"]
        if step == broke:
            until = [name, " published ", *_put(case.key, lost), f" at step {broke}"]
        since = [" until ", *until, "; since then it returns "]
        return [f"The {_read(case)} returned ", *_row(case.key, must), *since, *_row(case.key, got), "."]
    who = [name, "'s ", *_deed(setting, case.key, lost)]
    if step is None or step > broke:
        return [*who, f" is not completed; {_since(setting, answers_at, broke)} returns it all the same."]
    if lost is got:
        completed = f" completed at t{_completed(setting, len(setting.states) - 1, lost.requested)}; "
        return [
            *who,
            completed,
            _since(setting, answers_at, broke),
            " returns it instead of ",
            *_row(case.key, must),
            ".",
        ]
    return [
        *who,
        f" was acknowledged at step {step}; {_since(setting, answers_at, broke)}",
        *_instead(setting, lost, got),
        ".",
    ]


def _instead(setting: Setting, lost: Record, got: Record | None) -> Parts:
    """What is read instead of a completed row, and in which of its two orders that row is the later one."""
    key = setting.case.key
    if got is None or got.deleted:
        return [" returns ", *_row(key, got)]
    last = len(setting.states) - 1
    ours, theirs = (_completed(setting, last, record.requested) or 0 for record in (lost, got))
    if setting.case.reading.reader and theirs > ours:
        return [" missed it but saw ", [_actor(setting, got), got.requested], "'s later ", *_put(key, got)]
    older = f", older by ordering ({got.ordering} < {lost.ordering})" if _by_ordering(setting, lost, got) else ""
    return [" returns ", *_put(key, got), older or (" again" if lost.deleted and theirs < ours else "")]


def _by_ordering(setting: Setting, lost: Record, got: Record) -> bool:
    """Whether ordering values decide between two rows, not which write completed last."""
    return setting.model.rule.event_time and lost.ordering > got.ordering


def story(setting: Setting, step: int, found: Answers, key: Any) -> Story | None:
    """The thread of one wrong answer; None if the row that is lost or too much comes from no file that is there."""
    must, got = (found.must or {}).get(key), (found.got or {}).get(key)
    lost = _culprit(setting, must, got)
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
                *_row(key, got),
                *_from(giver),
                "; it must return ",
                *_row(key, must),
                ".",
            ],
        ],
        _outcome(setting.case, right, _row(key, must)) if right else [],
    )


def _outcome(case: Case, right: str, row: Parts) -> Parts:
    """What the right rule does; what is read then, unless the two answers are one read before and after a service,
    of which either may be the wrong one.
    """
    said = f"{right[0].upper()}{right[1:]}"
    steady = case.reading.stable and case.reading.query.kind == "snapshot"
    return [f"{said}."] if steady else [f"{said}, and the reader returns ", *row, "."]


def _written(setting: Setting, step: int, key: Any, lost: Record) -> Parts:
    completed = _completed(setting, step, lost.requested)
    ordering = f", ordering {lost.ordering}" if ranked(setting.case.data) else ""
    done = f"completed t{completed} (step {published_at(setting, lost.requested)})"
    deed = " deletes " if lost.deleted else " writes "
    times = f"{ordering}: requested t{lost.requested}, {done if completed else 'not completed'}."
    return [[_actor(setting, lost), lost.requested], deed, *_put(key, lost), times]


def _beats(setting: Setting, key: Any, lost: Record, got: Record | None) -> Parts:
    """Why the row must be read and not the other one."""
    if got is None:
        return []
    other: Parts = ["the delete" if got.deleted else [f"{key}={got.value}", got.requested]]
    if _by_ordering(setting, lost, got):
        return [" It wins over ", *other, f" by ordering, {lost.ordering} > {got.ordering}."]
    last = len(setting.states) - 1
    return [" It wins over ", *other, f", completed earlier (t{_completed(setting, last, got.requested)})."]


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


def ranked(data: Data) -> bool:
    """Whether ordering values decide anything: there are two."""
    records = (record for files in data.values() for rows in files.values() for record in rows.values())
    return len({record.ordering for record in records}) > 1


def _culprit(setting: Setting, must: Record | None, got: Record | None) -> Record:
    """The row the thread follows: the one that should be read, or the one that is and should not be."""
    if must is None or (got is not None and _intrudes(setting, got)):
        assert got is not None, "two absent rows do not differ"
        return got
    return must


def _intrudes(setting: Setting, got: Record) -> bool:
    """Whether a row is read that no read of this kind may hold: not completed, completed later, or a changed answer."""
    completed = _completed(setting, len(setting.states) - 1, got.requested)
    until = setting.case.reading.query.until
    return setting.case.reading.stable or completed is None or (until is not None and completed > until)


def _rule(setting: Setting, status: str, lost: Record, other: Record | None, base: int | None) -> tuple[str, str]:
    """What decided about the file, and what the default would have done; fitting words or none."""
    differences = setting.protocol.differences()
    field = next((name for name in HELPS[status] if name in differences), next(iter(differences), ""))
    rule = RULES.get(f"{field}={differences.get(field)}")
    if rule is None:
        return "The reader does not take it.", ""
    later = _completed(setting, len(setting.states) - 1, other.requested) if other is not None else None
    row = f"{setting.case.key}={other.value}" if other is not None and not other.deleted else "a delete"
    words: Mapping[str, Any] = {
        "r": lost.requested,
        "c": _completed(setting, len(setting.states) - 1, lost.requested),
        "b": base,
        "o": other.requested if other is not None else None,
        "at": f", t{later}" if later else "",
        "T": setting.case.reading.query.until,
        "other": row if other is not None and not other.deleted else "row",
        "seen": f"{row}, completed t{later}," if later else "later completions",
    }
    return rule.did.format(**words), rule.right.format(**words)


def _since(setting: Setting, answers_at: Sequence[Answers], broke: int) -> str:
    case = setting.case
    if case.reading.reader:
        return f"{case.reading.says()} at step {broke}"
    shown = visible((answers_at[0].got or {}).get(case.key))
    later = [each for each in answers_at if each.got is not None]
    lasts = all(case.key in each.wrong() and visible((each.got or {}).get(case.key)) == shown for each in later)
    return f"every {_read(case)} from step {broke} on" if lasts else f"the {_read(case)} after step {broke}"


def _read(case: Case) -> str:
    kind, says = case.reading.query.kind, case.reading.says()
    if kind == "as_of":
        return f"read {says}"
    return says.replace(" ", " read ", 1) if kind in ("incremental", "changes") else says


def _the(case: Case) -> str:
    reading = case.reading
    if reading.reader and reading.query.kind == "incremental":
        return f"What {reading.reader} has read in all"
    return reading.says() if reading.reader else f"The {_read(case)}"


def other_rule(setting: Setting, label: str, must: Record | None, judged: int) -> Parts:
    """The sentence at the top under a rule that keeps every promise, as far as they were judged."""
    answer = [": the reader returns ", *_row(setting.case.key, must)] if setting.case.key else []
    far = "" if judged == len(setting.states) - 1 else f" (judged up to step {judged})"
    return [f"Under {label} the same steps keep every promise{far}", *answer, "."]


def _deed(setting: Setting, key: Any, record: Record) -> Parts:
    if record.deleted:
        return ["delete of ", [str(key), record.requested]]
    others = [p for p in setting.puts if p.requested != record.requested and _has(setting.case, p.requested, key)]
    return ["update " if others else "insert ", *_put(key, record)]


def _has(case: Case, requested: int, key: Any) -> bool:
    return any(key in rows for rows in case.data.get(requested, {}).values())


def _put(key: Any, record: Record) -> Parts:
    return [[str(key) if record.deleted else f"{key}={record.value}", record.requested]]


def _row(key: Any, record: Record | None) -> Parts:
    if record is None or record.deleted:
        return [f"nothing for {key}"]
    return _put(key, record)


def _actor(setting: Setting, record: Record) -> str:
    return next(put.actor for put in setting.puts if put.requested == record.requested)


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


def _completed(setting: Setting, step: int, requested: int | None) -> int | None:
    timeline = setting.model.timeline(setting.states[step])
    return next((each.completed for each in timeline if each.requested == requested), None)


def published_at(setting: Setting, requested: int | None) -> int | None:
    """The step after which an instant is completed."""
    steps = range(len(setting.states))
    return next((step for step in steps if _completed(setting, step, requested) is not None), None)
