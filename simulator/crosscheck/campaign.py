"""Histories in a row, counted over many sittings: each has the number of its seed, and a state file says how far it is.

The count starts anew when what it counts has changed: the setting, the release, its options, the table of steps, or
the histories of the seeds. A disagreement ends the row; the next sitting plays that seed again.
"""

from __future__ import annotations

import hashlib
import json
import random as numbers
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from nbcc.model import Model, Protocol, World

from ..peers.hudi.options import options
from ..peers.hudi.release import NEWEST
from ..schedule import Lingering, Pct, Random, Schedule, Swarm
from ..systems import System
from ..systems.hudi_histories import does_otherwise
from ..systems.hudi_steps import IMPOSSIBLE, STEPS
from ..systems.model import ModelSystem
from ..trace import Batches, Trace
from .check import Check, CheckOptions
from .disagreement import Disagreement
from .history import SNAPSHOT, History
from .observables import model_rows
from .overlaps import table
from .report import Tally

FORMAT = 1
KEPT = Path(str(files("nbcc") / "specs" / "rows" / f"hudi-{NEWEST}.json"))
"""How far the row on Apache Hudi is, of one sitting after the other: the next one goes on from here."""
SPREAD_ONE_IN = 8
"""Of so many histories one has the world that was drawn; the others have it with one bucket a partition."""
RESTLESS: tuple[Callable[[], Schedule], ...] = (
    lambda: Lingering(Random()),
    lambda: Lingering(Random()),
    lambda: Lingering(Swarm(Random())),
    Pct,
)
"""The schedules of the crowded ones: those under which most instants overlap, and some under which few do."""


LEAST: Mapping[str, int] = {"writer": 3, "compactor": 1, "rollbacker": 2}
"""Who is there at least in a crowded one. Nobody else is drawn, so that mechanisms come and go and seeds stay."""
SAMPLE = 12
"""So many seeds stand for all when it is asked whether they still draw the same."""


class NoRow(ValueError):
    """A file that holds something else than a row."""


@dataclass
class Row:
    """Histories in a row that agreed: seeds 0 to ``histories`` - 1. ``of`` is the hash of what is counted."""

    of: str
    histories: int = 0
    steps: int = 0
    crowded: int = 0  # with overlapping instants on one file group
    overlapping: int = 0  # of these a compaction and a write
    seconds: float = 0.0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    found: Trace | None = None

    @classmethod
    def read(cls, path: Path, of: str) -> Row:
        """The row that a file tells of, or a new one if there is none or it counts something else."""
        row = cls.kept(path)
        return row if row.of == of else cls(of)

    @classmethod
    def kept(cls, path: Path) -> Row:
        """The row that a file tells of, whatever it counts. NoRow: the file is of another kind, and stays as it is."""
        if not path.exists():
            return cls("")
        try:
            told: dict[str, Any] = dict(json.loads(path.read_text("utf-8")))
            if told.pop("format", None) != FORMAT:
                raise ValueError("another format")
            pairs = Counter({tuple(kinds.split(", ")): count for kinds, count in told.pop("pairs").items()})
            return cls(pairs=pairs, skipped=Counter(told.pop("skipped")), **told)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise NoRow(f"{path} counts no histories in a row; name another file, or delete it") from None

    def write(self, path: Path) -> None:
        """Keep it."""
        told = {name: value for name, value in vars(self).items() if name not in ("pairs", "found")}
        told["pairs"] = {", ".join(kinds): count for kinds, count in sorted(self.pairs.items())}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"format": FORMAT, **told}, indent=1) + "\n", encoding="utf-8")

    @property
    def text(self) -> str:
        """The count, and the table of pairs."""
        if not self.histories:
            return "no history agreed"
        share, both = (100 * n / self.histories for n in (self.crowded, self.overlapping))
        return "\n".join([
            f"{self.histories:,} histories in a row agree, {self.steps:,} steps, "
            f"{60 * self.histories / max(self.seconds, 1e-9):.1f} a minute",
            f"  {share:.0f} % with overlapping instants on one file group, {both:.0f} % with a compaction and a write",
            *table(self.pairs),
            *(f"  not compared: {what} ({count})" for what, count in sorted(self.skipped.items())),
        ])  # fmt: skip


def counted(setting: CheckOptions) -> str:
    """What a row counts, as a hash. Mechanisms that it cannot meet may come and go."""
    steps = [(step.action, step.call, step.takes) for step in STEPS if not step.impossible]
    driven = [NEWEST, options("", 1, {})]
    other = [] if setting.system in ("", "hudi") else [setting.system]  # rows are Hudi's unless they say whose
    told = [setting.protocol.differences(), *driven, steps, _sample(setting.protocol, setting.fitted), *other]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:12]


@cache
def _sample(protocol: Protocol, fitted: Callable[[World], World]) -> list[Any]:
    """What the first seeds draw, and what the model says of the table at the end."""
    told: list[Any] = []

    def fresh(world: World, protocol: Protocol) -> Model:  # not `Model`: nobody counts the edges of the pinned world
        return Model(world, protocol)

    def tell(history: History, tally: Tally) -> None:
        rows = model_rows(history.model, history.state, SNAPSHOT, history.data)
        told.append([[tuple(step) for step in history.steps], history.timeline, rows])

    alone = CheckOptions(stand_in, protocol=protocol, fitted=fitted, model=fresh, readers=(tell,))
    for seed in range(SAMPLE):
        Check(of_seed(seed, alone)).play(numbers.Random(seed).randrange)
    return told


def stand_in(world: World, protocol: Protocol, batches: Batches) -> System:
    """The model in the place of Hudi: it is asked for the same steps."""
    return StandIn(Model(world, protocol), batches)


class StandIn(ModelSystem):
    """A model that leaves out what Hudi cannot do, or would do otherwise."""

    impossible: Mapping[str, str] = IMPOSSIBLE
    does_otherwise = staticmethod(does_otherwise)


def go_on(
    setting: CheckOptions,
    path: Path,
    until: int,
    seconds: float | None = None,
    progress: Callable[[int], None] = lambda histories: None,
) -> Row:
    """Play seed after seed from where the file stands, to ``until`` histories or until ``seconds`` are over.

    The row's ``found`` is the trace of a disagreement, as it was played; the file then holds a new row's beginning.
    """
    row, began = Row.read(path, counted(setting)), time.monotonic()
    while row.histories < until and (seconds is None or time.monotonic() - began < seconds):
        started = time.monotonic()
        check = Check(of_seed(row.histories, setting))
        try:
            check.play(numbers.Random(row.histories).randrange)
        except Disagreement:
            row.found = check.disagreed
            Row(row.of).write(path)
            return row
        _add(row, check, time.monotonic() - started)
        row.write(path)
        progress(row.histories)
    return row


def _add(row: Row, check: Check, seconds: float) -> None:
    tally = check.tally
    row.histories += 1
    row.steps += sum(tally.lengths)
    row.crowded += tally.crowded
    row.overlapping += tally.overlapping
    row.seconds += seconds
    row.pairs.update(tally.pairs)
    row.skipped.update(tally.skipped)


def of_seed(seed: int, setting: CheckOptions) -> CheckOptions:
    """The setting of the history of a seed: most are crowded, and nobody runs to the end where others could begin."""
    setting = replace(setting, kinds=tuple(LEAST))
    if seed % SPREAD_ONE_IN == 0:
        return setting
    return replace(setting, fitted=lambda world: setting.fitted(crowd(world)), schedules=RESTLESS)


def crowd(world: World) -> World:
    """The world with three writers, a compactor and two who roll back at least, and one bucket a partition."""
    actors = {kind: max(count, LEAST.get(kind, 0)) for kind, count in world.actors.items()}
    whole = (1,) * world.partitions
    writes = {
        write: shape[: world.partitions] if any(shape[: world.partitions]) else whole
        for write, shape in world.writes.items()
    }
    crowded = world.replace(table_type="MERGE_ON_READ", actors={**LEAST, **actors}, buckets=1, writes=writes)
    return crowded.replace(writes_per_writer=2, crashes=2, stalls=1, rollbacks=3)
