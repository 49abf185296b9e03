"""The speed of the search: transitions a second, whole verdicts, the largest worlds, and jobs on one and two cores.

Each of the largest worlds is searched in its own process, whose memory is reported: Hudi's version 5 with four
operations, and two writers with two writes each and a compactor, both with and without reductions. Three writers are
searched without reductions by both walks: over Python's objects and over arrays. A world of 200 million states is
searched with reductions, and over arrays without any.
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from examples.hudi_v5 import Constants, HudiV5
from examples.two_phase_commit import TwoPhaseCommit
from nbcc.model import Model
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore, search
from nbcc.simulator.search.explore.memory import peak_memory
from nbcc.simulator.search.explore.search import ARRAYS_FROM
from nbcc.simulator.search.jobs import SearchJob, promises_of, run_jobs
from tools import markdown
from tools.tlc.settings import INVARIANTS

TWO_PHASE_COMMIT = "two-phase commit, 7 managers"
WORLDS = ("core_small", "readers", TWO_PHASE_COMMIT)
LARGEST = ("core", "hudi_v5, 4 operations")
OF_BOTH_WALKS, HUGE = "three_writers", "four_writers_one_dies"
NEVER = 1 << 62
"""More states than any world has: the search stays with Python's objects."""
SETTINGS = ("default", "completion-outside-lock", "tombstones-dropped", "requested-time-slicing", "occ", "hudi-1.2.0")
JOBS = tuple(SearchJob(world="core_small", protocol=name, promises=("MONO", "SNAP")) for name in SETTINGS)
"""A part of a matrix: some settings in one world."""


def figures(rounds: int) -> list[dict[str, Any]]:
    """A row for each world: sizes, seconds and transitions a second; a Hudi world once more with every promise."""
    found = []
    for world in WORLDS:
        found.append(_figure(world, rounds, ()))
        if world != TWO_PHASE_COMMIT:
            found.append(_figure(world, rounds, tuple(PROMISES.values())))
    return found


def _system(world: str) -> Any:
    if world == TWO_PHASE_COMMIT:
        return TwoPhaseCommit(7)
    if world in (OF_BOTH_WALKS, HUGE):
        return Model(specs.world(str(Path(__file__).parent / "worlds" / f"{world}.toml")))
    return specs.system(world) if world in specs.world_names() else HudiV5(Constants(operations=4))


def _figure(world: str, rounds: int, promises: Sequence[Any]) -> dict[str, Any]:
    results = [explore(_system(world), promises) for _ in range(rounds)]
    seconds = median(result.seconds for result in results)
    return {
        "world": world,
        "promises": len(promises),
        "distinct": results[0].distinct,
        "generated": results[0].generated,
        "seconds": round(seconds, 3),
        "transitions_per_second": round(results[0].generated / seconds),
    }


def largest() -> list[dict[str, Any]]:
    """A row for each large world as it is, and one with the reductions: sizes, depth, seconds, memory. The last worlds
    are judged by the promises of the TLA+ twin, as in the comparison with TLC.
    """
    context = multiprocessing.get_context("spawn")
    asked = [(world, reduce, ARRAYS_FROM) for world in LARGEST for reduce in (False, True)]
    asked += [(OF_BOTH_WALKS, False, NEVER), (OF_BOTH_WALKS, False, ARRAYS_FROM)]
    asked += [(HUGE, True, ARRAYS_FROM), (HUGE, False, ARRAYS_FROM)]
    with context.Pool(1, maxtasksperchild=1) as pool:
        return pool.starmap(_largest, asked, chunksize=1)


def _largest(world: str, reduce: bool, arrays_from: int) -> dict[str, Any]:
    system = _system(world)
    promises, canary = promises_of(system)
    if world in (OF_BOTH_WALKS, HUGE):
        promises, canary = [PROMISES[name] for name in INVARIANTS], None
    search.ARRAYS_FROM = arrays_from
    found = explore(system, promises, canary=canary, reduce=reduce)
    return {
        "world": world,
        "reduced": reduce,
        "arrays": not reduce and found.distinct > arrays_from,
        "distinct": found.distinct,
        "stands_for": found.stands_for or found.distinct,
        "generated": found.generated,
        "depth": found.depth,
        "seconds": round(found.seconds, 2),
        "mebibytes": peak_memory() >> 20,
        "verdict": str(found.verdict),
    }


def cores(rounds: int) -> dict[str, Any]:
    """The same jobs by one process and by two: median seconds, transitions a second, how many times as fast."""
    seconds, generated = dict[int, float](), 0
    for workers in (1, 2):
        taken = []
        for _ in range(rounds):
            began = time.perf_counter()
            generated = sum(result.generated for _, result in run_jobs(JOBS, workers=workers))
            taken.append(time.perf_counter() - began)
        seconds[workers] = median(taken)
    return {
        "jobs": len(JOBS),
        "generated": generated,
        "seconds": {str(workers): round(value, 2) for workers, value in seconds.items()},
        "transitions_per_second": {str(workers): round(generated / value) for workers, value in seconds.items()},
        "times_as_fast": round(seconds[1] / seconds[2], 2),
        "goal": 1.6,
    }


def page_table(result: dict[str, Any]) -> str:
    """Return the sizes and the cost of the largest worlds for docs/speed.md, in Markdown."""
    lines = [
        [
            row["world"].replace("_", " "), _walk_of(row), f"{row['distinct']:,}", f"{row['stands_for']:,}",
            f"{row['generated']:,}", f"{row['seconds']:,.0f}", f"{row['mebibytes']:,}", row["verdict"],
        ]
        for row in result["largest"]
    ]  # fmt: skip
    head = ("world", "walk", "states kept", "of the world", "generated", "seconds", "MiB", "verdict")
    return "\n".join(markdown.table(head, lines))


def _walk_of(row: dict[str, Any]) -> str:
    return "reduced" if row["reduced"] else "arrays" if row["arrays"] else "objects"


def text(result: dict[str, Any]) -> str:
    """Sizes and speed, a line a world; then the largest worlds, and the jobs on one and two cores."""
    lines = [f"{'search':22}{'promises':>9}{'distinct':>11}{'generated':>11}{'seconds':>9}{'transitions/s':>15}"]
    lines += [
        f"{row['world']:22}{row['promises']:>9}{row['distinct']:>11,}{row['generated']:>11,}{row['seconds']:>9.2f}"
        f"{row['transitions_per_second']:>15,}"
        for row in result["worlds"]
    ]
    lines += ["", f"{'largest':22}{'walk':>9}{'distinct':>11}{'generated':>11}{'seconds':>9}{'depth':>7}{'MiB':>8}"]
    lines += [
        f"{row['world']:22}{_walk_of(row):>9}{row['distinct']:>11,}{row['generated']:>11,}"
        f"{row['seconds']:>9.2f}{row['depth']:>7}{row['mebibytes']:>8,}"
        for row in result["largest"]
    ]
    two = result["cores"]
    lines += ["", f"{two['jobs']} jobs: {two['seconds']['1']:.2f} s by one process, {two['seconds']['2']:.2f} s by "
              f"two, {two['times_as_fast']:g} times as fast (goal {two['goal']:g})"]  # fmt: skip
    return "\n".join(lines)
