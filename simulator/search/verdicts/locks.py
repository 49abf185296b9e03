"""Defines and runs the searches for the lock protocols, their mutants and the object stores in specs/locks.toml.

The function `judge_locks` runs the searches. The module `lock_data` reads and writes the accepted verdicts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from typing import Any, Final

from ..explore import PromiseResult, Result, Verdict, explore
from ..jobs import SearchJob, run_jobs
from ..locks import LockLimits, NumberedLockModel, NumberedLockRules, StorageLockModel, StorageLockRules
from ..locks.promises import PROMISES as LOCK_PROMISES
from .search_bounds import DEPTHS, Depth

MODELS: Final[Mapping[str, tuple[Any, Any]]] = {
    "storage_lock": (StorageLockModel, StorageLockRules),
    "numbered_lock": (NumberedLockModel, NumberedLockRules),
}
DECISIONS: Final = {"lock": "default", "log": "decision-log"}
"""Value of `nbcc.decision` -> the protocol of the table that has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockJob:
    """One search of a lock model. `rules` contains the lock rules that differ from those of the engine's locks."""

    model: str
    limits: LockLimits
    rules: Mapping[str, Any] = field(hash=False, default_factory=dict)

    def run(self, **bounds: Any) -> Result:
        """Search every interleaving, and judge the promises MUTEX and LEASE."""
        model, rules = MODELS[self.model]
        return explore(model(self.limits, rules(**self.rules)), LOCK_PROMISES, reduce=True, **bounds)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockVerdicts:
    """The verdicts on one lock protocol, mutant or object store.

    `kind` is "lock" (a lock protocol), "mutant" (a mutant of a lock protocol) or "store" (an object store that holds a
    lock or a table). `lock` is the name of the lock protocol. For a table in an object store, `lock` is "table, lock"
    or "table, log", depending on the table property `nbcc.decision`.
    """

    name: str
    lock: str
    about: str
    kind: str
    jobs: tuple[LockJob | SearchJob, ...]
    depth: Depth = "quick"
    results: tuple[Result, ...] = ()

    @property
    def promises(self) -> dict[str, PromiseResult]:
        """For each promise, return the combined result of all searches. For a violated promise, this is the violation
        with the fewest steps.
        """
        names = dict.fromkeys(name for result in self.results for name in result.promises)
        return {name: self._promise(name) for name in names}

    def _promise(self, name: str) -> PromiseResult:
        given = [each.promises[name] for each in self.results if name in each.promises]
        broken = [each for each in given if each.verdict is Verdict.VIOLATED]
        if broken:
            return min(broken, key=lambda each: each.steps or 0)
        doubtful = [each for each in given if each.verdict is Verdict.UNDETERMINED]
        holds = [each for each in given if each.verdict is Verdict.HOLDS]
        # In this order: one search that was not finished makes the verdict undetermined.
        return (doubtful or holds or given)[0]

    @property
    def searched(self) -> dict[str, int]:
        """Map the bound of each search, as text, to the number of states in the search."""
        pairs = zip(self.jobs, self.results, strict=True)
        return {bound_of(job): each.stands_for or each.distinct for job, each in pairs}


def bound_of(job: LockJob | SearchJob) -> str:
    """Return the bound of a lock search in words."""
    return sentence(job.limits) if isinstance(job, LockJob) else f"world {job.world}"


def sentence(limits: LockLimits) -> str:
    """Return the limits of a lock model in words, such as "2 contenders × 1 attempt, clocks up to 4, lease 1, drift 1,
    1 fault".
    """
    tries = "1 attempt" if limits.attempts == 1 else f"{limits.attempts} attempts"
    failures = [
        f"{count} {word if count == 1 else f'{word}{ending}'}"
        for count, word, ending in ((limits.faults, "fault", "s"), (limits.crashes, "crash", "es"))
        if count
    ]
    times = f"clocks up to {limits.ticks}, lease {limits.lease}, drift {limits.drift}"
    return ", ".join([f"{limits.contenders} contenders × {tries}", times, *failures])


@cache
def described() -> Mapping[str, Any]:
    """Return the parsed content of specs/locks.toml."""
    return tomllib.loads((files("nbcc") / "specs" / "locks.toml").read_text(encoding="utf-8"))


def rows() -> Iterator[LockVerdicts]:
    """Yield the rows of the lock verdict table, without results: lock protocols, their mutants, and object stores."""
    given = described()
    for depth in DEPTHS:
        limits = [LockLimits(**each.get("limits", {})) for each in given["bound"] if each["depth"] == depth]
        for lock in given["lock"] if limits else ():
            jobs = tuple(LockJob(model=lock["model"], limits=each) for each in limits)
            name, about = lock["name"], lock["about"]
            yield LockVerdicts(name=name, lock=name, about=about, kind="lock", jobs=jobs, depth=depth)
    by_model = {lock["model"]: lock["name"] for lock in given["lock"]}
    for mutant in given["mutant"]:
        job = LockJob(model=mutant["model"], limits=LockLimits(**mutant["limits"]), rules=mutant["rules"])
        of = by_model[mutant["model"]]
        yield LockVerdicts(name=mutant["name"], lock=of, about=mutant["about"], kind="mutant", jobs=(job,))
    for store in given["store"]:
        yield from _of_store(store, by_model)


def _of_store(store: Mapping[str, Any], locks: Mapping[str, str]) -> Iterator[LockVerdicts]:
    made = partial(LockVerdicts, about=store["about"], kind="store")
    if "limits" in store:
        limits = LockLimits(**store["limits"])
        for model, lock in locks.items():
            job = LockJob(model=model, limits=limits, rules=store.get("rules", {}))
            yield made(name=store["name"], lock=lock, jobs=(job,))
    if "worlds" in store:
        for decision, protocol in DECISIONS.items():
            jobs = tuple(SearchJob(world=world, protocol=protocol, reduce=True) for world in store["worlds"])
            yield made(name=store["name"], lock=f"table, {decision}", jobs=jobs)


def judge_locks(depth: Depth = "quick", *, workers: int = 1, **bounds: Any) -> tuple[LockVerdicts, ...]:
    """Determine the lock verdicts up to the search depth `depth`. The searches run in `workers` processes. The `bounds`
    are keyword arguments of `explore`.
    """
    wanted = wanted_rows(depth)
    # By `repr`: rows share searches, and the rules of a job are a mapping, which is not hashed.
    jobs = {repr(job): job for row in wanted for job in row.jobs}
    found = run_jobs(list(jobs.values()), workers=workers, raises=False, **bounds)
    results = {repr(job): result for job, result in found}
    return tuple(replace(row, results=tuple(results[repr(job)] for job in row.jobs)) for row in wanted)


def wanted_rows(depth: Depth) -> list[LockVerdicts]:
    return [row for row in rows() if DEPTHS.index(row.depth) <= DEPTHS.index(depth)]
