"""Draws the results of a simulation: throughput and latency for several numbers of writers, log files over time, and
the phases of a commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..view.matplotlib_painter import DPI
from ..view.style import WRITERS
from .costs import Calibration
from .measures import PHASES, Measures
from .run import Watch, simulate
from .scenario import Mode, Scenario
from .summary import percentile, phase_shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Of = Callable[[Measures], float]
"""A figure of a run."""

STYLES: Final[Mapping[Mode, Mapping[str, Any]]] = {
    "nbcc": {"color": WRITERS[0].ink, "marker": "o", "linestyle": "-"},
    "occ": {"color": WRITERS[1].light, "marker": "s", "linestyle": "-"},
    "single": {"color": WRITERS[2].light, "marker": "^", "linestyle": "--"},
}
PHASE_COLORS: Final = (
    "#dfe3e7", "#a63603", "#e6550d", "#fdae6b", "#fdd0a2", "#56b4e9", "#009e73", "#a8508a", "#c6dbef",
)  # fmt: skip
LEGEND_COLUMNS: Final = 4
LABEL_HEIGHT: Final = 10.0  # in points
Factors = Sequence[float]
FACTORS: Final[Factors] = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
SWEEP_HOURS: Final = 2.0  # the longest simulated time of a run of the sweep


def sweep(
    scenario: Scenario, modes: Iterable[Mode], calibration: Calibration, watch: Watch, factors: Factors = FACTORS
) -> dict[Mode, list[tuple[int, Measures]]]:
    """Simulate each concurrency mode with different numbers of writers. Returns, for each mode, a list of pairs (number
    of writers, `Measures`). A workload recorded from a table is simulated only with the recorded number of writers.
    """
    short = replace(scenario, hours=min(scenario.hours, SWEEP_HOURS))
    sizes = {size.writer_count: size for size in (short.scaled(factor) for factor in factors)}
    runs: dict[Mode, list[tuple[int, Measures]]] = {mode: [] for mode in modes}
    total = len(sizes) * len(runs)
    for number, (mode, writers) in enumerate((mode, writers) for mode in runs for writers in sorted(sizes)):
        watch("writers", number, total)
        runs[mode].append((writers, simulate(sizes[writers], mode, calibration)))
    return runs


def draw(
    scenario: Scenario, runs: Mapping[Mode, Sequence[Measures]], calibration: Calibration, path: Path, watch: Watch
) -> None:
    """Draw the results of a simulation into a file. The file's suffix selects the format.

    Raises ValueError if no run commits anything: a logarithmic axis cannot show that.
    """
    import matplotlib.pyplot as plt

    swept = sweep(scenario, runs, calibration, watch)
    if not any(percentile(measures.latency, 95) > 0 for points in swept.values() for _, measures in points):
        raise ValueError(f"no writer commits anything in {scenario.hours:g} simulated hours: use more --hours")
    figure, ((throughput, latency), (logs, phases)) = plt.subplots(2, 2, figsize=(12, 8), dpi=DPI)
    draw_writers(throughput, swept, "committed rows a second", lambda m: m.rows / m.seconds)
    draw_writers(
        latency, swept, "commit latency, 95th percentile, seconds", lambda m: percentile(m.latency, 95), log=True
    )
    draw_logs(logs, runs)
    draw_phases(phases, runs)
    figure.suptitle(f"{scenario.name}: {scenario.about}", x=0.02, ha="left", fontsize=12)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    for axes in (throughput, latency, logs):
        label_lines(axes)
    figure.savefig(path)
    plt.close(figure)


def draw_writers(
    ax: Axes, swept: Mapping[Mode, list[tuple[int, Measures]]], words: str, of: Of, log: bool = False
) -> None:
    """Draw a statistic against the number of writers, with one curve for each concurrency mode. If `log` is True, both
    axes are logarithmic; otherwise, only the horizontal axis is.
    """
    from matplotlib.ticker import FuncFormatter, LogLocator

    for mode, points in swept.items():
        shown = [(writers, value) for writers, measures in points if (value := of(measures)) > 0 or not log]
        ax.plot(*zip(*shown, strict=True), markersize=5, alpha=0.85, label=mode, **STYLES[mode])
    ax.set_xscale("log")
    writers = sorted({writers for points in swept.values() for writers, _ in points})
    ax.set_xticks(writers, [f"{count:,}" for count in writers])
    ax.set_xlabel("writers, logarithmic scale")
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    else:
        ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    ax.minorticks_off()
    _finish(ax, words)


def draw_logs(ax: Axes, runs: Mapping[Mode, Sequence[Measures]]) -> None:
    """Draw the mean number of log files per file slice over time, for the first run of each mode."""
    for mode, measured in runs.items():
        hours = [sample[0] / 3600 for sample in measured[0].logs]
        style = {**STYLES[mode], "marker": ""}
        ax.plot(hours, [sample[1] for sample in measured[0].logs], linewidth=1.1, alpha=0.85, label=mode, **style)
    ax.set_xlabel("hours")
    ax.set_ylim(bottom=0)
    _finish(ax, "log files of a slice, mean")


def draw_phases(ax: Axes, runs: Mapping[Mode, Sequence[Measures]]) -> None:
    """Draw one bar for each mode with the share of each phase in the duration of a commit."""
    for place, measured in enumerate(runs.values()):
        shares, left = phase_shares(measured), 0.0
        total = sum(shares.values()) or 1.0
        for phase, color in zip(PHASES, PHASE_COLORS, strict=True):
            width = 100 * shares[phase] / total
            ax.barh(place, width, left=left, color=color, label=phase if place == 0 else None)
            words = seconds(shares[phase])
            if width > 1.5 * len(words):  # each letter takes about 1.3 % of the axis
                ax.text(left + width / 2, place, words, ha="center", va="center", fontsize=8, color=_text_on(color))
            left += width
    ax.set_yticks(range(len(runs)), [*runs])
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of the time of a commit")
    ax.set_title("where the time of a commit goes", loc="left", fontsize=10)
    signs, names = ax.get_legend_handles_labels()
    by_row = [place for column in range(LEGEND_COLUMNS) for place in range(column, len(names), LEGEND_COLUMNS)]
    ax.legend([signs[place] for place in by_row], [names[place] for place in by_row], ncols=LEGEND_COLUMNS, fontsize=8,
              frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.18))  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)


def seconds(value: float) -> str:
    """Return a duration as text, such as ``1,370 s`` or ``0.35 s``."""
    return f"{value:,.0f} s" if value >= 100 else f"{value:.2g} s" if value < 1 else f"{value:.3g} s"


def _text_on(color: str) -> str:
    """Return the colour of text on a bar: white on dark colours, as WCAG 2 computes the luminance."""
    from matplotlib.colors import to_rgb

    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if luminance < 0.18 else "#1b1f24"


def label_lines(ax: Axes) -> None:
    """Write the name of each line at its right end, in the colour of the line, and no name over another. Call it when
    the size and the limits of the axes are final.
    """
    drawn: list[tuple[Any, Any]] = [(line, line.get_xydata()) for line in ax.lines]
    ends = [(line, *points[-1]) for line, points in drawn if len(points)]
    if legend := ax.get_legend():
        legend.remove()
    free = float("-inf")
    for line, x, y in sorted(ends, key=lambda end: end[2]):
        at = ax.transData.transform((x, y))[1] * 72 / ax.figure.dpi
        free = max(at, free + LABEL_HEIGHT)
        ax.annotate(str(line.get_label()), (x, y), (6, free - at), textcoords="offset points", fontsize=8, va="center",
                    color=line.get_color(), annotation_clip=False)  # fmt: skip
    ax.margins(x=0.12)


def _finish(ax: Axes, words: str) -> None:
    ax.set_title(words, loc="left", fontsize=10)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8, ncols=3, loc="lower right", bbox_to_anchor=(1.0, 0.98))
    ax.spines[["top", "right"]].set_visible(False)
