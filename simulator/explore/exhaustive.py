"""Exhaustive search: every state once, several promises at a time, shortest counterexamples."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from . import search_checkpoint
from .certify import refuted
from .coverage import coverage_of
from .memory import not_collecting
from .result import PromiseResult, Result
from .search import Bounds, Progress, Search
from .shards import PrefixSearch, Shard, begin
from .space import Reduced, Space, has_rows
from .transition_system import TransitionSystem
from .verdict import Verdict
from .watch import Watchers

NOT_SHORTEST = " (not proven shortest: "
"""Behind what a broken promise says, with the reason, where the second search could not be made."""


@not_collecting()
def explore(
    system: Any,
    promises: Sequence[Any] = (),
    *,
    canary: Any | None = None,
    max_states: int | None = None,
    max_depth: int | None = None,
    memory: float | None = None,
    reduce: bool = False,
    coverage: bool = False,
    checkpoint: Path | None = None,
    shard: Shard | None = None,
    progress: Progress | None = None,
) -> Result:
    """Look at every state of a system; see `system.Explorable` for what it needs and `result.Result` for the figures.

    `canary` is a promise that must be found violated: a finished search that does not find it proves nothing.
    Beyond `max_states` distinct states, `max_depth` levels, or `memory` GiB of this process (none given: most of what
    is free), the search stops and what it has not seen violated is UNDETERMINED. `reduce` takes symmetry and private
    steps out, where the system has rows; what is violated is searched again for a shortest counterexample. A foreign
    system is searched again without reduction if its symmetry is refuted (`certify`).
    `coverage` gathers which actions were taken and which conditions decided. `progress(distinct, generated, depth,
    frontier)` is called now and then. `checkpoint` is a file in which the search is kept until it has seen everything:
    the same search goes on from there. `part`: these of its states alone (see `branches`), and no search again.
    """
    watched = [*promises, canary] if canary is not None else list(promises)
    identity = search_checkpoint.identity(system, watched, reduce) if checkpoint else ""
    kept = search_checkpoint.read(checkpoint, identity) if checkpoint else None
    if kept and kept["values"] is not None:
        system.coding.load(kept["values"])  # before any step is taken: the states are made of these numbers
    space = _space(system, watched, shard, reduce)
    search = begin(space, Watchers(system, watched), Bounds(max_states, max_depth, memory), progress, shard)
    began = time.perf_counter()
    if kept:
        search_checkpoint.resume(search, kept)
    if checkpoint:
        search.keep = partial(search_checkpoint.write, checkpoint, search, identity)
    stopped = search.run()
    why = refuted(search)
    if checkpoint and (why or stopped is None):
        checkpoint.unlink(missing_ok=True)
    if why:
        again = partial(explore, system, promises, canary=canary, coverage=coverage, progress=progress)
        whole = again(max_states=max_states, max_depth=max_depth, memory=memory)
        return replace(whole, reductions=(f"searched again without reduction: {why}",))
    found = search.verdicts(len(promises), stopped, canary)
    if space.fused and shard is None:
        found = shortest(system, promises, found, memory)
    seen = None if canary is None else search.watchers.watches[-1].broken is not None
    seconds = time.perf_counter() - began
    return replace(_result(search, found, coverage), seconds=seconds, stopped=stopped, canary=seen)


def _result(search: Search, found: dict[str, PromiseResult], coverage: bool) -> Result:
    space = search.space
    return Result(
        distinct=search.distinct,
        generated=search.generated,
        depth=search.depth,
        seconds=0.0,
        promises=found,
        deadlock=search.run_to_end(search.ends.deadlock),
        ends=search.ends.count,
        ends_by_budget=search.ends.by_budget,
        reductions=space.about,
        stands_for=search.stands_for if space.about else None,
        coverage=coverage_of(space, search.watchers) if coverage else None,
        shards=search.shards() if isinstance(search, PrefixSearch) else None,
    )


def _space(system: Any, watched: Sequence[Any], shard: Shard | None, reduce: bool) -> Space:
    if not reduce or not has_rows(system):
        return Space(system)
    # A shard cannot be searched again without reduction, so it must not use exchanges that `certify` would check.
    known = () if shard and isinstance(system, TransitionSystem) else shard and shard.exchangeable
    return Reduced(system, watched, known=known)


def shortest(
    system: Any, promises: Sequence[Any], found: dict[str, PromiseResult], memory: float | None
) -> dict[str, PromiseResult]:
    """What is violated, searched again step by step, no further than the counterexample that is known."""
    broken = [p for p in promises if found[p.name].verdict is Verdict.VIOLATED]
    if not broken:
        return found
    # A run that ends is seen to end one level later than its last step.
    longest = max((found[p.name].steps or 0) + (p.kind == "run") for p in broken)
    space = Reduced(system, broken, fuse=False)
    again = Search(space, Watchers(system, broken), Bounds(max_depth=longest, memory=memory))
    again.until_all_broken = True
    stopped = again.run()
    if refuted(again):  # the counterexample that is known is a run all the same
        stopped = "the exchanges of actors are no symmetry further on"
        return {
            name: replace(each, because=f"{each.because}{NOT_SHORTEST}{stopped})") if each.steps is not None else each
            for name, each in found.items()
        }
    shorter = again.verdicts(len(broken), stopped, None)
    for name, result in shorter.items():
        known = found[name]
        if result.verdict is Verdict.VIOLATED:
            found[name] = result
        else:
            found[name] = replace(known, because=f"{known.because}{NOT_SHORTEST}{stopped})")
    return found
