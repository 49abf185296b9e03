"""Search jobs: each job searches one world (actors and limits) under one protocol (rules) for violations of promises.

A job consists of names and plain values, so that it can be sent to another process or machine.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.model.validation import nearest

from ..users_factory import users_factory
from .exhaustive import explore
from .failed import failed_search
from .processes import Work, in_processes
from .result import Result
from .shards import Shard


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchJob:
    """The inputs of one search. `world` and `protocol` are names, paths, or objects of the classes `World` and
    `Protocol`. If `promises` is empty, the search checks all promises.

    A `world` of the form ``package.module:factory`` names a user's model, which `factory()` returns. `mutant` is the
    name of a mutant in specs/mutants; the search runs with this mutant. `reduce` and `shard` have the same meaning as
    in `explore`. In a search divided into shards, `parallel` checks that some shard's search found a violation of the
    canary, a promise that must be violated.
    """

    world: str | World
    protocol: str | Protocol = "default"
    promises: tuple[str, ...] = ()
    mutant: str = ""
    reduce: bool = False
    shard: Shard | None = None

    def system(self) -> Any:
        """Return the system (model or user's model) that the job explores.

        Raises ValueError for an unknown name; the message lists the known names.
        """
        from nbcc.simulator import specs

        if isinstance(self.world, str) and ":" in self.world:
            return users_factory(self.world, "model", (), "initial")()
        changed = _mutant(self.mutant).protocol if self.mutant else {}
        world = specs.world(self.world) if isinstance(self.world, str) else self.world
        protocol = specs.protocol(self.protocol) if isinstance(self.protocol, str) else self.protocol
        if changed:
            protocol = Protocol.from_mapping({**protocol.to_mapping(), **changed})
        return Model(world, protocol)


JobRunner = Callable[..., Iterator[tuple[SearchJob, Result]]]
"""A function that runs jobs, such as `run_jobs`."""


def promises_of(system: Any, names: Sequence[str] = ()) -> tuple[list[Any], Any]:
    """Return the named promises (all promises if `names` is empty) and the canary, a promise that every complete search
    finds violated. For a user's model, no such promise is known, and the canary is None.
    """
    table = isinstance(system, Model)
    known: Mapping[str, Any] = PROMISES if table else {each.name: each for each in getattr(system, "promises", ())}
    known_promises(names, known)
    return [known[name] for name in (names or known)], CANARY if table else None


def known_promises(names: Sequence[str], known: Mapping[str, Any] = PROMISES) -> tuple[str, ...]:
    """Return the given promise names as a tuple, after checking that each promise exists.

    Raises:
        ValueError: If a promise does not exist; the message suggests the most similar name.
    """
    for name in names:
        if name not in known:
            raise ValueError(f"no promise is called {name!r}; {nearest(name, known, 'nbcc list promises')}")
    return tuple(names)


def run_job(job: SearchJob, **bounds: Any) -> Result:
    """Run one job in this process. `bounds` contains further keyword arguments of `explore`."""
    with applied(job.mutant):
        system = job.system()
        promises, canary = promises_of(system, job.promises)
        if job.shard is not None and canary is not None:
            promises, canary = [*promises, canary], None
        return explore(system, promises, canary=canary, reduce=job.reduce, shard=job.shard, **bounds)


def _mutant(name: str) -> Any:
    # `mutants` imports what tests use, which takes longer than a small search: only jobs with a mutant import it.
    from nbcc.simulator import mutants

    return mutants.load(name)


def applied(name: str) -> AbstractContextManager[Any]:
    """Return a context manager that applies a mutant to the model; an empty name means no mutant."""
    if not name:
        return nullcontext()
    from nbcc.simulator import mutants

    return mutants.applied(_mutant(name))


def try_job(job: SearchJob, **bounds: Any) -> Result:
    """Run one search job. If the job fails, return UNDETERMINED with the reason."""
    try:
        return run_job(job, **bounds)
    except Exception as error:  # any error ends this job alone
        return failed_search(error)


def run_jobs(
    jobs: Sequence[SearchJob],
    *,
    workers: int = 1,
    memory: float | None = None,
    raises: bool = True,
    done: Callable[[SearchJob, Result], None] | None = None,
    progress: Callable[..., None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[SearchJob, Result]]:
    """Run search jobs and yield each job with its result, in the given order.

    Args:
        `workers`: The number of concurrent processes; 1 runs the jobs in this process.
        `memory`: The memory in GiB, divided among the workers.
        `raises`: True to propagate a job's error; False to return the result UNDETERMINED with the reason.
        `done`: A function that is called with each job and its result as soon as the job ends.
        `progress`: A function that is called with a job and the four numbers that `explore` reports during the job's
        search. `bounds`: Keyword arguments that are passed to `explore` for each job.
    """
    one = run_job if raises else try_job
    work = partial(one, memory=memory / workers if memory else None, **bounds)
    report = partial(_report, progress, jobs) if progress else None
    ended = in_processes(work, jobs, workers, report) if workers > 1 else _here(work, jobs, report)
    finished: dict[int, Result] = {}
    position = 0
    with closing(ended):  # ends the processes, also after an error or if the caller stops early
        for number, result in ended:
            finished[number] = result
            if done:
                done(jobs[number], result)
            while position in finished:
                yield jobs[position], finished.pop(position)
                position += 1


def _here(work: Work, jobs: Sequence[SearchJob], report: Callable[..., None] | None) -> Generator[tuple[int, Result]]:
    for number, job in enumerate(jobs):
        yield number, work(job, progress=partial(report, number) if report else None)


def _report(progress: Callable[..., None], jobs: Sequence[SearchJob], number: int, *figures: int) -> None:
    progress(jobs[number], *figures)
