"""Temporary: runs the model of a frozen commit and the present one in lockstep, state by state.

    python tools/lockstep.py --baseline COMMIT [--states 20000] [--refusals 50] [--reads] [WORLD[:PROTOCOL] ...]

Without names: every named world under the default protocol, and the smallest world of each protocol that sizes.toml
pins. In each pair of states the steps with their arguments, the table and the timeline must be equal. In some of them
also the number of false conditions of every refused step; with --reads slices and broken promises, too.
Prints worlds, states and differences; exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from nbcc.model import Model, Step
from nbcc.model.promises import PROMISES
from nbcc.simulator import specs

ROOT = Path(__file__).parents[1]


def frozen(commit: str) -> Any:
    """The package `model` as of a commit, imported under the name `frozen_model`."""
    folder = Path(tempfile.mkdtemp())
    (folder / "frozen_model").mkdir()
    archive = subprocess.run(["git", "archive", commit, "model"], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "x", "-C", str(folder / "frozen_model"), "--strip-components=1"], input=archive, check=True)
    sys.path.insert(0, str(folder))
    return import_module("frozen_model")


def cases() -> Iterator[tuple[str, str]]:
    """Every pair of a world and a protocol that sizes.toml pins."""
    pinned = tomllib.loads((ROOT / "specs/sizes.toml").read_text(encoding="utf-8"))
    for world in specs.world_names():
        yield world, "default"
    for protocol, pin in pinned.get("protocols", {}).items():
        yield pin["world"], protocol


def reads_of(old: Any, new: Model, one: Any, two: Any) -> list[str]:
    """How two states differ in their slices and in the promises that they break."""
    differences = [] if old.slices(one) == new.slices(two) else ["the slices differ"]
    theirs = import_module("frozen_model.promises").PROMISES
    for name, promise in PROMISES.items():
        if promise.kind == "state" and not promise.unfit(new):
            verdicts = theirs[name].holds(old, None, None, one), promise.holds(new, None, None, two)
            if (verdicts[0] is None) != (verdicts[1] is None):
                differences.append(f"{name}: {verdicts[0]} / {verdicts[1]}")
    return differences


def compare(old: Any, new: Model, limit: int, refusals: int, reads: bool = False) -> tuple[int, list[str]]:
    """Walk both models breadth first; returns the number of states and the differences."""
    differences: list[str] = []
    pairs = {old.initial: new.initial}
    queue = [(old.initial, new.initial)]
    actions = [(row.actor, row.action) for row in old.transitions]
    if sorted(actions) != sorted((row.actor, row.action) for row in new.transitions):
        return 0, [f"actions differ: {set(actions) ^ {(r.actor, r.action) for r in new.transitions}}"]
    every = max(1, limit // refusals)
    for number, (one, two) in enumerate(queue):
        # Transitions are in the order of the mechanisms' names, so a renamed mechanism changes the order of steps.
        theirs = sorted(((Step(*step), after) for step, after in old.successors(one)), key=str)
        ours = sorted(new.successors(two), key=str)
        if [step for step, _ in theirs] != [step for step, _ in ours]:
            differences.append(f"state {number}: steps {theirs} // {ours}")
        if old.table(one) != new.table(two):
            differences.append(f"state {number}: the table differs: {old.table(one)} // {new.table(two)}")
        if old.timeline(one) != new.timeline(two):
            differences.append(f"state {number}: the timeline differs: {old.timeline(one)} // {new.timeline(two)}")
        differences += [f"state {number}: {what}" for what in (reads_of(old, new, one, two) if reads else ())]
        if number % every == 0:
            for actor, action in actions:
                step = Step(actor, action)
                reasons = _refusal(old, one, step), _refusal(new, two, step)
                if reasons[0] != reasons[1]:
                    differences.append(f"state {number}: {actor} {action} is refused for {reasons} reasons")
        if len(differences) > 5:
            break
        for (_, after), (_, mine) in zip(theirs, ours, strict=False):
            if after not in pairs and len(pairs) < limit:
                pairs[after] = mine
                queue.append((after, mine))
            elif after in pairs and pairs[after] != mine:
                differences.append(f"state {number}: a step leads to states that differ")
    return len(queue), differences


def _refusal(model: Any, state: int, step: Step) -> int:
    """The number of reasons; -1 if a condition cannot be evaluated because another one is false."""
    try:
        return len(model.refusal(state, step))
    except (IndexError, KeyError, AttributeError, TypeError, StopIteration, ValueError):
        return -1


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--states", type=int, default=20_000)
    parser.add_argument("--refusals", type=int, default=50)
    parser.add_argument("--reads", action="store_true", help="compare slices and promises as well")
    options = parser.parse_args()
    old = frozen(options.baseline)
    chosen = [(n.partition(":")[0], n.partition(":")[2] or "default") for n in options.names] or list(cases())
    states = differing = 0
    for world, protocol in chosen:
        ours, rules = specs.world(world), specs.protocol(protocol)
        theirs = old.Model(old.World.from_mapping(ours.to_mapping()), old.Protocol(**rules.to_mapping()))
        count, differences = compare(theirs, Model(ours, rules), options.states, options.refusals, options.reads)
        states, differing = states + count, differing + len(differences)
        print(f"{world}:{protocol} {count} states, {len(differences)} differences", *differences[:5], sep="\n  ")
    print(f"{len(chosen)} worlds, {states:,} states, {differing} differences", flush=True)
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
