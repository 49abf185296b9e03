"""Runs one search as several shards (disjoint parts of the states) and merges their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from .exhaustive import shortest
from .jobs import JobRunner, SearchJob, applied, promises_of, run_job, run_jobs
from .memory import GIB, SHARE, free
from .processes import prepare
from .result import Coverage, PromiseResult, Result
from .search import blind
from .shards import PREFIX
from .space import Reduced
from .verdict import Verdict
from .watch import UNREACHED


def explore_in_shards(
    job: SearchJob,
    workers: int,
    search: JobRunner = run_jobs,
    *,
    max_states: int | None = None,
    memory: float | None = None,
    progress: Callable[..., None] | None = None,
    **bounds: Any,
) -> Result:
    """Run one search job in several processes. The `bounds` are keyword arguments of `run_jobs`. `search` is the
    function that runs the jobs of the shards.

    The local processes share `memory` (GiB); the default is most of the free memory. A system without a shard key
    cannot be divided, and is searched in this process.
    """
    began = time.perf_counter()
    bounds["max_states"] = max_states
    system = job.system()
    if getattr(system, "shard_key", None) is None:
        return run_job(job, memory=memory, progress=progress, **bounds)
    if search is run_jobs:
        prepare()  # while this process searches the prefix
    prefix = run_job(replace(job, shard=PREFIX), memory=memory, **bounds)
    found, shard_progress = [prefix], _ShardProgress(prefix, progress)
    if not prefix.stopped:
        jobs = [replace(job, shard=shard) for shard in prefix.shards.split(workers)]
        if search is run_jobs and memory is None and (left := free()):
            memory = left * SHARE / GIB  # otherwise each process would use most of the free memory
        for _, result in search(
            jobs, workers=workers, progress=shard_progress.running, done=shard_progress.ended, memory=memory, **bounds
        ):
            found.append(result)
            if _stopped(found, max_states):
                break  # closing the generator ends the other processes
    whole = merge_results(*promises_of(system, job.promises), found, _stopped(found, max_states))
    return replace(_shortest(job, whole, memory), seconds=time.perf_counter() - began)


class _ShardProgress:
    def __init__(self, prefix: Result, progress: Callable[..., None] | None) -> None:
        self.progress = progress
        self.done = [prefix]
        self.figures: dict[SearchJob, tuple[int, ...]] = {}

    def running(self, job: SearchJob, *figures: int) -> None:
        self.figures[job] = figures
        if self.progress:
            done = [(each.distinct, each.generated, each.depth, 0) for each in self.done]
            states, steps, depths, frontier = zip(*done, *self.figures.values(), strict=True)
            self.progress(sum(states), sum(steps), max(depths), sum(frontier))

    def ended(self, job: SearchJob, result: Result) -> None:
        self.figures.pop(job, None)
        self.done.append(result)


def _stopped(found: Sequence[Result], max_states: int | None) -> str | None:
    if max_states and sum(result.distinct for result in found) > max_states:
        return f"more than {max_states:,} distinct states"
    return next((result.stopped for result in found if result.stopped), None)


def merge_results(promises: Sequence[Any], canary: Any | None, found: Sequence[Result], stopped: str | None) -> Result:
    """Return one result that combines the results of all shards and of their common prefix. `stopped` is the reason why
    the shards were not searched completely, or None.
    """
    seen = None if canary is None else any(_violated(result, canary.name) for result in found)
    doubt = stopped or (blind(canary) if seen is False else None)
    deadlocks = [result.deadlock for result in found if result.deadlock is not None]
    return replace(
        found[0],
        distinct=sum(result.distinct for result in found),
        generated=sum(result.generated for result in found),
        depth=max(result.depth for result in found),
        stopped=stopped,
        promises={each.name: _verdict(each.name, found, doubt) for each in promises},
        deadlock=min(deadlocks, key=len, default=None),
        ends=sum(result.ends for result in found),
        ends_at_limit=sum(result.ends_at_limit for result in found),
        canary=seen,
        stands_for=sum(result.stands_for or 0 for result in found) if found[0].reductions else None,
        coverage=_covered([result.coverage for result in found if result.coverage]),
        shards=None,
    )


def _violated(result: Result, name: str) -> bool:
    return name in result.promises and result.promises[name].verdict is Verdict.VIOLATED


def _verdict(name: str, found: Sequence[Result], doubt: str | None) -> PromiseResult:
    results = [result.promises[name] for result in found if name in result.promises]
    if broken := [each for each in results if each.verdict is Verdict.VIOLATED]:
        return min(broken, key=lambda each: each.steps or 0)
    if results[0].verdict is Verdict.NOT_APPLICABLE:
        return results[0]
    doubts = [each.because for each in results if each.verdict is Verdict.UNDETERMINED]
    because = doubt or next((why for why in doubts if why != UNREACHED), None)
    if because is None and len(doubts) == len(results):
        because = UNREACHED
    return PromiseResult(name=name, verdict=Verdict.UNDETERMINED if because else Verdict.HOLDS, because=because)


def _covered(found: Sequence[Coverage]) -> Coverage | None:
    if not found:
        return None
    prefix, *others = found
    return Coverage(
        actions={
            name: times + sum(each.actions[name] - times for each in others) for name, times in prefix.actions.items()
        },
        never_false=tuple(each for each in prefix.never_false if all(each in other.never_false for other in others)),
        untested=tuple(each for each in prefix.untested if all(each in other.untested for other in others)),
    )


def _shortest(job: SearchJob, whole: Result, memory: float | None) -> Result:
    """Replace the counterexamples in a merged result with shortest ones, unless they are already shortest."""
    if not any(_violated(whole, name) for name in whole.promises):
        return whole
    with applied(job.mutant):
        system = job.system()
        promises, canary = promises_of(system, job.promises)
        fused = job.reduce and Reduced(system, [*promises, *([canary] if canary else [])]).fused
        if not (fused or whole.stopped):
            return whole
        return replace(whole, promises=shortest(system, promises, dict(whole.promises), memory))
