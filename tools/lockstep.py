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
from math import inf
from pathlib import Path
from typing import Any

from nbcc.model import Model, Step
from nbcc.model.kernel.merge import Fold
from nbcc.model.kernel.planning import plan
from nbcc.model.kernel.reads import as_of, incremental
from nbcc.model.kernel.table import Plan, Table, Write
from nbcc.model.machine.marks import mark
from nbcc.model.mechanisms.added_columns.rules import PlanColumns, Schemas, columns
from nbcc.model.mechanisms.bulk_insert import loaded
from nbcc.model.mechanisms.cleaning.rules import Oldest, needed
from nbcc.model.mechanisms.clustering import clusters, into
from nbcc.model.mechanisms.copy_on_write import ChangedFiles, onto
from nbcc.model.mechanisms.file_ids import minted_ids
from nbcc.model.mechanisms.foreign_services import unmarked
from nbcc.model.mechanisms.log_compaction.rules import log_compactions, log_plan
from nbcc.model.mechanisms.replacing import replaced
from nbcc.model.mechanisms.shared_logs import Places
from nbcc.model.slices import file_slices
from nbcc.model.variants.slicing import BaseInstants
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


def same(value: Any) -> Any:
    """A value without the classes of either model, so that both compare."""
    if type(value) in FROZEN:
        return same(FROZEN[type(value)](value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return tuple(same(getattr(value, field.name)) for field in dataclasses.fields(value))
    if isinstance(value, tuple):
        return tuple(same(each) for each in value)
    return value


def frozen_write(write: Write) -> Any:
    """A write with the fields of the frozen model, which had those of every mechanism."""
    bases, places = mark(write, BaseInstants).groups, mark(write, Places).places
    found = (minted_ids(write), onto(write), loaded(write), replaced(write), into(write), places, columns(write))
    return (*write[:5], bases, *found)


def frozen_plan(plan: Plan) -> Any:
    return (*plan[:4], clusters(plan), mark(plan, PlanColumns).written, unmarked(plan))


def frozen_table(table: Table) -> Any:
    schemas = mark(table, Schemas)
    return (*table[:3], log_compactions(table), mark(table, Oldest).barriers, schemas.since, schemas.altered)


def frozen_fold(fold: Fold) -> Any:
    changed = fold.files.files if isinstance(fold.files, ChangedFiles) else ()
    written = mark(fold, PlanColumns).written
    return (*fold[:3], changed, fold.shown, fold.deletes, written, fold.drops_deletes)


FROZEN: dict[type, Any] = {Fold: frozen_fold, Write: frozen_write, Plan: frozen_plan, Table: frozen_table}


def reads_of(old: Any, new: Model, states: tuple[Any, Any], seen: set[Any]) -> list[str]:
    """How the reads of two states differ, each distinct table once; and what the promises say of them."""
    one, two = states
    found: list[str] = []
    table, rules = new.table(two), new.rules
    if table in seen:
        return found
    seen.add(table)
    modules = {
        name: import_module(f"frozen_model.{name}")
        for name in ("reads.definitions", "reads.windows", "files.slicing", "services.planning", "services.cleaning")
    }
    reads, windows, slicing, planning, cleaning = modules.values()
    before, protocol = old.table(one), old.protocol
    times = sorted({0, new.settled(two), *(t for w in table.writes for t in (w.requested, w.completed) if t)})
    for group in range(new.world.groups):
        for time in (*times, inf):
            pairs = {
                "as of": (reads.as_of(before, group, time, protocol), as_of(rules, table, group, time)),
                "needed": (cleaning.needed(before, group, time, protocol), needed(rules, table, group, time)),
            }
            for after in (*times, 0):
                pairs[f"window from {after}"] = (windows.incremental(before, group, after, time, protocol),
                                                 incremental(rules, table, group, after, time))  # fmt: skip
            found += [f"{what} to t{time}" for what, (a, b) in pairs.items() if same(a) != same(b)]
        if same(slicing.file_slices(before, group, protocol)) != same(file_slices(rules, table, group)):
            found.append("the file slices differ")
    for what, a, b in (
        ("plan", planning.plan(before, new.world.groups, inf, protocol), plan(rules, table, new.world.groups, inf)),
        ("log plan", planning.log_plan(before, new.world.groups, protocol), log_plan(rules, table, new.world.groups)),
        ("slices as of", old.slices(one, times[-1]), new.slices(two, times[-1])),
        ("slices", old.slices(one), new.slices(two)),
    ):
        if same(a) != same(b):
            found.append(f"the {what} differs")
    from nbcc.model.promises import PROMISES

    theirs = import_module("frozen_model.promises").PROMISES
    for name, promise in PROMISES.items():
        if promise.kind == "state" and not promise.unfit(new):
            said = [p.holds(m, None, None, s) for p, m, s in ((theirs[name], old, one), (promise, new, two))]
            if said[0] != said[1]:
                found.append(f"{name}: {said[0]} / {said[1]}")
    return found


def compare(old: Any, new: Model, limit: int, refusals: int, reads: bool = False) -> tuple[int, list[str]]:
    """Walk both models breadth first; the number of states and what differs."""
    differences: list[str] = []
    seen: set[Any] = set()
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
        differences += [f"state {number}: {what}" for what in (reads_of(old, new, (one, two), seen) if reads else ())]
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
    parser.add_argument("--reads", action="store_true", help="compare reads, slices, plans and promises as well")
    given = parser.parse_args()
    old = frozen(given.baseline)
    chosen = [(name.partition(":")[0], name.partition(":")[2] or "default") for name in given.names] or list(cases())
    states = differing = 0
    for world, protocol in chosen:
        try:
            ours, rules = specs.world(world), specs.protocol(protocol)
        except ValueError as error:
            print(f"{world}:{protocol} 0 states: {error}")
            differing += 1
            continue
        theirs = old.World(**{f.name: getattr(ours, f.name) for f in dataclasses.fields(old.World)})
        their_rules = old.Protocol(**rules.to_mapping())
        try:
            models = old.Model(theirs, their_rules), Model(ours, rules)
        except Exception as error:  # a mechanism is missing
            print(f"{world}:{protocol} 0 states: {type(error).__name__} {error}")
            differing += 1
            continue
        count, differences = compare(*models, given.states, given.refusals, given.reads)
        states, differing = states + count, differing + len(differences)
        print(f"{world}:{protocol} {count} states, {len(differences)} differences", *differences[:5], sep="\n  ")
    print(f"{len(chosen)} worlds, {states:,} states, {differing} differences")
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
