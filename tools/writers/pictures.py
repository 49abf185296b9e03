"""The pictures of docs/how-many-writers.md, as SVG texts that do not depend on the time of day."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter

from nbcc.simulator.view.style import READER, SERVICE, WRITERS
from nbcc.simulator.workload.plot import STYLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINES: Final[tuple[dict[str, Any], ...]] = tuple(
    {"color": hue.ink, "marker": marker} for hue, marker in zip((*WRITERS[:4], SERVICE, READER), "os^DvP", strict=True)
)
WORDS: Final = {"60": "a read each minute", "600": "a read each 10 minutes", "3600": "a read each hour"}


def pictures(figures: Mapping[str, Any], bench: Mapping[str, Any]) -> dict[str, str]:
    """Return a mapping from file name to SVG text. `bench` is the output of the bench of commits."""
    return {
        "commits.svg": _drawn(2, lambda axes: _commits(axes, figures["commits"], bench)),
        "writers.svg": _drawn(2, lambda axes: _writers(axes, figures)),
        "skew.svg": _drawn(2, lambda axes: _skew(axes, figures["skew"])),
        "compaction.svg": _drawn(2, lambda axes: _compaction(axes, figures["compaction"])),
    }


def _drawn(panels: int, draw: Callable[[Sequence[Axes]], None]) -> str:
    fixed: Any = {"svg.hashsalt": "nbcc", "font.size": 9, "svg.fonttype": "none", "font.family": "sans-serif"}
    with mpl.rc_context(fixed):
        figure, axes = plt.subplots(1, panels, figsize=(10, 3.9))
        draw(axes)
        figure.tight_layout()
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(figure)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def _writers(axes: Sequence[Axes], figures: Mapping[str, Any]) -> None:
    titles = {
        "shared partitions": "16 shared partitions: batches that commit, %",
        "own partitions": "a partition for each job: batches that commit, %",
    }
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        for mode, points in figures[name].items():
            ax.plot([p[0] for p in points], [p[1] for p in points], label=mode, alpha=0.9, **STYLES[mode])
        ax.set_ylim(0, 105)
        _log_ticks(ax, [int(p[0]) for p in points], "jobs, each with a batch a minute")
        _finish(ax, title)


def _commits(axes: Sequence[Axes], predicted: Sequence[Mapping[str, Any]], bench: Mapping[str, Any]) -> None:
    """Draw measured commits as points and predicted ones as lines, of writers whose data files are ready."""
    rows = [row for row in bench["stores"]["rows"] if row["phase"] == "commit"]
    counts = sorted({row["writers"] for row in rows})
    titles = {"commits_a_second": "commits a second", "median": "seconds of a commit, median"}
    for ax, (name, title) in zip(axes, titles.items(), strict=True):
        for style, mode in zip(LINES, dict.fromkeys(row["mode"] for row in rows), strict=True):
            found = [row for row in rows if row["mode"] == mode]
            ax.plot([r["writers"] for r in found], [r[name] for r in found], **{**style, "linestyle": ""}, label=mode)
            guessed = [row for row in predicted if row["mode"] == mode and row["phase"] == "commit"]
            ax.plot([r["writers"] for r in guessed], [r[name] for r in guessed], color=style["color"], linewidth=1)
        _log_ticks(ax, counts, "writers (points: measured, lines: predicted)")
        ax.set_ylim(bottom=0)
        _finish(ax, title)


def _skew(axes: Sequence[Axes], skew: Mapping[str, Any]) -> None:
    for style, (store, points) in zip(LINES, skew.items(), strict=False):
        shown = [(max(p[0], 1), *p[1:]) for p in points]
        axes[0].plot([p[0] for p in shown], [p[1] for p in shown], label=store, **style)
        axes[1].plot([p[0] for p in shown], [p[2] for p in shown], label=store, **style)
    for ax, title in zip(axes, ("most commits of a table, a minute", "skew wait, % of the lock's time"), strict=True):
        _log_ticks(ax, [1, 10, 50, 100, 200, 500, 1000], "greatest clock skew, ms (1: none)")
        ax.set_ylim(bottom=0)
        _finish(ax, title)
    axes[0].set_ylim(10, 1000)
    _log_values(axes[0])


def _compaction(axes: Sequence[Axes], compaction: Mapping[str, Any]) -> None:
    for style, (seconds, points) in zip(LINES, compaction.items(), strict=False):
        minutes, total = [p[0] for p in points], [p[1] + p[2] for p in points]
        axes[0].plot(minutes, total, label=WORDS[seconds], **style)
        axes[1].plot(minutes, [p[2] for p in points], label=WORDS[seconds], **style)
    for ax, title in zip(axes, ("writes, services and reads, $ a day", "reads alone, $ a day"), strict=True):
        _log_ticks(ax, [int(minute) for minute in minutes], "minutes between compactions")
        _finish(ax, title)
    axes[0].set_ylim(bottom=0)
    _log_values(axes[1])


def _log_values(ax: Axes) -> None:
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _log_ticks(ax: Axes, ticks: Sequence[int], words: str) -> None:
    ax.set_xscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.set_xlabel(words)


def _finish(ax: Axes, title: str) -> None:
    ax.set_title(title, loc="left", fontsize=10)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8)
    ax.spines[["top", "right"]].set_visible(False)
