"""The report of a simulation as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .costs import Calibration
from .measures import Measures
from .scenario import Mode, Scenario
from .summary import LINES, bottleneck, falls_behind, figures, phase_shares, warnings

Runs = Mapping[Mode, Sequence[Measures]]


def text(scenario: Scenario, runs: Runs, calibration: Calibration) -> Iterator[str]:
    """The report: a line a figure, a column a mode, then the bottleneck of each mode and the warnings."""
    seeds = len(next(iter(runs.values())))
    yield f"{scenario.name}: {scenario.about or 'no description'}"
    yield (
        f"{scenario.writer_count:,} writer{'s' if scenario.writer_count > 1 else ''} for {scenario.hours:g} h on "
        f"{scenario.store}; the median of {seeds} seed{'s' if seeds > 1 else ''}"
        f"{', with the least and the greatest' if seeds > 1 else ''}"
    )
    yield ""
    table = {mode: figures(measured) for mode, measured in runs.items()}
    width = 12 if seeds == 1 else 30
    yield f"{'':56}{''.join(f'{mode:>{width}}' for mode in runs)}"
    for line in LINES:
        cells = []
        for of_mode in table.values():
            figure = of_mode[line.name]
            cell = f"{figure.median:,.{line.digits}f}"
            if seeds > 1 and figure.least != figure.greatest:
                cell += f" ({figure.least:,.{line.digits}f} to {figure.greatest:,.{line.digits}f})"
            cells.append(f"{cell:>{width}}")
        yield f"{line.words:56}{''.join(cells)} {line.unit}".rstrip()
    yield ""
    for mode, measured in runs.items():
        yield f"{mode}: {bottleneck(measured, scenario)}"
        if sentence := falls_behind(measured, mode):
            yield sentence
    for warning in warnings(scenario, calibration):
        yield f"warning: {warning}"


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
                "seconds_of_a_commit": phase_shares(measured),
                "bottleneck": bottleneck(measured, scenario),
            }
            for mode, measured in runs.items()
        },
        "warnings": warnings(scenario, calibration),
        "calibrated_on": calibration.machine,
    }
