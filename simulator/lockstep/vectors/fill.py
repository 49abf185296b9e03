"""Fills a folder with vectors: plays each run on the model and on the engine, and keeps it if both agree."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from nbcc.model import Model, Protocol

from ...users_factory import CannotPlay
from ..crosscheck.check import Check, CheckOptions
from ..crosscheck.disagreement import Disagreement
from ..crosscheck.generators import draw_batches
from ..crosscheck.history import PlayedHistory
from ..crosscheck.report import Tally
from ..schedule import Replay
from ..systems.registry import factory
from .files import write_vector
from .themes import VectorRun, runs_of_worlds, stored_runs

Size = Literal["tiny", "small", "standard"]
SIZES: Final[tuple[Size, ...]] = get_args(Size)


@dataclass(slots=True)
class FillReport:
    """What was written. `disagreed` maps the run of a vector that was not kept to the difference, `unplayable` the run
    that the engine does not support to the reason.
    """

    vectors: int = 0
    largest: int = 0  # bytes
    bytes: int = 0
    transitions: set[str] = field(default_factory=set)
    disagreed: dict[str, str] = field(default_factory=dict)
    unplayable: dict[str, str] = field(default_factory=dict)


def fill(
    out: Path, size: Size = "small", seed: int = 0, progress: Callable[[int, int], None] = lambda number, count: None
) -> FillReport:
    """Write the vectors of a size into the folder `out`, each into a folder of its own. The same seed writes the same
    rows.
    """
    report = FillReport()
    runs = [*_runs(size)]
    for number, run in enumerate(runs):
        progress(number, len(runs))
        try:
            # By name: a run that is added or left out changes no rows of the others.
            _play(out, run, random.Random(f"{seed}.{run.name}").randrange, report)
        except CannotPlay as error:
            report.unplayable[run.name] = str(error)
        except Disagreement as disagreement:
            report.disagreed[run.name] = str(disagreement)
            # A part of the vector may be written already, and a wrong one must not stay.
            shutil.rmtree(out / run.name, ignore_errors=True)
    return report


def _runs(size: Size) -> Iterator[VectorRun]:
    yield from runs_of_worlds(size)
    if size != "tiny":
        yield from stored_runs()


def _play(out: Path, run: VectorRun, choose: Callable[[int], int], report: FillReport) -> None:
    batches = run.batches or draw_batches(choose, run.world)

    def keep(history: PlayedHistory, tally: Tally) -> None:
        write_vector(out / run.name, run, history, batches)
        written = sum(path.stat().st_size for path in (out / run.name).rglob("*") if path.is_file())
        report.vectors += 1
        report.bytes += written
        report.largest = max(report.largest, written)
        report.transitions.update(step.action for step in history.steps)

    check = Check(CheckOptions(factory=factory("engine"), readers=(keep,)))
    # The readers run at the end of the history, after the reads that model and engine must agree on.
    check.walk(Model(run.world, Protocol()), batches, Replay(run.steps))
