"""Search jobs: each job searches one world (actors and limits) under one protocol (rules) for violations of promises.

A job consists of names and plain values, so that it can be sent to another process or machine. The result of a search
that failed or ran out of memory proves nothing about the model.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, Final
from typing import Protocol as Interface

from nbcc.model import Model, Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.promises.writers import CANARY
from nbcc.model.validation import nearest

from ...users_factory import users_factory
from ..explore import PromiseResult, Result, Verdict, explore
from ..explore.memory import is_of_memory
from ..footprint import ReadRecorder

FAILED: Final = "SEARCH"
"""The key of a failed search's only result, in place of the names of promises."""


class Job(Interface):
    """One search that can be sent to another process."""

    def run(self, **bounds: Any) -> Result:
        """Search in this process. `bounds` contains further keyword arguments of `explore`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchJob:
    """The inputs of one search. `world` and `protocol` are names, paths, or objects of the classes `World` and
    `Protocol`. If `promises` is empty, the search checks all promises.

    A `world` of the form ``package.module:factory`` names a user's model, which `factory()` returns. `mutant` is the
    name of a mutant in specs/mutants; the search runs with this mutant. `reduce` has the same meaning as in `explore`.
    `records` adds to the result what the search reads of the protocol.
    """

    world: str | World
    protocol: str | Protocol = "default"
    promises: tuple[str, ...] = ()
    mutant: str = ""
    reduce: bool = False
    records: bool = False

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

    def run(self, **bounds: Any) -> Result:
        """Search in this process. `bounds` contains further keyword arguments of `explore`."""
        from nbcc.simulator import specs

        if self.records:
            given = specs.protocol(self.protocol) if isinstance(self.protocol, str) else self.protocol
            world = specs.world(self.world) if isinstance(self.world, str) else self.world
            recorder = ReadRecorder(given, world)
            found = replace(self, protocol=recorder.protocol, records=False).run(**bounds)
            return replace(found, reads=recorder.reads)
        with applied(self.mutant):
            system = self.system()
            promises, canary = promises_of(system, self.promises)
            return explore(system, promises, canary=canary, reduce=self.reduce, **bounds)


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


def _mutant(name: str) -> Any:
    # `mutants` imports what tests use, which takes longer than a small search: only jobs with a mutant import it.
    from nbcc.simulator.search import mutants

    return mutants.load(name)


def applied(name: str) -> AbstractContextManager[Any]:
    """Return a context manager that applies a mutant to the model; an empty name means no mutant."""
    if not name:
        return nullcontext()
    from nbcc.simulator.search import mutants

    return mutants.applied(_mutant(name))


def try_job(job: Job, **bounds: Any) -> Result:
    try:
        return job.run(**bounds)
    except Exception as error:  # any error ends this job alone
        return failed_search(error)


def failed_search(reason: str | Exception) -> Result:
    sentence = _sentence(reason) if isinstance(reason, Exception) else reason
    verdict = PromiseResult(name=FAILED, verdict=Verdict.UNDETERMINED, because=sentence)
    return Result(distinct=0, generated=0, depth=0, seconds=0, stopped=sentence, promises={FAILED: verdict})


def _sentence(error: Exception) -> str:
    places = traceback.extract_tb((error.__cause__ or error).__traceback__)
    at = f" ({places[-1].filename.rpartition('/')[2]}, line {places[-1].lineno})" if places else ""
    words = " ".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
    return f"the search failed: {' '.join(words.split())[:300]}{at}"


def transient(result: Result) -> str | None:
    """If a repeated search may have another result, return the reason: a failure or a lack of memory. Otherwise return
    None.
    """
    reasons = (result.stopped, *(promise.because for promise in result.promises.values()))
    return next((why for why in reasons if why and (FAILED in result.promises or is_of_memory(why))), None)
