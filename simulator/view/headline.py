"""The one sentence at the top of a page: what was acknowledged, what is read since, and what another rule changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbcc.model import Record

from .rows import Answers, Case, visible
from .telling import (
    Parts,
    Setting,
    actor_of,
    by_ordering,
    completed_at,
    culprit,
    published_at,
    says_put,
    says_read,
    says_row,
)


def sentence(setting: Setting, broke: int, because: str, answers_at: Sequence[Answers]) -> Parts:
    """The one sentence at the top: who wrote what, when it was acknowledged, and what is read since.

    `answers_at`: the answers from the breaking step on.
    """
    case, found = setting.case, answers_at[0]
    if not case.key and case.key not in found.wrong():
        return [f"{because[0].upper()}{because[1:]}." if because else "No promise was seen broken."]
    must, got = (found.must or {}).get(case.key), (found.got or {}).get(case.key)
    if setting.model.merger.combination:  # a row of several writes: no one of them is lost
        what = _since(setting, answers_at, broke)
        said = [*says_row(case.key, got), "; it must return ", *says_row(case.key, must)]
        return [f"{what[0].upper()}{what[1:]} returns ", *said, "."]
    lost = culprit(setting, must, got)
    step = published_at(setting, lost.requested)
    name = [actor_of(setting, lost), lost.requested]
    if case.reading.stable:
        until: Parts = [f"step {broke}"]
        if step == broke:
            until = [name, " published ", *says_put(case.key, lost), f" at step {broke}"]
        since = [" until ", *until, "; since then it returns "]
        return [f"The {says_read(case)} returned ", *says_row(case.key, must), *since, *says_row(case.key, got), "."]
    who = [name, "'s ", *_deed(setting, case.key, lost)]
    if step is None or step > broke:
        return [*who, f" is not completed; {_since(setting, answers_at, broke)} returns it all the same."]
    if lost is got:
        completed = f" completed at t{completed_at(setting, len(setting.states) - 1, lost.requested)}; "
        return [
            *who,
            completed,
            _since(setting, answers_at, broke),
            " returns it instead of ",
            *says_row(case.key, must),
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
        return [" returns ", *says_row(key, got)]
    last = len(setting.states) - 1
    ours, theirs = (completed_at(setting, last, record.requested) or 0 for record in (lost, got))
    if setting.case.reading.reader and theirs > ours:
        return [" missed it but saw ", [actor_of(setting, got), got.requested], "'s later ", *says_put(key, got)]
    older = f", older by ordering ({got.ordering} < {lost.ordering})" if by_ordering(setting, lost, got) else ""
    return [" returns ", *says_put(key, got), older or (" again" if lost.deleted and theirs < ours else "")]


def _since(setting: Setting, answers_at: Sequence[Answers], broke: int) -> str:
    case = setting.case
    if case.reading.reader:
        return f"{case.reading.says()} at step {broke}"
    shown = visible((answers_at[0].got or {}).get(case.key))
    later = [each for each in answers_at if each.got is not None]
    lasts = all(case.key in each.wrong() and visible((each.got or {}).get(case.key)) == shown for each in later)
    return f"every {says_read(case)} from step {broke} on" if lasts else f"the {says_read(case)} after step {broke}"


def other_rule(setting: Setting, label: str, must: Record | None, judged: int) -> Parts:
    """The sentence at the top under a rule that keeps every promise, as far as they were judged."""
    answer = [": the reader returns ", *says_row(setting.case.key, must)] if setting.case.key else []
    far = "" if judged == len(setting.states) - 1 else f" (judged up to step {judged})"
    return [f"Under {label} the same steps keep every promise{far}", *answer, "."]


def _deed(setting: Setting, key: Any, record: Record) -> Parts:
    if record.deleted:
        return ["delete of ", [str(key), record.requested]]
    others = [p for p in setting.puts if p.requested != record.requested and _has(setting.case, p.requested, key)]
    return ["update " if others else "insert ", *says_put(key, record)]


def _has(case: Case, requested: int, key: Any) -> bool:
    return any(key in rows for rows in case.data.get(requested, {}).values())
