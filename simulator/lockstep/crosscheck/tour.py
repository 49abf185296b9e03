"""A tour: the fewest runs of a system that together cover every edge of a world's state graph.

States that differ only in the names of interchangeable actors count as one. Random histories mostly reach likely
states; a tour takes every possible step from every state. The tour begins with the runs whose edges a random walk
seldom takes. Row values are random: a tour covers all interleavings, not all data.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbcc.model import Model, World

from ... import trace as traces
from ...search.explore.quotient import Quotient
from ...search.explore.tours import tours
from ...trace_text import render, screen_width
from ..schedule import Replay
from ..shrink import shrink_disagreement
from .check import Check, CheckOptions, close
from .disagreement import Disagreement
from .generators import draw_batches

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TourReport:
    """The coverage and the outcome of a tour. `runs` and `edges` count the runs played and the edges that they covered;
    `all_runs` and `all_edges` count those of the whole tour. `disagreement` is the trace of a run in which model and
    system differed, or None.
    """

    world: World
    runs: int
    all_runs: int
    steps: int
    edges: int
    all_edges: int
    seconds: float
    seed: int
    disagreement: traces.Trace | None = None

    @property
    def exit_code(self) -> int:
        """Exit code of the command: 0 if all runs agreed, 1 if a run disagreed."""
        return int(self.disagreement is not None)

    @property
    def text(self) -> str:
        """Return the report as text: the verdict, the figures and, after a disagreement, its trace."""
        verdict = f"AGREED in {self.runs:,} of {self.all_runs:,} runs"
        if self.disagreement is not None:
            verdict = f"DISAGREED in run {self.runs:,} of {self.all_runs:,}: {self.disagreement.because}"
        share = 100 * self.edges / self.all_edges
        lines = [
            f"{verdict}, {self.steps:,} steps",
            f"  {self.edges:,} of {self.all_edges:,} edges of {self.world.name} ({share:.0f} %, up to renaming)",
            f"  seed {self.seed}, {self.seconds / 60:.1f} minutes, {int(self.disagreement is not None)} disagreements",
        ]
        return "\n".join(
            [*lines, *(["", render(self.disagreement, width=screen_width())] if self.disagreement else [])]
        )

    def to_mapping(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "format": 1,
            "verdict": "DISAGREED" if self.disagreement else "AGREED",
            "runs": self.runs,
            "all_runs": self.all_runs,
            "steps": self.steps,
            "edges": self.edges,
            "all_edges": self.all_edges,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "trace": self.disagreement.handle if self.disagreement else None,
            "because": self.disagreement.because if self.disagreement else "",
        }


def tour(
    options: CheckOptions,
    *,
    share: float = 1.0,
    seed: int = 0,
    progress: Progress | None = None,
    traces_dir: Path | None = None,
) -> TourReport:
    """Play a tour of `options.world`, or only its first runs, until the first disagreement. `share` (0 to 1) is the
    fraction of the tour's runs to play.

    After each run, `progress` is called with the run's number (from 0) and the total number of runs. Tours with the
    same seed write the same rows.

    Raises:
        ValueError: If `options.world` is None, or if the system cannot take single steps.
    """
    if options.world is None:
        raise ValueError("a tour needs a world: nbcc check WORLD --tour")
    world = options.fitted(options.world)
    graph = Quotient(options.model(world, options.protocol))
    _must_step(options, graph.model)
    edges = graph.edges()
    runs = tours(edges, graph.first)
    chosen = runs[: max(1, math.ceil(share * len(runs)))]
    check, began = Check(options), time.monotonic()
    for number, run in enumerate(chosen):
        batches = draw_batches(random.Random(f"{seed}.{number}").randrange, world)
        try:
            check.walk(graph.model, batches, Replay(list(graph.run(run))), graph=graph)
        except Disagreement:
            break
        if progress is not None:
            progress(number, len(chosen))
    played = len(check.tally.lengths) + (check.disagreed is not None)
    seconds = time.monotonic() - began
    disagreement = shrink_disagreement(check.disagreed, check.again) if check.disagreed else None
    if disagreement is not None and traces_dir is not None:
        traces.save(disagreement, traces_dir)
    return TourReport(
        world=world,
        runs=played,
        all_runs=len(runs),
        steps=sum(check.tally.lengths),
        edges=check.coverage.count(),
        all_edges=len(edges),
        seconds=seconds,
        seed=seed,
        disagreement=disagreement,
    )


def _must_step(options: CheckOptions, model: Model) -> None:
    system = options.factory(model.world, options.protocol, {})
    try:
        if getattr(system, "coarse", ()):
            raise ValueError(f"{system.name} takes several steps at once, a tour takes single ones; use --on engine")
        impossible: Mapping[str, str] = getattr(system, "impossible", {})
        for action in sorted({transition.action for transition in model.transitions} & impossible.keys()):
            raise ValueError(f"a tour takes every step, and {system.name} cannot take {action}: {impossible[action]}")
    finally:
        close(system)
