"""The report of a check: its statistics and, if model and system disagreed, the trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from nbcc.model import Step

from ...trace import Trace, context_switches
from ...trace_text import render, screen_width


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of `nbcc check`: how many histories and steps it played, what they covered, and the disagreement, if
    any.

    ``overlapping`` counts histories in which a compaction and a write were pending at the same time. ``edges`` counts
    the edges that the histories covered in the state graph of one small world, `coverage.PINNED`; ``all_edges`` counts
    all edges of this graph. ``differences`` counts the wrong answers of foreign readers, all of which the model
    predicted. Their keys are the options of the reader's
    protocol that explain the wrong answers, such as the merge order.
    ``skipped`` counts steps and reads that the system does not support. ``faults`` counts the requests on which a store
    injected a fault, by method and kind of fault. ``disagreement`` is the shortened trace of a history in which model
    and system differed, or None.
    """

    histories: int
    steps: int
    lengths: tuple[int, ...]
    switches: tuple[int, ...]
    overlapping: int
    edges: int
    all_edges: int
    seconds: float
    seed: int
    differences: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    disagreement: Trace | None = None

    @property
    def agreed(self) -> bool:
        """True if at least one history was played and no history disagreed."""
        return self.disagreement is None and self.histories > 0

    @property
    def exit_code(self) -> int:
        """The exit code: 0 if all histories agreed, 1 if a history disagreed, 3 if no history was played."""
        return 1 if self.disagreement is not None else 0 if self.histories else 3

    @property
    def sentence(self) -> str:
        """Return the verdict as a sentence. A check never reports HOLDS, because histories are random samples."""
        if self.disagreement is not None:
            return f"DISAGREED after {self.histories} histories: {self.disagreement.because}"
        if not self.histories:
            return "UNDETERMINED: no history was played"
        return f"AGREED in {self.histories} histories, {self.steps} steps (random: no proof)"

    @property
    def text(self) -> str:
        """Return the report as text: the verdict, the figures and, after a disagreement, its trace."""
        figures = (
            []
            if not self.histories
            else [
                f"  median {median(self.lengths):g} steps, {median(self.switches):g} context switches a history",
                f"  {100 * self.overlapping / self.histories:.0f} % with a compaction overlapping a write",
                f"  {self.edges} of {self.all_edges} edges of the pinned world "
                f"({100 * self.edges / self.all_edges:.0f} %, up to renaming)",
                f"  seed {self.seed}, {self.seconds:.1f} s",
                *(
                    f"  {rule}: {count} answers differ, as predicted"
                    for rule, count in sorted(self.differences.items())
                ),
                *(f"  not compared: {what} ({count})" for what, count in sorted(self.skipped.items())),
                *([f"  failed requests: {self._failed()}"] if self.faults else []),
            ]
        )
        run = ["", render(self.disagreement, width=screen_width())] if self.disagreement else []
        return "\n".join([self.sentence, *figures, *run])

    def _failed(self) -> str:
        return ", ".join(f"{what} ({count})" for what, count in sorted(self.faults.items()))

    def to_mapping(self) -> dict[str, Any]:
        """Return the report as a JSON value."""
        return {
            "format": 1,
            "verdict": "DISAGREED" if self.disagreement else "AGREED" if self.histories else "UNDETERMINED",
            "histories": self.histories,
            "steps": self.steps,
            "median_steps": median(self.lengths) if self.lengths else 0,
            "median_switches": median(self.switches) if self.switches else 0,
            "overlapping": self.overlapping,
            "edges": self.edges,
            "all_edges": self.all_edges,
            "seconds": round(self.seconds, 3),
            "seed": self.seed,
            "differences": dict(self.differences),
            "skipped": dict(self.skipped),
            **({"faults": dict(self.faults)} if self.faults else {}),
            "trace": self.disagreement.handle if self.disagreement else None,
            "because": self.disagreement.because if self.disagreement else "",
        }


class Tally:
    """The running totals of a check: histories, steps, overlaps and skipped comparisons."""

    def __init__(self) -> None:
        self.lengths: list[int] = []
        self.switches: list[int] = []
        self.overlapping = 0
        self.differences: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.pairs: Counter[tuple[str, str]] = Counter()  # histories by overlapping kinds of actions
        self.crowded = 0  # histories with any such overlap

    def add(self, steps: Sequence[Step], overlapped: bool, pairs: Collection[tuple[str, str]] = ()) -> None:
        """Count a history that was played to its end."""
        self.pairs.update(pairs)
        self.crowded += bool(pairs)
        self.lengths.append(len(steps))
        self.switches.append(context_switches(steps))
        self.overlapping += overlapped
