"""Formats the report on a table as text for a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from nbcc.engine.audit.amounts import several
from nbcc.engine.terminal import folded, printable

from .diagnostics import Diagnostic
from .history_check import HistoryCheck, RefusedHistory
from .report import SHOWN, Report

MAX_CASES = 5
MAX_ENABLED = 8

_REMEDY: Final = "    do: "
_NUMBERS: Final = re.compile(r"[\w.=/-]*\d[\w.=/-]*")
"""Times, counts and names of files."""


def render(report: Report) -> str:
    """Return the report as text, without a newline at the end."""
    lines = [*_head(report), *_history(report.history), *_diagnostics(report), *_health(report), "", *_promises(report)]
    return "\n".join(row for line in lines for row in ([printable(line)] if _is_command(line) else folded([line])))


def _is_command(line: str) -> bool:
    """Return True for a remedy with a command, which a reader copies as one line."""
    return _REMEDY in line and "nbcc " in line


def _head(report: Report) -> Iterator[str]:
    yield f"{report.name}  {report.url}"
    opened = "opened" if report.opened else "not opened (--deep opens them)"
    files = several(report.files, "data file")
    yield f"  version {report.version}, read by {report.rules}'s rules, {files}, {opened}"
    if report.strangers:
        yield f"  {several(report.strangers, 'other file')} in its folders, which no reader takes for data"
    if len(report.judged) < len(SHOWN):
        yield f"  timeline layout 1 has no completion times: {', '.join(report.judged)} are judged, and no history"
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


def _refusal(check: HistoryCheck, refusal: RefusedHistory) -> Iterator[str]:
    yield f"  not possible under {check.own}: at {refusal.time}, in {refusal.group}, {refusal.event}"
    for reason in refusal.reasons:
        yield f"    {reason}"
    yield f"  possible until then: the first {several(refusal.before, 'instant')} by requested time"
    if refusal.enabled:
        yield f"  possible instead: {'; '.join(refusal.enabled[:MAX_ENABLED])}"


def _diagnostics(report: Report) -> Iterator[str]:
    """Yield each cause once, with its places: diagnostics whose phrases differ in times and numbers alone."""
    causes: dict[tuple[str, ...], list[Diagnostic]] = {}
    for diagnostic in report.diagnostics:
        phrases = (_NUMBERS.sub("", text) for text in (diagnostic.because, diagnostic.remedy))
        causes.setdefault((diagnostic.gravity, diagnostic.rule, *phrases), []).append(diagnostic)
    for (gravity, rule, *_), cases in causes.items():
        yield ""
        yield f"{gravity} {rule}: {len(cases)}"
        yield from (f"  {case.file}" for case in cases[:MAX_CASES])
        if len(cases) > MAX_CASES:
            yield f"  and {len(cases) - MAX_CASES} more (--json lists all)"
        yield f"    {cases[0].because}"
        yield from (f"{_REMEDY}{remedy}" for remedy in _remedies(cases, report.url))
    if report.diagnostics:
        yield ""
        yield f"What they mean: nbcc explain {report.diagnostics[0].rule}"


def _remedies(cases: list[Diagnostic], url: str) -> Iterator[str]:
    """Yield the remedies of one cause: all if they are commands, otherwise the first."""
    found = list(dict.fromkeys(case.remedy.replace("{table}", url) for case in cases))
    yield from found[:MAX_CASES] if any("nbcc table" in remedy for remedy in found) else found[:1]


def _health(report: Report) -> Iterator[str]:
    """Yield the figures that have a value or a threshold."""
    figures = [figure for figure in report.health.figures if figure.value or figure.threshold is not None]
    if figures:
        yield ""
        yield "Cadence"
        yield from (f"  {'LATE ' if figure.late else ''}{figure.about}: {figure.text}" for figure in figures)


def _promises(report: Report) -> Iterator[str]:
    yield "Promises"
    for name, line in report.promises.items():
        yield f"  {name:8} {line.verdict:12} {line.because}"
