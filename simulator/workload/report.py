"""Formats the results of a simulation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import ceil
from textwrap import wrap
from typing import Any, Final, NamedTuple

from .costs import Calibration
from .measures import Measures
from .recorded import Recorded
from .scenario import Mode, Scenario
from .summary import LINES, Figure, Line, bottleneck, falls_behind, figures, phase_shares, warnings, writer_figures

Runs = Mapping[Mode, Sequence[Measures]]
COLUMNS: Final = 80
LEAST_WORDS: Final = 38
"""The least width of the column of words; the words of a row may take several lines."""


class IntervalReport(NamedTuple):
    """Simulation results that share a compaction interval. `every` is the interval in seconds, or 0 if no compactions
    run.
    """

    every: float
    runs: Runs


def text(
    scenario: Scenario, blocks: Sequence[IntervalReport], calibration: Calibration, past: Recorded | None = None
) -> Iterator[str]:
    """Yield the lines of the report: one row for each statistic, one column for each mode and compaction interval, then
    bottlenecks and warnings.

    If `past` is given, the first column contains the statistics from the table's timeline.
    """
    seeds = len(next(iter(blocks[0].runs.values())))
    yield f"{scenario.name}: {scenario.about or 'no description'}"
    yield (
        f"{scenario.writer_count:,} writer{'s' if scenario.writer_count > 1 else ''} for {_hours(scenario)} h on "
        f"{scenario.store}; the median of {seeds} seed{'s' if seeds > 1 else ''}"
        f"{', plus or minus half of the range' if seeds > 1 else ''}"
    )
    if past is not None:
        yield _of_the_past(past)
    yield from _tables(blocks, past)
    yield ""
    for block in blocks:
        about = f", {interval(block.every)}" if len(blocks) > 1 else ""
        case = replace(scenario, compaction=replace(scenario.compaction, every=block.every))
        for mode, measured in block.runs.items():
            yield f"{mode}{about}: {bottleneck(measured, case)}"
            if sentence := falls_behind(measured, f"{mode}{about}"):
                yield sentence
    for warning in warnings(scenario, calibration):
        yield f"warning: {warning}"


def interval(every: float) -> str:
    """Return the compaction interval as text, such as ``each 5 min``."""
    if not every:
        return "never compacted"
    return f"each {every / 60:.3g} min" if every >= 60 else f"each {every:.3g} s"


def _of_the_past(past: Recorded) -> str:
    counted = f"{past.compactions} compaction{'s' if past.compactions != 1 else ''}"
    often = f"{counted}, {interval(past.every)}" if past.every else counted
    mode = f"the table's own mode is {past.mode}" if past.mode else "the table does not record its own mode"
    return f"{mode}; {often}; latency is recorded from request to completion"


def _past_cell(past: Recorded, line: Line) -> str:
    value = past.figures.get(line.name)
    return "-" if value is None else f"{value:,.{line.digits}f}"


def _hours(scenario: Scenario) -> str:
    return f"{scenario.hours:.3g}" if scenario.recorded else f"{scenario.hours:g}"


def _cell(figure: Figure, digits: int) -> str:
    half = (figure.greatest - figure.least) / 2
    return f"{figure.median:,.{digits}f}" + (f" \u00b1{half:,.{digits}f}" if half else "")


class MeasuredRow(NamedTuple):
    """One row of the report: its words with the unit, and a cell for each column."""

    words: str
    cells: Sequence[str]


def _tables(blocks: Sequence[IntervalReport], past: Recorded | None) -> Iterator[str]:
    """Yield the lines of the tables. Columns that do not fit into `COLUMNS` begin another table."""
    columns = [(mode, measured) for block in blocks for mode, measured in block.runs.items()]
    heads = [*([] if past is None else ["recorded"]), *(mode for mode, _ in columns)]
    spans = [interval(block.every) if len(blocks) > 1 else "" for block in blocks for _ in block.runs]
    spans = [*[""] * (len(heads) - len(spans)), *spans]
    rows = [*_rows(columns, past), *_by_writers(columns, len(heads) - len(columns))]
    width = max(8, *(2 + len(cell) for row in rows for cell in row.cells))
    fit = max(1, (COLUMNS - LEAST_WORDS) // width)
    at_once = ceil(len(heads) / ceil(len(heads) / fit))
    for first in range(0, len(heads), at_once):
        here = slice(first, first + at_once)
        words = COLUMNS - width * len(heads[here])
        yield ""
        if any(spans[here]):
            firsts = [span if span not in spans[first:n] else "" for n, span in enumerate(spans)]
            yield _aligned("", firsts[here], words, width)
        yield _aligned("", heads[here], words, width)
        for row in rows:
            *above, last = wrap(row.words, words - 1)
            yield from above
            yield _aligned(last, row.cells[here], words, width)


def _aligned(text: str, cells: Sequence[str], words: int, width: int) -> str:
    return f"{text:{words}}{''.join(f'{cell:>{width}}' for cell in cells)}".rstrip()


def _rows(columns: Sequence[tuple[Mode, Sequence[Measures]]], past: Recorded | None) -> Iterator[MeasuredRow]:
    tables = [figures(measured) for _, measured in columns]
    for line in LINES:
        cells = [_past_cell(past, line)] if past is not None else []
        cells += [_cell(of_mode[line.name], line.digits) for of_mode in tables]
        yield MeasuredRow(f"{line.words}, {line.unit}" if line.unit else line.words, cells)


def _by_writers(columns: Sequence[tuple[Mode, Sequence[Measures]]], skipped: int) -> Iterator[MeasuredRow]:
    """Yield rows with commits, attempts and latency for each group of writers, if the scenario has several groups. The
    first `skipped` cells of each row are "-".
    """
    kinds = {name: None for mode, measured in columns if mode != "single" for name in measured[0].by_writer}
    for kind in kinds if len(kinds) > 1 else ():
        groups = [writer_figures(measured, kind) for _, measured in columns]
        for place, (words, digits) in enumerate((("commits in all", 0), ("attempts for each", 1), ("median, s", 2))):
            cells = ["-"] * skipped + [f"{group[place]:,.{digits}f}" if group else "-" for group in groups]
            yield MeasuredRow(f"{kind}: {words}", cells)


def document(
    scenario: Scenario, blocks: Sequence[IntervalReport], calibration: Calibration, past: Recorded | None = None
) -> dict[str, Any]:
    """Return the report as a JSON value. If there are several compaction intervals, `modes` describes the runs with the
    last interval, and `compared_with` describes the runs with the first interval.
    """
    made: dict[str, Any] = {
        "scenario": scenario.name,
        "hours": scenario.hours,
        "writers": scenario.writer_count,
        "store": scenario.store,
        **_block(scenario, blocks[-1]),
    }
    if len(blocks) > 1:
        made["compared_with"] = _block(scenario, blocks[0])
    if past is not None:
        made["recorded"] = {
            "mode": past.mode, "compactions": past.compactions, "compact_every": past.every,
            "figures": dict(past.figures),
        }  # fmt: skip
    return {**made, "warnings": warnings(scenario, calibration), "calibrated_on": calibration.machine}


def _block(scenario: Scenario, block: IntervalReport) -> dict[str, Any]:
    case = replace(scenario, compaction=replace(scenario.compaction, every=block.every))
    return {
        "compact_every": block.every,
        "modes": {
            mode: {
                "figures": {
                    name: {"median": figure.median, "least": figure.least, "greatest": figure.greatest}
                    for name, figure in figures(measured).items()
                },
                "by_writers": {
                    kind: dict(zip(("commits", "attempts_of_each", "latency_p50"), group, strict=True))
                    for kind in measured[0].by_writer
                    if (group := writer_figures(measured, kind))
                },
                "seconds_of_a_commit": phase_shares(measured),
                "bottleneck": bottleneck(measured, case),
            }
            for mode, measured in block.runs.items()
        },
    }
