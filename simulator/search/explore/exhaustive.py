"""Exhaustive search: visits every state once, checks several promises, and finds shortest counterexamples."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nbcc.model.machine import TransitionSystem

from .certify import refuted
from .checkpoint import Checkpoint
from .coverage import coverage_of
from .memory import without_gc
from .result import PromiseResult, Result
from .search import Bounds, Progress, Search
from .space import Reduced, Space
from .verdict import Verdict
from .watch import Watchers

NOT_SHORTEST = " (not proven shortest: "
"""Follows the message of a violation whose counterexample may not be a shortest one; the reason comes next."""


@without_gc()
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
    until_all_broken: bool = False,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
) -> Result:
    """Visit every reachable state of a system and check promises. The module `system` describes the interfaces of
    systems and promises.

    Args:
        `canary`: A promise that must be violated. If the search does not find the canary's violation, the other results
        prove nothing. `max_states`: The search stops at this number of distinct states.
        `max_depth`: The search stops at this depth.
        `memory`: The search stops when this process uses this many GiB; the default is most of the free memory. If a
            search stops at a bound, promises without a violation are UNDETERMINED.
        `reduce`: True to apply symmetry reduction, and to fuse private steps (which no other actor observes) with the
        actor's next visible step. A system without declared transitions is not reduced. For each violated promise, a
        second search finds a shortest counterexample. If `certify` refutes the symmetry, the search is repeated without
        reduction. `coverage`: True to record which actions were possible, and which guards were never the only reason
        why an action was impossible. `until_all_broken`: True to stop when every promise is violated. The
        counterexamples are the same; the counts are those of a part. `checkpoint`: A file from which an interrupted
        search continues.
        `progress`: A function that is called periodically with four numbers: distinct states, generated states, the
            depth, and the frontier size.
    """
    watched = [*promises, canary] if canary is not None else list(promises)
    file = Checkpoint(checkpoint, system, watched, reduce) if checkpoint else None
    space = Reduced(system, watched) if reduce and isinstance(system, TransitionSystem) else Space(system)
    search = Search(space, Watchers(system, watched), Bounds(max_states, max_depth, memory), progress)
    search.until_all_broken = until_all_broken
    began = time.perf_counter()
    if file:
        file.resume(search)
        search.save = partial(file.write, search)
    stopped = search.run()
    # Before any verdict is formed: with a wrong symmetry none of them means anything.
    why = refuted(search)
    # A search that stopped at a bound keeps its file, so that it can continue with a larger bound.
    if file and (why or stopped is None):
        file.remove()
    if why:
        again = partial(explore, system, promises, canary=canary, coverage=coverage, progress=progress)
        whole = again(until_all_broken=until_all_broken, max_states=max_states, max_depth=max_depth, memory=memory)
        return replace(whole, reductions=(f"searched again without reduction: {why}",))
    found = search.verdicts(len(promises), stopped, canary)
    if space.fused:
        found = shortest(system, promises, found, memory)
    seen = None if canary is None else search.watchers.watches[-1].broken is not None
    seconds = time.perf_counter() - began
    return replace(_result(search, found, coverage), seconds=seconds, stopped=stopped, canary=seen)


def _result(search: Search, found: dict[str, PromiseResult], coverage: bool) -> Result:
    space = search.space
    return Result(
        distinct=len(search.states),
        generated=search.walk.generated,
        depth=search.depth,
        seconds=0.0,
        promises=found,
        deadlock=search.run_to_end(search.ends.deadlock),
        ends=search.ends.count,
        ends_at_limit=search.ends.at_limit,
        reductions=space.about,
        stands_for=search.walk.stands_for if space.about else None,
        coverage=coverage_of(space, search.watchers) if coverage else None,
    )


def shortest(
    system: Any, promises: Sequence[Any], found: dict[str, PromiseResult], memory: float | None
) -> dict[str, PromiseResult]:
    """Search again without partial-order reduction, to find shortest counterexamples to the violated promises."""
    broken = [p for p in promises if found[p.name].verdict is Verdict.VIOLATED and not found[p.name].cycle]
    if not broken:
        return found
    # The end of a run is detected one level after its last step.
    longest = max((found[p.name].steps or 0) + (p.kind == "run") for p in broken)
    space = Reduced(system, broken, fuse=False)
    again = Search(space, Watchers(system, broken), Bounds(max_depth=longest, memory=memory))
    again.until_all_broken = True
    stopped = again.run()
    if refuted(again):  # the known counterexample is still a run of the system
        stopped = "exchanging actors is not a symmetry in later states"
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
