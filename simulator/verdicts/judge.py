"""Determines which promises hold under each protocol. Each cell of the matrix combines the results of all searches for
one protocol and one promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nbcc.model import World
from nbcc.model.mechanisms.endless import Endless, is_modelled
from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest

from .. import findings, specs
from ..components import is_assumed
from ..explore import Result, Verdict
from ..explore.jobs import SearchJob, run_jobs
from ..specs import ProtocolFile
from .bound import Bound, bound_of, sentence
from .search_bounds import DEPTHS, Depth, SearchBound, large, matrix_bounds, mixed, pins

PICTURES: Final = (".png", ".svg")
SIGNS: Final = {
    Verdict.HOLDS: "holds",
    Verdict.UNDETERMINED: "?",
    Verdict.NOT_APPLICABLE: "–",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchedWorld:
    """A world (configuration of a search) that was searched under a protocol, with the result."""

    world: World
    result: Result

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


def worlds_of(protocol: str, depth: Depth) -> dict[World, bool]:
    """Return the worlds in which a protocol is checked, each with a flag that is True if the search uses reductions.

    A protocol is checked in the world that specs/sizes.toml lists for it, and in the worlds of specs/verdicts.toml up
    to the search depth. If the model does not support infinite runs under the protocol, worlds with infinite runs are
    skipped. The default protocol is also checked in the worlds of specs/sizes.toml that satisfy its assumptions, and in
    worlds whose writers use optimistic concurrency control. At full depth, large worlds are added for the default
    protocol.
    """
    known = pins()
    if protocol in known:
        pinned = [specs.world(known[protocol]["world"])]
    else:
        pinned = [w for w in map(specs.world, sorted({pin["world"] for pin in known.values()})) if is_assumed(w)]
    more: tuple[SearchBound, ...] = mixed() if protocol == "default" else ()
    more += large() if protocol == "default" and depth == "full" else ()
    ends = protocol in specs.protocol_names() and not is_modelled(specs.protocol(protocol))
    bounds = (each for each in (*matrix_bounds(depth), *more) if not (ends and each.world[Endless].endless))
    return {**dict.fromkeys(pinned, False), **{each.world: each.reduced for each in bounds}}


def matrix(
    depth: Depth = "quick",
    chosen: Iterable[ProtocolFile] | None = None,
    *,
    promises: Sequence[str] = (),
    workers: int = 1,
    done: Callable[[], None] | None = None,
    search: Callable[..., Iterator[tuple[SearchJob, Result]]] = run_jobs,
    **bounds: Any,
) -> tuple[MatrixRow, ...]:
    """Search all worlds of every protocol, and return the verdicts on the given promises (default: all promises).

    `workers` is the number of processes, and `bounds` are keyword arguments of `explore`. `done` is a function without
    arguments that is called after each search. If a search fails, only the cells that depend on this search are
    undetermined.
    """
    rows = tuple(chosen) if chosen is not None else protocols()
    where = [(file, *each) for file in rows for each in worlds_of(file.name, depth).items()]
    asked = tuple(promises)
    jobs = [
        SearchJob(world=world, protocol=file.protocol, promises=asked, reduce=reduced) for file, world, reduced in where
    ]
    report = (lambda job, result: done()) if done else None
    results = list(search(jobs, workers=workers, raises=False, done=report, **bounds))
    searched: dict[str, list[SearchedWorld]] = {file.name: [] for file in rows}
    for (file, world, _), (_, result) in zip(where, results, strict=True):
        searched[file.name].append(SearchedWorld(world=world, result=result))
    return tuple(row(file, searched[file.name], asked) for file in rows)


def searches(depth: Depth) -> int:
    """Return the number of searches that the verdict matrix requires at a search depth."""
    return sum(len(worlds_of(file.name, depth)) for file in protocols())


def within(rows: Iterable[MatrixRow], depth: Depth) -> tuple[MatrixRow, ...]:
    """Return the matrix rows for the search depth `depth`, computed from the results of deeper searches."""
    wanted = {each.name: worlds_of(each.name, depth) for each in protocols()}
    smaller = ((each.file, [s for s in each.searched if s.world in wanted[each.name]], each.cells) for each in rows)
    return tuple(row(file, searched, tuple(cells)) for file, searched, cells in smaller)


def row(file: ProtocolFile, searched: Sequence[SearchedWorld], promises: Sequence[str] = ()) -> MatrixRow:
    """Return the matrix row of one protocol: the verdict on each given promise (default: all promises)."""
    cells = {name: _with_evidence(file, name, cell(name, searched)) for name in promises or PROMISES}
    return MatrixRow(file=file, cells=cells, searched=tuple(searched))


def _with_evidence(file: ProtocolFile, promise: str, judged: Cell) -> Cell:
    return replace(judged, evidence=findings.evidence(file.name, promise, judged.trace))


def cell(promise: str, searched: Sequence[SearchedWorld]) -> Cell:
    """Combine the results of several searches for one promise. If any search finds a violation, the verdict is
    VIOLATED. If no search finds a violation, but a search is unfinished, the verdict is UNDETERMINED.
    """
    results = [(each, each.result.promises[promise]) for each in searched if promise in each.result.promises]
    broken = [(each, found) for each, found in results if found.verdict is Verdict.VIOLATED]
    if broken:
        where, first = min(broken, key=lambda pair: pair[1].steps or 0)
        return Cell(verdict=Verdict.VIOLATED, bounds=(where.bound,), because=first.because, trace=first.trace)
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


def drawing(path: Path) -> Callable[[Iterable[MatrixRow]], None]:
    """Return a function that draws the matrix of verdicts and saves it to `path`.

    Raises ValueError if the file is neither .png nor .svg, and ImportError if matplotlib is missing.
    """
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path} is not a picture; name a file that ends in {' or '.join(PICTURES)}")
    from ..view.matplotlib_painter import paint  # without matplotlib this fails before the searches, not after them
    from ..view.verdict_matrix import verdict_matrix

    return partial(_draw, lambda results: paint(verdict_matrix(results), None), path)


def _draw(drawn: Callable[..., Any], path: Path, rows: Iterable[MatrixRow]) -> None:
    axes = drawn(to_json(rows))
    figure = axes.get_figure(root=True)
    assert figure is not None, "axes belong to a figure"
    figure.savefig(path)
