"""Formats the report on a table as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from nbcc.engine.audit.amounts import several
from nbcc.engine.terminal import printable

from .diagnostics import Diagnostic
from .history_check import HistoryCheck, Refusal
from .report import Report

MAX_CASES = 5
MAX_ENABLED = 8


def render(report: Report) -> str:
    """Return the report as text, without a newline at the end."""
    lines = [*_head(report), *_history(report.history), *_diagnostics(report), "", *_promises(report)]
    return "\n".join(map(printable, lines))


def _head(report: Report) -> Iterator[str]:
    yield f"{report.name}  {report.url}"
    opened = "opened" if report.opened else "not opened (--deep opens them)"
    files = several(report.files, "data file")
    yield f"  version {report.version}, read by {report.rules}'s rules, {files}, {opened}"
    if report.strangers:
        yield f"  {several(report.strangers, 'other file')} in its folders, which no reader takes for data"
    yield f"  {summary(report)}"


def summary(report: Report) -> str:
    """Return the verdict and the number of diagnostics in one line."""
    broken = sum(d.gravity == "BROKEN" for d in report.diagnostics)
    risks = len(report.diagnostics) - broken
    at_risk = f"; at risk: {risks}" if risks else ""
    if report.undetermined:
        return f"UNDETERMINED: {report.undetermined}"
    if report.verdict == "BROKEN":
        reason = several(broken, "diagnostic") if broken else "the model cannot make its history"
        return f"BROKEN: {reason}{at_risk}"
    if report.verdict == "UNDETERMINED":
        return f"UNDETERMINED: nothing is broken, but evidence is missing{at_risk}"
    return "OK: fine" if report.fine else f"OK: nothing is broken{at_risk}"


def _history(check: HistoryCheck | None) -> Iterator[str]:
    if check is None:
        return
    yield ""
    counts = f"{several(check.instants, 'instant')}, {several(check.groups, 'file group')}"
    yield f"History: {counts}, {several(check.played, 'segment')} played on the model"
    if check.refusal is not None:
        yield from _refusal(check, check.refusal)
    elif check.groups:
        yield f"  possible under {check.own}" + (f" and {len(check.legal) - 1} others" if len(check.legal) > 1 else "")
    if check.refusal is not None and check.legal:
        yield f"  the whole history is possible under {', '.join(check.legal)}"
    if check.refusal is None and check.excluded:
        yield f"  not possible under {', '.join(check.excluded)}"
    for reason, groups in sorted(check.left_out.items()):
        yield f"  not checked: {several(groups, 'file group')}, because {reason}"
    for note in check.notes:
        yield f"  {note}"


def _refusal(check: HistoryCheck, refusal: Refusal) -> Iterator[str]:
    yield f"  not possible under {check.own}: at {refusal.time}, in {refusal.group}, {refusal.event}"
    for reason in refusal.reasons:
        yield f"    {reason}"
    yield f"  possible until then: the first {several(refusal.before, 'instant')} by requested time"
    if refusal.enabled:
        yield f"  possible instead: {'; '.join(refusal.enabled[:MAX_ENABLED])}"


def _diagnostics(report: Report) -> Iterator[str]:
    by_rule: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in report.diagnostics:
        by_rule.setdefault((diagnostic.gravity, diagnostic.rule), []).append(diagnostic)
    for (gravity, rule), cases in by_rule.items():
        yield ""
        yield f"{gravity} {rule}: {len(cases)}"
        for case in cases[:MAX_CASES]:
            yield f"  {case.file}"
            yield f"    {case.because}"
            yield f"    do: {case.remedy.replace('{table}', report.url)}"
        if len(cases) > MAX_CASES:
            yield f"  and {len(cases) - MAX_CASES} more (--json lists all)"


def _promises(report: Report) -> Iterator[str]:
    yield "Promises"
    for name, line in report.promises.items():
        yield f"  {name:8} {line.verdict:12} {line.because}"
