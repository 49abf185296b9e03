"""Temporary: runs the model of a frozen commit and the present one in lockstep, state by state.

    python tools/lockstep.py --baseline COMMIT [--states 20000] [--refusals 50] [WORLD[:PROTOCOL] ...]

Without names: every named world under the default protocol, and the smallest world of each protocol that sizes.toml
pins. In each pair of states the steps with their arguments, the table and the timeline must be equal; in some of them
also the reasons for every step that is refused. Prints worlds, states and differences; exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import dataclasses
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from nbcc.model import Model, Step
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
        if specs.has_table(world):
            yield world, "default"
    for protocol, pin in pinned.get("protocols", {}).items():
        yield pin["world"], protocol


def same(value: Any) -> Any:
    """A value without the classes of either model, so that both compare."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(same(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        return tuple(same(each) for each in value)
    return value


def compare(old: Any, new: Model, limit: int, refusals: int) -> tuple[int, list[str]]:
    """Walk both models breadth first; the number of states and what differs."""
    differences: list[str] = []
    pairs = {old.initial: new.initial}
    queue = [(old.initial, new.initial)]
    actions = [(row.actor, row.action) for row in old.table_of_rows]
    if sorted(actions) != sorted((row.actor, row.action) for row in new.transitions):
        return 0, [f"actions differ: {set(actions) ^ {(r.actor, r.action) for r in new.transitions}}"]
    every = max(1, limit // refusals)
    for number, (one, two) in enumerate(queue):
        theirs = {Step(*step): after for step, after in old.successors(one)}
        ours = dict(new.successors(two))
        if set(theirs) != set(ours):
            differences.append(f"state {number}: steps {set(theirs) ^ set(ours)}")
        if same(old.table(one)) != same(new.table(two)) or same(old.timeline(one)) != same(new.timeline(two)):
            where = "table" if same(old.table(one)) != same(new.table(two)) else "timeline"
            pair = (old.table(one), new.table(two)) if where == "table" else (old.timeline(one), new.timeline(two))
            differences.append(f"state {number}: the {where} differs: {pair[0]} // {pair[1]}")
        if number % every == 0:
            possible = {(step.actor, step.action) for step in theirs}
            for actor, action in actions:
                if (actor, action) not in possible:
                    step = Step(actor, action)
                    if sorted(_refusal(old, one, step)) != sorted(_refusal(new, two, step)):
                        differences.append(f"state {number}: {actor} {action}: {_refusal(old, one, step)} / "
                                           f"{_refusal(new, two, step)}")  # fmt: skip
        if len(differences) > 5:
            break
        for step, after in theirs.items():
            if step in ours and after not in pairs and len(pairs) < limit:
                pairs[after] = ours[step]
                queue.append((after, ours[step]))
            elif step in ours and after in pairs and pairs[after] != ours[step]:
                differences.append(f"state {number}: {step} leads to states that differ")
    return len(queue), differences


def _refusal(model: Any, state: int, step: Step) -> tuple[str, ...]:
    """The reasons; a condition that cannot be evaluated, because another one is false, counts by its error."""
    try:
        return tuple(model.refusal(state, step))
    except (IndexError, KeyError, AttributeError, TypeError, StopIteration, ValueError):
        return ("cannot be evaluated",)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*")
    parser.add_argument("--baseline", required=True)
    parser.add_argument("--states", type=int, default=20_000)
    parser.add_argument("--refusals", type=int, default=50)
    given = parser.parse_args()
    old = frozen(given.baseline)
    chosen = [(name.partition(":")[0], name.partition(":")[2] or "default") for name in given.names] or list(cases())
    states = differing = 0
    for world, protocol in chosen:
        ours, rules = specs.world(world), specs.protocol(protocol)
        theirs = old.World(**{f.name: getattr(ours, f.name) for f in dataclasses.fields(old.World)})
        their_rules = old.Protocol(**rules.to_mapping())
        count, differences = compare(old.Model(theirs, their_rules), Model(ours, rules), given.states, given.refusals)
        states, differing = states + count, differing + len(differences)
        print(f"{world}:{protocol} {count} states, {len(differences)} differences", *differences[:5], sep="\n  ")
    print(f"{len(chosen)} worlds, {states:,} states, {differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
