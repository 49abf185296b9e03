"""Judges a protocol by comparison with another one: which promises it newly breaks, breaks sooner, later, or keeps.

Both are judged in the same worlds. The verdicts on the other protocol come from the accepted matrix, if the matrix has
its row. A violation in a world that the row does not cover counts as a change only if a search of the other protocol in
this world does not find it, too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import inf
from typing import Any, Literal

from nbcc.model import World, extensions
from nbcc.model.assembly import is_modelled
from nbcc.model.machine.mechanism import Mechanism
from nbcc.model.promises import PROMISES

from .. import specs
from ..specs import ProtocolFile
from .explore import PromiseResult, Result, Verdict
from .footprint import untouched
from .jobs import SearchJob, run_jobs
from .verdicts.data import data_path, described, load
from .verdicts.judge import SIGNS, Cell, SearchedWorld, cell, shortest_violation, worlds_of
from .verdicts.kills import accepted as accepted_kills
from .verdicts.kills import believed
from .verdicts.search_bounds import Depth, matrix_bounds

Change = Literal["broken", "sooner", "later", "kept", "unknown", "same"]
CHANGES: tuple[Change, ...] = ("broken", "sooner", "later", "kept", "unknown", "same")
"""In the order in which a report lists them."""


@dataclass(frozen=True, slots=True)
class BriefVerdict:
    """The verdict on one promise under one protocol, and the steps of a shortest violation."""

    verdict: Verdict
    steps: int | None = None

    @property
    def sign(self) -> str:
        """The verdict as a short text, as in the matrix."""
        return str(self.steps) if self.verdict is Verdict.VIOLATED else SIGNS[self.verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPromise:
    """One promise under both protocols. `cell` is the verdict on the judged protocol with its bound and its reason. For
    a violation, `world` is the world in which it is shortest, and `found` the result of the search there. `taken` is
    True if no world was searched to which the promise applies: the verdict is the recorded one of the default protocol.
    """

    promise: str
    base: BriefVerdict
    cell: Cell
    world: World | None = None
    found: PromiseResult | None = None
    taken: bool = False

    @property
    def mine(self) -> BriefVerdict:
        return BriefVerdict(self.cell.verdict, self.cell.steps)

    @property
    def change(self) -> Change:
        """What the judged protocol changes for this promise."""
        if self.mine == self.base:
            return "same"
        if Verdict.VIOLATED not in (self.mine.verdict, self.base.verdict):
            return "unknown"
        if self.mine.verdict is not Verdict.VIOLATED:
            return "kept" if self.mine.verdict is Verdict.HOLDS else "unknown"
        if self.base.verdict is not Verdict.VIOLATED:
            return "broken"
        return "sooner" if (self.mine.steps or 0) < (self.base.steps or 0) else "later"


@dataclass(slots=True, kw_only=True)
class Comparison:
    """The comparison of the protocol `mine` with the protocol `base`. `promises` are the promises to judge (default:
    all), and `only` the names or files of worlds (default: those of the matrix). Call `search` first, then `judged`.
    """

    mine: ProtocolFile
    base: ProtocolFile
    depth: Depth = "quick"
    promises: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    searched: list[SearchedWorld] = field(default_factory=list)
    taken: list[SearchedWorld] = field(default_factory=list)
    """The worlds that are not searched: they read nothing that the judged protocol changes in the default one."""
    of_base: list[SearchedWorld] = field(default_factory=list)
    """The worlds that are searched under the base: those that its row in the matrix does not cover."""

    @property
    def worlds(self) -> dict[World, bool]:
        """The worlds of both protocols, the smallest first, each with True if its search uses reductions.

        A protocol that the matrix does not have is judged in every world in which the matrix judges the default
        protocol, large worlds excepted, and in those of the base. Worlds of extensions come first.
        """
        if self.only:
            return {specs.world(name): False for name in self.only}
        bounds = {each.world: each.reduced for each in matrix_bounds(self.depth)}
        of_base = worlds_of(self.base.name, "quick") if self.row else {}
        own = {specs.world(name): False for name in extensions.files_of("worlds")}
        every = {**worlds_of("default", "quick"), **bounds, **of_base, **own}
        fit = {world: reduced for world, reduced in every.items() if is_modelled(world, self.mine.protocol)}
        return dict(sorted(fit.items(), key=lambda each: (each[0] not in own, _states(each[0]))))

    @property
    def row(self) -> Mapping[str, Any] | None:
        """The row of the base in the accepted matrix. None if the matrix has no row of a protocol with its options, or
        if the worlds are not those of the matrix.
        """
        if self.only or not data_path(self.depth).is_file():
            return None
        row: Mapping[str, Any] = load(self.depth)["protocols"].get(self.base.name, {})
        return row if row.get("options") == self.base.protocol.differences() else None

    @property
    def without_effect(self) -> list[World]:
        """The worlds, searched to the end under both protocols, with the same states, steps and verdicts under both."""
        of_base = {each.world: _measures(each.result) for each in self.of_base}
        mine = {each.world: _measures(each.result) for each in self.searched}
        return [world for world, measures in mine.items() if measures and of_base.get(world) == measures]

    @property
    def never_taken(self) -> list[str]:
        """The actions of extensions that were not possible in any world. Empty if a search stopped or failed."""
        coverages = [each.result.coverage for each in self.searched]
        if not coverages or any(each.result.stopped for each in self.searched):
            return []
        taken = {name for each in coverages if each for name, times in each.actions.items() if times}
        return [name for name in _actions_of_extensions() if name not in taken]

    def begin(self) -> dict[World, bool]:
        """Take what is recorded of the worlds that need no search, and return the worlds that do."""
        worlds = self.worlds
        self.taken = [] if self.only else [*self._taken(worlds)]
        known = {each.world for each in self.taken}
        return {world: reduced for world, reduced in worlds.items() if world not in known}

    def search(self, found: Callable[[SearchedWorld], None], **how: Any) -> None:
        """Search every world under the judged protocol, then those worlds under the base that can decide whether a
        violation is new. `found` is called after each search of the judged protocol. `how` are keyword arguments of
        `run_jobs`.
        """
        worlds = self.worlds
        covering = {**how, "coverage": True} if _actions_of_extensions() else how
        self.searched = self._searched(self.mine, self.begin(), self.promises, found, covering)
        if self.row is None:
            self.of_base = self._searched(self.base, worlds, self.promises, None, how)
            return
        covered = worlds_of(self.base.name, self.depth)
        new = {each.promise for each in self.judged() if each.change in ("broken", "sooner")}
        where = [each.world for each in self.searched if each.world not in covered and new & {*_violated(each.result)}]
        uncovered = {world: worlds[world] for world in where}
        self.of_base = self._searched(self.base, uncovered, tuple(sorted(new)), None, how)

    def _taken(self, worlds: Iterable[World]) -> Iterator[SearchedWorld]:
        for world in worlds:
            if (known := untouched(world, self.mine.protocol, self.promises or [*PROMISES])) is not None:
                yield SearchedWorld(world=world, result=known)

    def _searched(
        self, file: ProtocolFile, worlds: Mapping[World, bool], promises: tuple[str, ...],
        found: Callable[[SearchedWorld], None] | None, how: Mapping[str, Any],
    ) -> list[SearchedWorld]:  # fmt: skip
        jobs = [
            SearchJob(world=world, protocol=file.protocol, promises=promises, reduce=reduced)
            for world, reduced in worlds.items()
        ]

        def done(job: SearchJob, result: Result) -> None:
            if found is not None and isinstance(job.world, World):
                found(SearchedWorld(world=job.world, result=result))

        results = run_jobs(jobs, raises=False, done=done, **how)
        return [
            SearchedWorld(world=world, result=result) for world, (_, result) in zip(worlds, results, strict=True)
        ]

    def judged(self) -> list[JudgedPromise]:
        """Return the verdicts on every promise: changes first, the worst ones at the top, shortest runs first."""
        rows = []
        for name in self.promises or PROMISES:
            shortest = shortest_violation(name, self.searched)
            where, first = (shortest[0].world, shortest[1]) if shortest else (None, None)
            mine = self._cell(name, [*self.searched, *self.taken])
            rows.append(JudgedPromise(promise=name, base=self._of_base(name), cell=mine, world=where, found=first,
                               taken=self._is_taken(name)))  # fmt: skip
        return sorted(rows, key=lambda each: (CHANGES.index(each.change), each.mine.steps or inf))

    def _cell(self, promise: str, searched: Sequence[SearchedWorld]) -> Cell:
        """Return the verdict of several searches. In worlds that the user chose, no mutants need to be killed."""
        found = cell(promise, searched)
        return found if self.only else believed(promise, found, accepted_kills(), self.mine.protocol)

    def _is_taken(self, promise: str) -> bool:
        """Return whether no search says anything about a promise: the recorded worlds alone do."""
        applies = (each.result.promises.get(promise) for each in self.searched)
        unfit = all(found is not None and found.verdict is Verdict.NOT_APPLICABLE for found in applies)
        return unfit and any(promise in each.result.promises for each in self.taken)

    def _of_base(self, promise: str) -> BriefVerdict:
        searched = self._cell(promise, self.of_base)
        if self.row is None or promise not in self.row["promises"]:
            return BriefVerdict(searched.verdict, searched.steps)
        accepted = self.row["promises"][promise]
        known = BriefVerdict(Verdict(accepted["verdict"]), accepted.get("steps"))
        if searched.verdict is not Verdict.VIOLATED or (known.steps or inf) <= (searched.steps or 0):
            return known
        return BriefVerdict(Verdict.VIOLATED, searched.steps)


def _violated(result: Result) -> Iterator[str]:
    return (name for name, found in result.promises.items() if found.verdict is Verdict.VIOLATED)


def _actions_of_extensions() -> list[str]:
    return [action.name for _, each in extensions.declared("MECHANISM", Mechanism) for action in each.actions]


def violated_in(each: SearchedWorld) -> Iterator[tuple[str, int]]:
    """Yield the promises that a search found violated, each with the steps of the run."""
    return ((name, each.result.promises[name].steps or 0) for name in _violated(each.result))


def place(world: World) -> str:
    """Return the name of a world, or its bound if it has no name."""
    return world.name or described(world)


@cache
def _sizes() -> dict[str, int]:
    named = tomllib.loads((files("nbcc") / "specs" / "sizes.toml").read_text("utf-8"))["worlds"]
    states = {each["world"]: each["states"] for each in load("quick")["worlds"] if each["states"]}
    return {**states, **{name: size["distinct"] for name, size in named.items()}}


def _states(world: World) -> float:
    """Return the states of a world under the default protocol. A world that was never counted comes last."""
    return _sizes().get(world.name) or _sizes().get(described(world)) or inf


def _measures(result: Result) -> tuple[Any, ...]:
    """What two searches of one world have in common if a changed option has no effect there; () if one was stopped."""
    verdicts = {name: (found.verdict, found.steps) for name, found in result.promises.items()}
    if any(verdict is Verdict.UNDETERMINED for verdict, _ in verdicts.values()):
        return ()
    return result.distinct, result.generated, result.depth, verdicts
