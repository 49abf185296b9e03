"""Random histories of Hudi, interleaved at storage calls, counted over many runs.

    python -m tools.hudi_calls.soak [FILE] [--histories N] [--minutes M] [--runs FOLDER]
    python -m tools.hudi_calls.soak --replay RUN
    python -m tools.hudi_calls.soak --shrink RUN

History number N is drawn from seed N. The state file counts verdicts, so that the next run continues. A history whose
verdict no finding explains ends the run: it is shrunk, and put into a folder as a run that `--replay` plays again. The
first history that shows a finding is shrunk, too: its run is stored below specs/soak.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random as numbers
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any, Final

from nbcc.model import Step
from nbcc.simulator.lockstep.schedule import Pct, Random, Schedule
from nbcc.simulator.lockstep.shrink import simplest, without_a_block
from nbcc.simulator.trace import context_switches
from tools.peers.hudi.options import options
from tools.peers.hudi.release import NEWEST

from .cast import CALL, MODES, SHORT_WAITS, Cast, draw_cast
from .labels import named
from .play import Ordered, Played, play
from .tables import RETAINS_LITTLE, Tables
from .verdict import RIGHT, explained, verdict

FORMAT: Final = 1
STATE: Final = Path(str(files("nbcc") / "specs" / "soak" / f"hudi-calls-{NEWEST}.json"))
TOURS: Final = STATE.with_name(f"hudi-tours-{NEWEST}.json")
RUNS: Final = STATE.parent / "hudi-calls"
"""The folder of the shortest run of each finding that a history has shown."""
SCHEDULES: Final[tuple[Callable[[], Schedule], ...]] = (lambda: Pct(length=150), Random)
SAMPLE: Final = 20
"""The count starts again if one of the first so many seeds draws another cast."""
ATTEMPTS: Final = 150
"""A history is played at most so often while it is shrunk."""


@dataclass
class State:
    """What the histories of the seeds 0 to `histories` - 1 have shown. `of` is a hash of what is counted."""

    of: str
    histories: int = 0
    calls: int = 0
    switches: int = 0
    faults: int = 0
    seconds: float = 0.0
    verdicts: dict[str, dict[str, int]] = field(default_factory=dict)
    """Of each mode: how many histories are right, and how many show a finding."""

    @classmethod
    def load(cls, path: Path, of: str) -> State:
        """Return the state of a file; a new one if the file is missing or counts something else."""
        values: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        known = values.pop("format", None) == FORMAT and values["of"] == of
        return cls(**values) if known else cls(of)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps({"format": FORMAT, **vars(self)}, indent=1) + "\n", encoding="utf-8")

    def add(self, played: Played, name: str, seconds: float) -> None:
        self.histories += 1
        self.calls += len(played.steps)
        self.switches += context_switches(played.steps)
        self.faults += sum(len(played.faulty(actor)) for actor in played.cast.actors)
        self.seconds = round(self.seconds + seconds, 1)
        of_mode = Counter(self.verdicts.get(played.cast.mode, {}))
        of_mode[name] += 1
        self.verdicts[played.cast.mode] = dict(sorted(of_mode.items()))


def fingerprint() -> str:
    """Return a hash of the release, its options, and the casts of the first seeds."""
    return fingerprint_of((repr(draw_cast(numbers.Random(seed).randrange)) for seed in range(SAMPLE)), MODES)


def fingerprint_of(histories: Iterable[str], modes: Mapping[str, Mapping[str, str]]) -> str:
    """Return a hash of the release, its options, the modes that are played, and the histories."""
    parts = [NEWEST, options("", 1, RETAINS_LITTLE), modes, [*histories]]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:12]


def history(tables: Tables, seed: int) -> tuple[Played, str]:
    choose = numbers.Random(seed).randrange
    cast, faults = draw_cast(choose)
    schedule = SCHEDULES[choose(len(SCHEDULES))]()
    with tables.copy(cast.before, {**MODES[cast.mode], **SHORT_WAITS}) as path:
        played = play(tables, path, cast, schedule, choose, faults)
        return played, verdict(tables, path, played)


def again(tables: Tables, cast: Cast, steps: tuple[Step, ...]) -> tuple[Played, str]:
    """Play and judge recorded steps."""
    with tables.copy(cast.before, {**MODES[cast.mode], **SHORT_WAITS}) as path:
        played = play(tables, path, cast, Ordered(steps))
        return played, verdict(tables, path, played)


def shrunk(tables: Tables, played: Played, wrong: str) -> tuple[Played, str]:
    """Return a history with fewer actors, faults, switches and calls, and its verdict: the history shows the same
    finding, or has the same verdict if no finding explains it.
    """
    left, name, last = ATTEMPTS, explained(played, wrong), wrong

    def retry(run: Played, steps: tuple[Step, ...], actor: str = "") -> Played | None:
        nonlocal left, last
        left -= 1
        if left < 0:
            return None
        cast = run.cast._replace(actors={each: own for each, own in run.cast.actors.items() if each != actor})
        found, judged = again(tables, cast, steps)
        same = explained(found, judged) == name if name else alike(judged, wrong)
        if not same or size(*found[:2]) >= size(*run[:2]):
            return None
        last = judged
        return found

    best = played
    for actor in played.cast.actors:
        kept = tuple(step for step in best.steps if step.actor != actor)
        best = (kept and retry(best, kept, actor)) or best
    for fault in [step for step in best.steps if step.action != CALL]:
        best = retry(best, tuple(step for step in best.steps if step != fault)) or best
    return simplest(best, retry, without_a_block), last


def size(cast: Cast, steps: tuple[Step, ...]) -> tuple[int, int, int, int]:
    """Return the numbers of actors, faults, switches and steps: a history with fewer ones is simpler."""
    return len(cast.actors), sum(step.action != CALL for step in steps), context_switches(steps), len(steps)


def alike(one: str, other: str) -> bool:
    return one.split()[:5] == other.split()[:5]


def save(path: Path, played: Played, wrong: str) -> Path:
    """Write a history as JSON: the cast, the steps as blocks, and what each step calls."""
    blocks = [[*step[:2], len(list(same))] for step, same in groupby(played.steps)]
    calls = [f"{step.actor}: {named(call)}" for step, call in zip(played.steps, played.calls, strict=True)]
    given = {**played.cast._asdict(), "steps": blocks, "verdict": wrong, "calls": calls}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(given, indent=1) + "\n", encoding="utf-8")
    return path


def load(path: Path) -> tuple[Cast, tuple[Step, ...]]:
    given = json.loads(path.read_text("utf-8"))
    actors = {actor: (method, arguments) for actor, (method, arguments) in given["actors"].items()}
    steps = tuple(Step(actor, action) for actor, action, count in given["steps"] for _ in range(count))
    return Cast(given["before"], given["mode"], actors), steps


def soak(
    tables: Tables,
    file: Path,
    until: int,
    seconds: float,
    runs: Path,
    of: str = "",
    numbered: Callable[[Tables, int], tuple[Played, str]] = history,
) -> str:
    """Continue the count of a state file, which counts the histories with the hash `of`; `numbered` plays and judges
    one. Return an empty text, or what a history shows that no finding explains.
    """
    state, began = State.load(file, of or fingerprint()), time.monotonic()
    while state.histories < until and time.monotonic() - began < seconds:
        started = time.monotonic()
        played, found = numbered(tables, state.histories)
        name, lasted = explained(played, found), time.monotonic() - started
        path = RUNS / f"{name}.json" if name else runs / f"hudi-calls-{state.histories}.json"
        if name != RIGHT and not (name and path.exists()):
            save(path, *shrunk(tables, played, found))
        if not name:
            return f"seed {state.histories}: {found}; {path}"
        state.add(played, name, lasted)
        state.write(file)
    return ""


def main(arguments: list[str] | None = None) -> int:
    """The exit code is 0 if the wanted number is reached or a replay is right, 1 if a history is wrong, 3 if the time
    ran out.
    """
    parser = argparse.ArgumentParser(prog="python -m tools.hudi_calls.soak", description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=STATE, help="the state file")
    parser.add_argument("--histories", type=int, default=2000)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--runs", type=Path, default=Path("hudi-calls-runs"), help="the folder of wrong histories")
    parser.add_argument("--replay", type=Path, metavar="RUN")
    parser.add_argument("--shrink", type=Path, metavar="RUN", help="shrink a stored run")
    args = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        tables = Tables(Path(folder))
        if run := args.replay or args.shrink:
            played, found = again(tables, *load(run))
            if args.shrink:
                save(run, *shrunk(tables, played, found))
            print(explained(played, found), found, sep="\n")
            return int(found != RIGHT)
        wrong = soak(tables, args.file, args.histories, 60 * args.minutes, args.runs)
    state = State.load(args.file, fingerprint())
    print(f"{state.histories:,} histories, {state.seconds / max(1, state.histories):.1f} s each", wrong, sep="\n")
    return 1 if wrong else 0 if state.histories >= args.histories else 3


if __name__ == "__main__":
    sys.exit(main())
