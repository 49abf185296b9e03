"""Soak test: consecutive random histories on Apache Hudi that agree with the model, counted over many runs.

    python -m tools.soak [FILE] [--on SYSTEM] [--histories N] [--minutes M]

History number N is drawn from seed N. The state file records the length of the streak, so that the next run continues
it. A disagreement ends the streak. A change of the protocol, the release, its options, the table of steps or the
histories also ends the streak.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random as numbers
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from nbcc.model import Model, Protocol, World
from nbcc.model.kernel.compactor import COMPACTOR
from nbcc.model.kernel.writer import WRITER
from nbcc.model.mechanisms.rollback.rollbacker import ROLLBACKER
from nbcc.simulator import specs
from nbcc.simulator.lockstep.crosscheck.check import Check, CheckOptions
from nbcc.simulator.lockstep.crosscheck.disagreement import Disagreement
from nbcc.simulator.lockstep.crosscheck.history import SNAPSHOT, PlayedHistory
from nbcc.simulator.lockstep.crosscheck.report import Tally
from nbcc.simulator.lockstep.mapping import IMPOSSIBLE, STEPS
from nbcc.simulator.lockstep.schedule import Pct, Random, Schedule, Swarm
from nbcc.simulator.lockstep.systems import System
from nbcc.simulator.lockstep.systems.hudi_histories import does_otherwise, fitted
from nbcc.simulator.lockstep.systems.model import ModelSystem
from nbcc.simulator.lockstep.systems.registry import factory
from nbcc.simulator.observables import model_rows
from nbcc.simulator.trace import Batches, Trace
from tools.delayed_publication import DelayedPublication
from tools.peers.hudi.options import options
from tools.peers.hudi.release import NEWEST

FORMAT = 1
STREAK = Path(str(files("nbcc") / "specs" / "soak" / f"hudi-{NEWEST}.json"))
"""The state file of the streak on Apache Hudi."""
PLAIN_ONE_IN = 8
"""One history in this many has the world as it was drawn; the others have it crowded (see `crowd`)."""
OVERLAPPING: tuple[Callable[[], Schedule], ...] = (
    lambda: DelayedPublication(Random()),
    lambda: DelayedPublication(Random()),
    lambda: DelayedPublication(Swarm(Random())),
    Pct,
)
"""The schedules of crowded histories: three under which most instants overlap, and one under which few do."""


AT_LEAST: Mapping[str, int] = {WRITER.name: 3, COMPACTOR.name: 1, ROLLBACKER.name: 2}
"""The actors of every crowded history. No other kind is drawn, so that a new mechanism does not change the seeds."""
SAMPLE = 12
"""The streak ends when one of the first this many seeds draws another history."""


class NotAStreak(ValueError):
    """Raised if a state file contains something other than a streak."""


@dataclass
class Streak:
    """Consecutive histories that agreed, of the seeds 0 to ``histories`` - 1.

    ``of`` is the hash of what is counted (see `fingerprint`), and ``disagreement`` is the trace that ended the streak.
    """

    of: str
    histories: int = 0
    steps: int = 0
    crowded: int = 0  # histories with overlapping instants on one file group
    overlapping: int = 0  # histories with an overlapping compaction and write
    seconds: float = 0.0
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    disagreement: Trace | None = None

    @classmethod
    def resume(cls, path: Path, of: str) -> Streak:
        """Return the streak of a file, or a new one if the file is missing or counts something else."""
        streak = cls.load(path)
        return streak if streak.of == of else cls(of)

    @classmethod
    def load(cls, path: Path) -> Streak:
        """Return the streak of a file. The streak is empty if the file is missing.

        Raises:
            NotAStreak: the file has another format; it stays unchanged.
        """
        if not path.exists():
            return cls("")
        try:
            values: dict[str, Any] = dict(json.loads(path.read_text("utf-8")))
            if values.pop("format", None) != FORMAT:
                raise ValueError("another format")
            pairs = Counter({tuple(kinds.split(", ")): count for kinds, count in values.pop("pairs").items()})
            return cls(pairs=pairs, skipped=Counter(values.pop("skipped")), **values)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise NotAStreak(f"{path} is not the state file of a soak test; name another file, or delete it") from None

    def write(self, path: Path) -> None:
        """Write the state file."""
        values = {name: value for name, value in vars(self).items() if name not in ("pairs", "disagreement")}
        values["pairs"] = {", ".join(kinds): count for kinds, count in sorted(self.pairs.items())}
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"format": FORMAT, **values}, indent=1) + "\n", encoding="utf-8")

    def add(self, tally: Tally, seconds: float) -> None:
        """Count one more history that agreed."""
        self.histories += 1
        self.steps += sum(tally.lengths)
        self.crowded += tally.crowded
        self.overlapping += tally.overlapping
        self.seconds += seconds
        self.pairs.update(tally.pairs)
        self.skipped.update(tally.skipped)

    @property
    def text(self) -> str:
        """Return the length of the streak and the kinds of actions that overlapped, rarest first."""
        if not self.histories:
            return "no history agreed"
        share, both = (100 * n / self.histories for n in (self.crowded, self.overlapping))
        pairs = sorted(self.pairs.items(), key=lambda pair: (pair[1], pair[0]))
        return "\n".join([
            f"{self.histories:,} consecutive histories agree, {self.steps:,} steps, "
            f"{60 * self.histories / max(self.seconds, 1e-9):.1f} a minute",
            f"  {share:.0f} % with overlapping instants on one file group, {both:.0f} % with a compaction and a write",
            *(f"{count:6,}  {first} begun, then {second}" for (first, second), count in pairs),
            *(f"  not compared: {what} ({count})" for what, count in sorted(self.skipped.items())),
        ])  # fmt: skip


def fingerprint(setting: CheckOptions) -> str:
    """Return a hash of what a streak counts. Mechanisms that the histories of the streak cannot contain do not change
    the hash.
    """
    steps = [(action, step.call, step.takes) for action, step in STEPS.items() if not step.impossible]
    driver = [NEWEST, options("", 1, {})]
    system = [] if setting.system in ("", "hudi") else [setting.system]  # a streak is Hudi's unless it names another
    parts = [setting.protocol.differences(), *driver, steps, _sample(setting.protocol, setting.fitted), *system]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


@cache
def _sample(protocol: Protocol, fitted: Callable[[World], World]) -> list[Any]:
    sample: list[Any] = []

    def fresh(world: World, protocol: Protocol) -> Model:  # a function: `Check` counts the edges of `Model` itself
        return Model(world, protocol)

    def record(history: PlayedHistory, tally: Tally) -> None:
        rows = model_rows(history.model, history.state, SNAPSHOT, history.data)
        sample.append([[tuple(step) for step in history.steps], history.timeline, rows])

    alone = CheckOptions(stand_in, protocol=protocol, fitted=fitted, model=fresh, readers=(record,))
    for seed in range(SAMPLE):
        Check(of_seed(seed, alone)).play(numbers.Random(seed).randrange)
    return sample


def stand_in(world: World, protocol: Protocol, batches: Batches) -> System:
    """Return the model in the role of Hudi, which must take the same steps."""
    return StandIn(Model(world, protocol), batches)


class StandIn(ModelSystem):
    """A model that refuses the steps that Hudi cannot do, or does differently."""

    impossible: Mapping[str, str] = IMPOSSIBLE
    does_otherwise = staticmethod(does_otherwise)


def soak(
    setting: CheckOptions,
    path: Path,
    until: int,
    seconds: float | None = None,
    progress: Callable[[int], None] = lambda histories: None,
) -> Streak:
    """Continue the streak of a state file, up to ``until`` histories or for ``seconds``.

    After a disagreement the returned streak holds its trace, and the state file starts a new streak.
    """
    streak, began = Streak.resume(path, fingerprint(setting)), time.monotonic()
    while streak.histories < until and (seconds is None or time.monotonic() - began < seconds):
        started = time.monotonic()
        check = Check(of_seed(streak.histories, setting))
        try:
            check.play(numbers.Random(streak.histories).randrange)
        except Disagreement:
            streak.disagreement = check.disagreed
            Streak(streak.of).write(path)
            return streak
        streak.add(check.tally, time.monotonic() - started)
        streak.write(path)
        progress(streak.histories)
    return streak


def of_seed(seed: int, setting: CheckOptions) -> CheckOptions:
    """Return the options that generate the history of a seed. Most histories have many actors and prefer overlapping
    operations.
    """
    setting = replace(setting, kinds=tuple(AT_LEAST))
    if seed % PLAIN_ONE_IN == 0:
        return setting
    return replace(setting, fitted=lambda world: setting.fitted(crowd(world)), schedules=OVERLAPPING)


def crowd(world: World) -> World:
    """Return the world with at least three writers, a compactor and two rollbackers, and one bucket for each partition.
    """
    actors = {kind: max(count, AT_LEAST.get(kind, 0)) for kind, count in world.actors.items()}
    whole = (1,) * world.partitions
    writes = {
        write: shape[: world.partitions] if any(shape[: world.partitions]) else whole
        for write, shape in world.writes.items()
    }
    crowded = world.replace(table_type="MERGE_ON_READ", actors={**AT_LEAST, **actors}, buckets=1, writes=writes)
    return crowded.replace(writes_per_writer=2, crashes=2, stalls=1, rollbacks=3)


def main(arguments: list[str] | None = None) -> int:
    """The exit code is 0 for a streak of the wanted length, 1 for a disagreement, 2 for a bad file, 3 if the time ran
    out.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description="Consecutive histories that agree.")
    parser.add_argument("file", nargs="?", type=Path, default=STREAK, help="the state file")
    parser.add_argument("--on", default="hudi", metavar="SYSTEM", help="hudi (the default), engine or model")
    parser.add_argument("--histories", type=int, default=2000, help="the wanted length of the streak")
    parser.add_argument("--minutes", type=float, help="stop after this time")
    args = parser.parse_args(arguments)
    make = stand_in if args.on == "model" else factory(args.on)
    protocol = specs.protocol(f"hudi-{NEWEST}")
    setting = CheckOptions(make, protocol=protocol, system=args.on, fitted=fitted)
    setting = replace(setting, readers=()) if args.on == "model" else setting  # readers need a folder of files
    try:
        streak = soak(setting, args.file, args.histories, args.minutes and 60 * args.minutes)
    except NotAStreak as error:
        print(f"Error: {error}", file=sys.stderr)
        return 2
    print(streak.text)
    if streak.disagreement is not None:
        print(f"then seed {streak.histories} disagrees: {streak.disagreement.because}")
        return 1
    return 0 if streak.histories >= args.histories else 3


if __name__ == "__main__":
    sys.exit(main())
