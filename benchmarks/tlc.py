"""The search and TLC on the same models and invariants: whole processes from start to answer.

A search of nbcc is one process, and TLC has two workers.

The worlds of the TLA+ twin: `core`, small and hardly symmetric; `three_writers`, the bound of the core's verdicts;
`four_writers`, most of whose states differ only in names.

Hudi's version 5 is Jack Vanlightly's published module, of which this project has no copy: `NBCC_HUDI_V5_TLA` names a
folder that holds hudi/v5_spec/basic_cow of github.com/Vanlightly/table-formats-tlaplus and what it extends of
github.com/tlaplus/CommunityModules (SequencesExt, Functions, FiniteSetsExt, Folds). Without it those rows are left out
by name. The others are modules of specs/tla.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from nbcc.model import Protocol
from nbcc.simulator import specs
from tools import markdown
from tools.tlc import TWIN, configuration, tlc
from tools.tlc.settings import INVARIANTS, SAME

from .progress import during

PUBLISHED = "NBCC_HUDI_V5_TLA"
WORLDS = Path(__file__).resolve().parent / "worlds"
"""Worlds of this benchmark alone, too large to be part of the matrix."""
MAIN = "from nbcc.simulator.cli.main import main; main()"
GOALS = {
    "two-phase commit, 7 managers": (25.0, None), "nbcc core": (10.0, 25.0), "nbcc three_writers": (30.0, 100.0),
}  # fmt: skip
"""Times as fast as TLC with two workers: without reductions, and with them."""
LONG_SECONDS = 150.0
"""A model whose rounds have taken so long gets no further round: its seconds vary little."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """One model on both sides. `world`: as of `nbcc explore`; `symmetric`: TLC's configuration with `same` defined."""

    name: str
    world: str
    plain: str
    symmetric: str
    same: str
    module: str = "Nbcc"
    folder: Path = TWIN
    promises: tuple[str, ...] = field(default=())


def matches(quick: bool) -> Iterator[Match]:
    """What is measured; a row that needs a module which is not here is said on standard error. `quick` leaves out the
    models that take TLC minutes.
    """
    found = os.environ.get(PUBLISHED)
    if found:
        yield _hudi_v5(Path(found), 3)
    else:
        print(f"Hudi v5 is left out: {PUBLISHED} names no folder with its module", file=sys.stderr)
    yield _two_phase_commit()
    yield _twin("core")
    if quick:
        return
    yield from map(_twin, (str(WORLDS / "three_writers.toml"), str(WORLDS / "four_writers.toml")))
    if found:
        yield _hudi_v5(Path(found), 4)


def _twin(name: str) -> Match:
    """A world, by name or path, and the twin of the model with its constants: the same invariants on both sides."""
    world, protocol = specs.world(name), Protocol()
    return Match(
        name=f"nbcc {Path(name).stem}",
        world=name,
        plain=configuration(world, protocol),
        symmetric=configuration(world, protocol, symmetric=True),
        same=SAME,
        promises=INVARIANTS,
    )


def _hudi_v5(folder: Path, operations: int) -> Match:
    given = re.sub(r"OpLimit = \d+", f"OpLimit = {operations}", (folder / "hudi.cfg").read_text("utf-8"))
    return Match(
        name=f"Hudi v5, {operations} operations",
        world={3: "examples.hudi_v5:HudiV5", 4: "examples.hudi_v5:four_operations"}[operations],
        plain=given,
        symmetric=f"{given}\nSYMMETRY Same\n",
        same="Same == Permutations(Writers) \\union Permutations(Keys) \\union Permutations(Values)",
        module="hudi",
        folder=folder,
    )


def _two_phase_commit() -> Match:
    names = [f"m{i + 1}" for i in range(7)]
    values = "\n".join(f"    {name} = {name}" for name in names)
    given = f"CONSTANTS\n{values}\n    Managers = {{{', '.join(names)}}}\nINIT Init\nNEXT Next\nINVARIANT Consistent\n"
    return Match(
        name="two-phase commit, 7 managers",
        world="examples.two_phase_commit:seven_managers",
        plain=given,
        symmetric=f"{given}SYMMETRY Same\n",
        same="",
        module="TwoPhaseCommit",
    )


def run(rounds: int, quick: bool) -> list[dict[str, Any]]:
    """A row a model: sizes, median seconds of each side, ratios. AssertionError: the two sides differ in size."""
    rows = []
    for match in matches(quick):
        rows.append(_row(match, rounds))
        print(text(rows[-1:]), file=sys.stderr, flush=True)
    return rows


def _row(match: Match, rounds: int) -> dict[str, Any]:
    ours: dict[str, list[dict[str, Any]]] = {"nbcc": [], "nbcc_reduced": []}
    theirs: dict[str, list[Any]] = {"tlc": [], "tlc_symmetric": []}
    began = time.monotonic()
    for number in range(rounds):
        if time.monotonic() - began > LONG_SECONDS:
            break
        with during(f"{match.name}, round {number + 1} of {rounds}"):
            ours["nbcc"].append(_search(match, "--no-reduction"))
            ours["nbcc_reduced"].append(_search(match))
            theirs["tlc"].append(tlc(match.plain, match.module, folder=match.folder))
            theirs["tlc_symmetric"].append(tlc(match.symmetric, match.module, folder=match.folder, more=match.same))
    here, there = ours["nbcc"][0], theirs["tlc"][0]
    sizes = (here["distinct"], here["generated"], here["depth"])
    assert sizes == (there.distinct, there.generated, there.depth), f"{match.name}: {sizes}, TLC {there}"
    seconds = {name: median(each["process"] for each in runs) for name, runs in ours.items()}
    seconds |= {name: median(each.seconds for each in runs) for name, runs in theirs.items()}
    plain, reduced = GOALS.get(match.name, (None, None))
    return {
        "model": match.name,
        "rounds": len(ours["nbcc"]),
        "distinct": here["distinct"],
        "generated": here["generated"],
        "depth": here["depth"],
        "kept": ours["nbcc_reduced"][0]["distinct"],
        "kept_by_tlc": theirs["tlc_symmetric"][0].distinct,
        "seconds": {name: round(value, 2) for name, value in seconds.items()},
        "times_as_fast": round(seconds["tlc"] / seconds["nbcc"], 1),
        "times_as_fast_reduced": round(seconds["tlc"] / seconds["nbcc_reduced"], 1),
        "times_as_fast_both_reduced": round(seconds["tlc_symmetric"] / seconds["nbcc_reduced"], 1),
        "goal": plain,
        "goal_reduced": reduced,
    }


def _search(match: Match, *more: str) -> dict[str, Any]:
    """What `nbcc explore --json` says, with the seconds of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        promises = [part for name in match.promises for part in ("--promise", name)]
        began = time.perf_counter()
        ran = subprocess.run(
            [sys.executable, "-c", MAIN, "explore", match.world, "--json", *promises, *more],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - began
    if ran.returncode not in (0, 3):
        raise RuntimeError(f"nbcc explore {match.name}: {ran.stderr[-2000:]}")
    return {**json.loads(ran.stdout), "process": seconds}


def page_table(result: Mapping[str, Any]) -> str:
    """Return the seconds of both sides for docs/speed.md, in Markdown."""
    lines = [
        [
            row["model"],
            f"{row['distinct']:,} ({row['kept']:,})",
            row["rounds"],
            *(row["seconds"][name] for name in ("nbcc", "nbcc_reduced", "tlc", "tlc_symmetric")),
            _with_goal(row["times_as_fast"], row["goal"]),
            _with_goal(row["times_as_fast_reduced"], row["goal_reduced"]),
        ]
        for row in result["models"]
    ]
    seconds = ("nbcc", "nbcc reduced", "TLC", "TLC with symmetry")
    head = ("world", "states (reduced)", "rounds", *seconds, "times as fast", "reduced")
    return "\n".join(markdown.table(head, lines))


def _with_goal(times: float, goal: float | None) -> str:
    if not goal:
        return f"{times:g}"
    return f"{times:g} of {goal:g}" + (": **missed**" if times < goal else "")


def text(rows: Sequence[dict[str, Any]]) -> str:
    """The table: seconds of whole processes, and how often ours fits into TLC's."""
    columns = ("nbcc", "nbcc_reduced", "tlc", "tlc_symmetric")
    head = ("nbcc", "reduced", "TLC", "symmetric")
    lines = [f"{'search':30}{'distinct':>11}{'kept':>9}" + "".join(f"{each:>11}" for each in head) + "   times as fast"]
    for row in rows:
        seconds = "".join(f"{row['seconds'][name]:>10.2f}s" for name in columns)
        lines.append(
            f"{row['model']:30}{row['distinct']:>11,}{row['kept']:>9,}{seconds}   "
            f"{_with_goal(row['times_as_fast'], row['goal'])}, "
            f"reduced {_with_goal(row['times_as_fast_reduced'], row['goal_reduced'])}, "
            f"both {row['times_as_fast_both_reduced']:g}"
        )
    return "\n".join(lines)
