"""The report of a simulation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .costs import Calibration
from .measures import Measures
from .scenario import Mode, Scenario
from .summary import LINES, Figure, bottleneck, falls_behind, figures, phase_shares, warnings, writer_figures

Runs = Mapping[Mode, Sequence[Measures]]


def text(scenario: Scenario, runs: Runs, calibration: Calibration) -> Iterator[str]:
    """The report: a line a figure, a column a mode, then the bottleneck of each mode and the warnings."""
    seeds = len(next(iter(runs.values())))
    yield f"{scenario.name}: {scenario.about or 'no description'}"
    yield (
        f"{scenario.writer_count:,} writer{'s' if scenario.writer_count > 1 else ''} for {scenario.hours:g} h on "
        f"{scenario.store}; the median of {seeds} seed{'s' if seeds > 1 else ''}"
        f"{', plus or minus half of the range' if seeds > 1 else ''}"
    )
    yield ""
    table = {mode: figures(measured) for mode, measured in runs.items()}
    width = 12 if seeds == 1 else 22
    yield f"{'':58}{''.join(f'{mode:>{width}}' for mode in runs)}"
    for line in LINES:
        cells = [f"{_cell(of_mode[line.name], line.digits):>{width}}" for of_mode in table.values()]
        yield f"{line.words:58}{''.join(cells)}  {line.unit}".rstrip()
    yield from _by_writers(runs, width)
    yield ""
    for mode, measured in runs.items():
        yield f"{mode}: {bottleneck(measured, scenario)}"
        if sentence := falls_behind(measured, mode):
            yield sentence
    for warning in warnings(scenario, calibration):
        yield f"warning: {warning}"


def _cell(figure: Figure, digits: int) -> str:
    """The median, and half of the range over the seeds."""
    half = (figure.greatest - figure.least) / 2
    return f"{figure.median:,.{digits}f}" + (f" \u00b1{half:,.{digits}f}" if half else "")


def _by_writers(runs: Runs, width: int) -> Iterator[str]:
    """Commits, aborts and latency of each kind of writers, if there are several kinds."""
    kinds = {name: None for mode, measured in runs.items() if mode != "single" for name in measured[0].by_writer}
    if len(kinds) < 2:
        return
    for kind in kinds:
        groups = {mode: writer_figures(measured, kind) for mode, measured in runs.items()}
        for place, (words, digits) in enumerate((("commits in all", 0), ("attempts for each", 1), ("median, s", 2))):
            cells = [f"{group[place]:,.{digits}f}" if group else "-" for group in groups.values()]
            yield f"{f'{kind}: {words}':58}{''.join(f'{cell:>{width}}' for cell in cells)}"


def document(scenario: Scenario, runs: Runs, calibration: Calibration) -> dict[str, Any]:
    """The report as JSON."""
    return {
        "scenario": scenario.name,
        "hours": scenario.hours,
        "writers": scenario.writer_count,
        "store": scenario.store,
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
                "bottleneck": bottleneck(measured, scenario),
            }
            for mode, measured in runs.items()
        },
        "warnings": warnings(scenario, calibration),
        "calibrated_on": calibration.machine,
    }
