"""Composes the headline of a trace's page, which names an acknowledged write and the answers of later reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nbcc.model import Record

from .content import Parts
from .rows import Example, ReadAnswers, visible
from .wording import (
    PageContext,
    actor_of,
    completed_at,
    lost_row,
    published_at,
    read_words,
    row_words,
    wins_by_ordering,
    write_words,
)


def sentence(context: PageContext, broke: int, because: Parts, answers_at: Sequence[ReadAnswers]) -> Parts:
    """Return the sentence at the top of a page, which names the write, the step that acknowledged it, and the answers
    of later reads.

    `broke` is the number of the step that violates the promise; without a wrong answer the sentence is `because`.
    `answers_at` contains the read's answers from step
    `broke` onwards.
    """
    case, found = context.case, answers_at[0]
    if not case.key and case.key not in found.wrong():
        return because
    must, got = (found.must or {}).get(case.key), (found.got or {}).get(case.key)
    if context.model.merger.combination:  # a row combines several writes: none of them alone is lost
        what = _since(context, answers_at, broke)
        words = [*row_words(case.key, got), "; it must return ", *row_words(case.key, must)]
        return [f"{what[0].upper()}{what[1:]} returns ", *words, "."]
    lost = lost_row(context, must, got)
    step = published_at(context, lost.requested)
    name = [actor_of(context, lost), lost.requested]
    if case.reading.stable:
        until: Parts = [f"step {broke}"]
        if step == broke:
            until = [name, " published ", *write_words(case.key, lost), f" at step {broke}"]
        since = [" until ", *until, "; since then it returns "]
        return [f"The {read_words(case)} returned ", *row_words(case.key, must), *since, *row_words(case.key, got), "."]
    who = [name, "'s ", *_write_words(context, case.key, lost)]
    if step is None or step > broke:
        return [*who, f" is not completed; {_since(context, answers_at, broke)} returns it all the same."]
    if lost is got:
        completed = f" completed at t{completed_at(context, len(context.states) - 1, lost.requested)}; "
        return [
            *who,
            completed,
            _since(context, answers_at, broke),
            " returns it instead of ",
            *row_words(case.key, must),
            ".",
        ]
    return [
        *who,
        f" was acknowledged at step {step}; {_since(context, answers_at, broke)}",
        *_instead(context, lost, got),
        ".",
    ]


def _instead(context: PageContext, lost: Record, got: Record | None) -> Parts:
    """Return the phrase that states what the read returns in place of the row `lost`."""
    key = context.case.key
    if got is None or got.deleted:
        return [" returns ", *row_words(key, got)]
    last = len(context.states) - 1
    ours, theirs = (completed_at(context, last, record.requested) or 0 for record in (lost, got))
    if context.case.reading.reader and theirs > ours:
        return [" missed it but saw ", [actor_of(context, got), got.requested], "'s later ", *write_words(key, got)]
    older = f", older by ordering ({got.ordering} < {lost.ordering})" if wins_by_ordering(context, lost, got) else ""
    return [" returns ", *write_words(key, got), older or (" again" if lost.deleted and theirs < ours else "")]


def _since(context: PageContext, answers_at: Sequence[ReadAnswers], broke: int) -> str:
    case = context.case
    if case.reading.reader:
        return f"{case.reading.words()} at step {broke}"
    shown = visible((answers_at[0].got or {}).get(case.key))
    later = [each for each in answers_at if each.got is not None]
    lasts = all(case.key in each.wrong() and visible((each.got or {}).get(case.key)) == shown for each in later)
    return f"every {read_words(case)} from step {broke} on" if lasts else f"the {read_words(case)} after step {broke}"


def other_rule(context: PageContext, label: str, must: Record | None, judged: int) -> Parts:
    """Return a sentence such as `Under tombstones keep the same steps keep every promise.`"""
    answer = [": the reader returns ", *row_words(context.case.key, must)] if context.case.key else []
    far = "" if judged == len(context.states) - 1 else f" (judged up to step {judged})"
    return [f"Under {label} the same steps keep every promise{far}", *answer, "."]


def _write_words(context: PageContext, key: Any, record: Record) -> Parts:
    if record.deleted:
        return ["delete of ", [str(key), record.requested]]
    others = [p for p in context.puts if p.requested != record.requested and _has(context.case, p.requested, key)]
    return ["update " if others else "insert ", *write_words(key, record)]


def _has(case: Example, requested: int, key: Any) -> bool:
    return any(key in rows for rows in case.data.get(requested, {}).values())
