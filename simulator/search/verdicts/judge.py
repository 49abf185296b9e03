"""Determines which promises hold under each protocol. Each cell of the matrix combines the results of all searches for
one protocol and one promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from nbcc.model import World
from nbcc.model.assembly import is_modelled
from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest

from ... import specs
from ...components import is_assumed
from ...specs import ProtocolFile
from ..explore import PromiseResult, Result, Verdict
from ..jobs import SearchJob, run_jobs
from .bound import Bound, bound_of, sentence
from .search_bounds import DEPTHS, Depth, SearchBound, large, matrix_bounds, mixed, pins
from .shared import results_of

SIGNS: Final = {
    Verdict.HOLDS: "holds",
    Verdict.UNDETERMINED: "?",
    Verdict.NOT_APPLICABLE: "–",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedWorld:
    """A world (configuration of a search) that was searched under a protocol, with the result. `taken` is True if the
    result is that of another protocol, because its search reads nothing that differs between the two.
    """

    world: World
    result: Result
    taken: bool = False

    @property
    def bound(self) -> Bound:
        return bound_of(self.world)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The verdict on one promise under one protocol.

    `trace` is a shortest run that violates the promise. `bounds` contains the bound of its world, or the bounds of the
    worlds in which the promise holds. `because` describes the violation, or the reason why the verdict is UNDETERMINED
    or NOT_APPLICABLE. `evidence` states how well runs of the real system confirm a violation, such as "confirmed" or
    "model only".
    """

    verdict: Verdict
    bounds: tuple[Bound, ...] = ()
    because: str | None = None
    trace: tuple[Any, ...] | None = None
    evidence: str = ""

    @property
    def steps(self) -> int | None:
        return None if self.trace is None else len(self.trace)

    def to_json(self) -> dict[str, Any]:
        """Return the cell as the JSON object that `nbcc verdicts --json` prints."""
        steps = self.trace and [{"actor": s.actor, "action": s.action, "args": dict(s.args)} for s in self.trace]
        return {
            "verdict": str(self.verdict),
            "bound": [dict(bound) for bound in self.bounds],
            "steps": self.steps,
            "trace": steps,
            **({"because": self.because} if self.because else {}),
            **({"evidence": self.evidence} if self.evidence else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A protocol with its verdicts and the worlds that were searched."""

    file: ProtocolFile
    cells: Mapping[str, Cell]
    searched: tuple[SearchedWorld, ...]

    @property
    def name(self) -> str:
        return self.file.name


def depth_of(word: str) -> Depth:
    """Return the search depth with the given name.

    Raises:
        ValueError: If no search depth has this name; the message suggests the most similar depth.
    """
    for depth in DEPTHS:
        if depth == word:
            return depth
    raise ValueError(f"no depth is called {word!r}; {nearest(word, DEPTHS)}")


def protocols() -> tuple[ProtocolFile, ...]:
    """Return the protocols of the matrix, the default protocol first."""
    return tuple(specs.protocol_file(name) for name in specs.protocol_names())


def chosen(names: Sequence[str]) -> tuple[ProtocolFile, ...]:
    """Return the protocols of the matrix with these names; all of them if there is none.

    Raises:
        ValueError: There is no protocol with one of these names.
    """
    asked = {specs.protocol_file(name).name for name in names}
    return tuple(file for file in protocols() if not asked or file.name in asked)


def worlds_of(protocol: str, depth: Depth) -> dict[World, bool]:
    """Return the worlds in which a protocol is checked, each with a flag that is True if the search uses reductions.

    A protocol is checked in the world that specs/sizes.toml lists for it, and in the worlds of specs/verdicts.toml
    up to the search depth, except those that are not modelled under the protocol. The default protocol is also checked
    in the worlds of specs/sizes.toml that satisfy its assumptions, and in worlds whose writers use optimistic
    concurrency control. At full depth, large worlds are added for the default protocol.
    """
    known = pins()
    if protocol in known:
        pinned = [specs.world(known[protocol]["world"])]
    else:
        pinned = [w for w in map(specs.world, sorted({pin["world"] for pin in known.values()})) if is_assumed(w)]
    # Of the default protocol alone: these worlds cost minutes each.
    more: tuple[SearchBound, ...] = mixed() if protocol == "default" else ()
    more += large() if protocol == "default" and depth == "full" else ()
    under = specs.protocol(protocol if protocol in specs.protocol_names() else "default")
    bounds = (each for each in (*matrix_bounds(depth), *more) if is_modelled(each.world, under))
    return {**dict.fromkeys(pinned, False), **{each.world: each.reduced for each in bounds}}


def matrix(
    depth: Depth = "quick",
    chosen: Iterable[ProtocolFile] | None = None,
    *,
    promises: Sequence[str] = (),
    done: Callable[[], None] | None = None,
    **how: Any,
) -> tuple[MatrixRow, ...]:
    """Search all worlds of every protocol, and return the verdicts on the given promises (default: all promises).

    `how` are keyword arguments of `run_jobs`, such as the number of processes. `done` is a function without arguments
    that is called after each search. If a search fails, only the cells that depend on this search are
    undetermined. A world is not searched under a protocol that changes nothing of what its search under another
    protocol has read (see `.shared`).
    """
    rows = tuple(chosen) if chosen is not None else protocols()
    where = [(file, *each) for file in rows for each in worlds_of(file.name, depth).items()]
    asked = tuple(promises)
    jobs = [
        SearchJob(world=world, protocol=file.protocol, promises=asked, reduce=reduced) for file, world, reduced in where
    ]
    ended = done or (lambda: None)

    def run(some: Sequence[SearchJob]) -> dict[SearchJob, Result]:
        return dict(run_jobs(some, raises=False, done=lambda job, result: ended(), **how))

    results = results_of(jobs, run, ended)
    searched: dict[str, list[SearchedWorld]] = {file.name: [] for file in rows}
    for (file, world, _), job in zip(where, jobs, strict=True):
        result, taken = results[job]
        searched[file.name].append(SearchedWorld(world=world, result=result, taken=taken))
    return tuple(row(file, searched[file.name], asked) for file in rows)


def searches(depth: Depth, rows: Sequence[ProtocolFile]) -> int:
    """Return the number of searches that these rows of the matrix require at a search depth."""
    return sum(len(worlds_of(file.name, depth)) for file in rows)


def within(rows: Iterable[MatrixRow], depth: Depth) -> tuple[MatrixRow, ...]:
    """Return the matrix rows for the search depth `depth`, computed from the results of deeper searches."""
    wanted = {each.name: worlds_of(each.name, depth) for each in protocols()}
    smaller = ((each.file, [s for s in each.searched if s.world in wanted[each.name]], each.cells) for each in rows)
    return tuple(row(file, searched, tuple(cells)) for file, searched, cells in smaller)


def row(file: ProtocolFile, searched: Sequence[SearchedWorld], promises: Sequence[str] = ()) -> MatrixRow:
    """Return the matrix row of one protocol: the verdict on each given promise (default: all promises)."""
    cells = {name: cell(name, searched) for name in promises or PROMISES}
    return MatrixRow(file=file, cells=cells, searched=tuple(searched))


def shortest_violation(
    promise: str, searched: Iterable[SearchedWorld]
) -> tuple[SearchedWorld, PromiseResult] | None:
    """Return the violation of a promise with the fewest steps, and the world in which it was found; None if no search
    found one.
    """
    results = ((each, each.result.promises.get(promise)) for each in searched)
    broken = [(each, found) for each, found in results if found and found.verdict is Verdict.VIOLATED]
    # `min` returns the first of equals, so that the world listed first is the one that is shown.
    return min(broken, key=lambda pair: pair[1].steps or 0, default=None)


def cell(promise: str, searched: Sequence[SearchedWorld]) -> Cell:
    """Combine the results of several searches for one promise. If any search finds a violation, the verdict is
    VIOLATED. If no search finds a violation, but a search is unfinished, the verdict is UNDETERMINED.
    """
    results = [(each, each.result.promises[promise]) for each in searched if promise in each.result.promises]
    shortest = shortest_violation(promise, searched)
    if shortest is not None:
        where, first = shortest
        return Cell(verdict=Verdict.VIOLATED, bounds=(where.bound,), because=first.because, trace=first.trace)
    # After a violation, which stands however far other searches came.
    stopped = [each for each in searched if each.result.stopped]
    if stopped:
        result = stopped[0].result
        seen = f", after {result.distinct:,} states" if result.distinct else ""
        reached = f"in {sentence(stopped[0].bound)}: {result.stopped}{seen}"
        return Cell(verdict=Verdict.UNDETERMINED, because=reached)
    holds = tuple(each.bound for each, found in results if found.verdict is Verdict.HOLDS)
    if holds:
        return Cell(verdict=Verdict.HOLDS, bounds=holds)
    unfit = next((f.because for _, f in results if f.verdict is Verdict.NOT_APPLICABLE), None)
    if results and all(found.verdict is Verdict.NOT_APPLICABLE for _, found in results):
        return Cell(verdict=Verdict.NOT_APPLICABLE, because=unfit)
    because = next((f.because for _, f in results if f.verdict is Verdict.UNDETERMINED), "no world was searched")
    return Cell(verdict=Verdict.UNDETERMINED, because=because)


def sign(cell: Cell) -> str:
    """Return a verdict as a short text: "holds", the length of a counterexample, "?" (undetermined) or "–" (not
    applicable).
    """
    return str(cell.steps) if cell.verdict is Verdict.VIOLATED else SIGNS[cell.verdict]


def to_json(rows: Iterable[MatrixRow]) -> dict[str, dict[str, Any]]:
    """Return the matrix as nested JSON objects: protocol, promise, then verdict with bound, steps and trace."""
    return {row.name: {name: cell.to_json() for name, cell in row.cells.items()} for row in rows}
