"""A judgement as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from .diagnostics import Diagnostic
from .history_check import HistoryCheck, Refusal
from .report import Report

MOST_CASES = 5
MOST_ENABLED = 8


def render(found: Report) -> str:
    """The judgement in lines; no newline at the end."""
    return "\n".join([*_head(found), *_history(found.history), *_diagnostics(found), "", *_promises(found)])


def _head(found: Report) -> Iterator[str]:
    yield f"{found.name}  {found.url}"
    opened = "opened" if found.opened else "not opened (--deep opens them)"
    yield f"  version {found.version}, by {found.rules}'s rules, {found.files:,} data files, {opened}"
    yield f"  {summary(found)}"


def summary(found: Report) -> str:
    """One line: the verdict and what it rests on."""
    broken = sum(c.gravity == "BROKEN" for c in found.diagnostics)
    risks = len(found.diagnostics) - broken
    at_risk = f"; at risk: {risks}" if risks else ""
    if found.undetermined:
        return f"UNDETERMINED: {found.undetermined}"
    if found.verdict == "BROKEN":
        return f"BROKEN: {broken} diagnostics{at_risk}" if broken else f"BROKEN: its history is not possible{at_risk}"
    if found.verdict == "UNDETERMINED":
        return f"UNDETERMINED: nothing is broken, and not all could be judged{at_risk}"
    return "OK: fine" if found.fine else f"OK: nothing is broken{at_risk}"


def _history(found: HistoryCheck | None) -> Iterator[str]:
    if found is None:
        return
    yield ""
    yield f"History: {found.instants:,} instants, {found.groups:,} file groups, {found.played:,} segments played"
    if found.refusal is not None:
        yield from _refusal(found, found.refusal)
    elif found.groups:
        yield f"  possible under {found.own}" + (f" and {len(found.legal) - 1} others" if len(found.legal) > 1 else "")
    if found.refusal is not None and found.legal:
        yield f"  all of it is possible under {', '.join(found.legal)}"
    if found.refusal is None and found.excluded:
        yield f"  not possible under {', '.join(found.excluded)}"
    for reason, groups in sorted(found.left_out.items()):
        yield f"  not judged: {groups} file groups, {reason}"
    for note in found.notes:
        yield f"  {note}"


def _refusal(found: HistoryCheck, refusal: Refusal) -> Iterator[str]:
    yield f"  not possible under {found.own}: at {refusal.time}, in {refusal.group}, {refusal.event}"
    for reason in refusal.reasons:
        yield f"    {reason}"
    yield f"  possible until then: the first {refusal.before:,} instants by requested time"
    if refusal.enabled:
        yield f"  what could have happened there: {'; '.join(refusal.enabled[:MOST_ENABLED])}"


def _diagnostics(found: Report) -> Iterator[str]:
    by_rule: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in found.diagnostics:
        by_rule.setdefault((diagnostic.gravity, diagnostic.rule), []).append(diagnostic)
    for (gravity, rule), cases in by_rule.items():
        yield ""
        yield f"{gravity} {rule}: {len(cases)}"
        for diagnostic in cases[:MOST_CASES]:
            yield f"  {diagnostic.file}"
            yield f"    {diagnostic.because}"
            yield f"    do: {diagnostic.remedy.replace('{table}', found.url)}"
        if len(cases) > MOST_CASES:
            yield f"  and {len(cases) - MOST_CASES} more (--json lists all)"


def _promises(found: Report) -> Iterator[str]:
    yield "Promises"
    for name, line in found.promises.items():
        yield f"  {name:8} {line.verdict:12} {line.because}"
