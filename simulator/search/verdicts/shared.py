"""Runs the searches of the matrix, except those whose result is known from another protocol's search of the same world.

A search records which options and rules it reads. A second protocol that chooses the same there takes the same
decisions in every state of the world, and so has the same result (see `..footprint`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from nbcc.model import Protocol

from ..explore import Result
from ..footprint import Choices, Reads
from ..jobs import SearchJob

Run = Callable[[Sequence[SearchJob]], Mapping[SearchJob, Result]]


class Shared(NamedTuple):
    """The result of a job. `taken` is True if it is the result of a search under another protocol."""

    result: Result
    taken: bool


def results_of(jobs: Sequence[SearchJob], run: Run, done: Callable[[], None]) -> dict[SearchJob, Shared]:
    """Return the result of each job. `run` searches; `done` is called for each result that is taken from another job.

    In each round, one job is searched for all jobs of a world that choose the same among everything that the earlier
    searches of this world have read. It may read more, which the next round takes into account.
    """
    choices = cache(Choices)
    worlds: dict[Hashable, _World] = {}
    for job in dict.fromkeys(jobs):
        worlds.setdefault((job.world, job.reduce), _World(choices)).left.append(job)
    found: dict[SearchJob, Shared] = {}
    # The slowest first: a long search that begins last would leave the other processes idle.
    while rounds := {each: world for world in sorted(worlds.values(), key=_seconds) for each in world.next_round()}:
        for job, result in run(list(rounds)).items():
            for other, shared in rounds[job].ended(job, result):
                found[other] = shared
                if shared.taken:
                    done()
    return found


class _World:
    """The jobs of one world that have no result yet, and what the searches of the world have read."""

    def __init__(self, choices: Callable[[Protocol], Choices]) -> None:
        self.left: list[SearchJob] = []
        self.seconds = 0.0
        """The duration of the longest search."""
        self._choices = choices
        self._reads: tuple[set[str], set[str]] = (set(), set())
        self._alone: set[SearchJob] = set()
        """Jobs whose representative was stopped: the next round searches each of them."""
        self._alike: dict[SearchJob, list[SearchJob]] = {}

    def next_round(self) -> list[SearchJob]:
        """Return the jobs to search next: the first of those that choose the same among everything read so far. Its
        reads are recorded if there are others.
        """
        options, rules = self._reads
        reads = tuple(sorted(options)), tuple(sorted(rules))
        groups: dict[Hashable, list[SearchJob]] = {}
        for job in self.left:
            groups.setdefault(job if job in self._alone else self._among(job, reads), []).append(job)
        # Recording what a search reads makes it slower, so that only searches with a use for it record.
        self._alike = {replace(some[0], records=len(some) > 1): some for some in groups.values()}
        return list(self._alike)

    def ended(self, searched: SearchJob, result: Result) -> Iterator[tuple[SearchJob, Shared]]:
        """Yield the jobs that have the result of a finished search, the searched job first."""
        first, *others = self._alike[searched]
        self.seconds = max(self.seconds, result.seconds)
        same: list[SearchJob] = []
        if result.stopped:
            self._alone.update(others)
        elif result.reads is not None:
            for known, more in zip(self._reads, result.reads, strict=True):
                known.update(more)
            wanted = self._among(first, result.reads)
            same = [job for job in others if self._among(job, result.reads) == wanted]
        ended = {first, *same}
        self.left = [job for job in self.left if job not in ended]
        yield first, Shared(result, taken=False)
        yield from ((job, Shared(result, taken=True)) for job in same)

    def _among(self, job: SearchJob, reads: Reads) -> Hashable:
        assert isinstance(job.protocol, Protocol)
        return self._choices(job.protocol).among(reads)


def _seconds(world: _World) -> float:
    return -world.seconds
