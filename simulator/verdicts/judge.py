"""Settings by promises: a cell is what the searches of one setting, in all worlds of a depth, say of a promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from nbcc.model import Protocol, World
from nbcc.model.promises import PROMISES
from nbcc.model.validation import nearest

from .. import findings, specs
from ..components import is_assumed
from ..explore import Result, Verdict
from ..explore.cells import Cell as SearchCell
from ..explore.cells import search_cells
from ..specs import ProtocolFile
from .bound import Bound, bound_of, sentence
from .ladder import DEPTHS, Depth, Rung, large, mixed, pins, rungs

PICTURES: Final = (".png", ".svg")

__all__ = ["DEPTHS", "Cell", "Depth", "Row", "Searched", "matrix", "settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """One world that was searched for a setting: its bound and how many states there are."""

    world: World
    result: Result

    @property
    def bound(self) -> Bound:
        return bound_of(self.world)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The verdict on one promise under one setting.

    `bounds`: of the worlds in which it holds, or of the one in which it is violated by `trace`, a shortest there.
    `because`: the broken promise's message, or why the verdict is neither HOLDS nor VIOLATED. `system`: what
    findings show of the real system, where the protocol stands for one.
    """

    verdict: Verdict
    bounds: tuple[Bound, ...] = ()
    because: str | None = None
    trace: tuple[Any, ...] | None = None
    system: str = ""

    @property
    def steps(self) -> int | None:
        return None if self.trace is None else len(self.trace)

    def to_json(self) -> dict[str, Any]:
        """As `nbcc verdicts --json` prints it."""
        steps = self.trace and [{"actor": s.actor, "action": s.action, "args": dict(s.args)} for s in self.trace]
        return {
            "verdict": str(self.verdict),
            "bound": [dict(bound) for bound in self.bounds],
            "steps": self.steps,
            "trace": steps,
            **({"because": self.because} if self.because else {}),
            **({"system": self.system} if self.system else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A setting with its verdicts, and the worlds in which they were searched."""

    setting: ProtocolFile
    cells: Mapping[str, Cell]
    searched: tuple[Searched, ...]

    @property
    def name(self) -> str:
        return self.setting.name


def depth_of(word: str) -> Depth:
    """A depth by name; ValueError names the nearest."""
    for depth in DEPTHS:
        if depth == word:
            return depth
    raise ValueError(f"no depth is called {word!r}; {nearest(word, DEPTHS)}")


def settings() -> tuple[ProtocolFile, ...]:
    """The settings of the matrix, the default first."""
    return tuple(specs.protocol_file(name) for name in specs.protocol_names())


def worlds_of(setting: str, depth: Depth) -> dict[World, bool]:
    """Where a setting is searched: the world that it is pinned to, where what it weakens can show, then the ladder.
    Each with whether its search is reduced.

    The default setting is searched wherever one of the others is: what they break there, it keeps. That leaves out
    worlds with faults that it assumes away, whose verdicts under it are pinned in specs/sizes.toml. It is searched,
    too, where its writers are optimistic by a choice of their own; and at full depth it climbs higher than the others.
    """
    known = pins()
    if setting in known:
        pinned = [specs.world(known[setting]["world"])]
    else:
        pinned = [w for w in map(specs.world, sorted({pin["world"] for pin in known.values()})) if is_assumed(w)]
    higher: tuple[Rung, ...] = mixed() if setting == "default" else ()
    higher += large() if setting == "default" and depth == "full" else ()
    return {**dict.fromkeys(pinned, False), **{rung.world: rung.reduced for rung in (*rungs(depth), *higher)}}


def matrix(
    depth: Depth = "quick",
    chosen: Iterable[ProtocolFile] | None = None,
    *,
    workers: int = 1,
    done: Callable[[], None] | None = None,
    search: Callable[..., Iterator[tuple[SearchCell, Result]]] = search_cells,
    **bounds: Any,
) -> tuple[Row, ...]:
    """Search every setting in all its worlds; `workers` processes at once, `bounds` as of `explore`.

    `done` is called after each search (there are `searches(depth)`). One that fails leaves what it was to show
    undetermined, and all others as they are.
    """
    rows = tuple(chosen) if chosen is not None else settings()
    where = [(setting, *each) for setting in rows for each in worlds_of(setting.name, depth).items()]
    cells = [SearchCell(world=world, protocol=setting.protocol, reduce=less) for setting, world, less in where]
    tell = (lambda cell, result: done()) if done else None
    found = list(search(cells, workers=workers, raises=False, done=tell, **bounds))
    results: dict[str, list[Searched]] = {setting.name: [] for setting in rows}
    for (setting, world, _), (_, result) in zip(where, found, strict=True):
        results[setting.name].append(Searched(world=world, result=result))
    return tuple(row(setting, results[setting.name]) for setting in rows)


def searches(depth: Depth) -> int:
    """How many searches the matrix of a depth takes."""
    return sum(len(worlds_of(setting.name, depth)) for setting in settings())


def within(rows: Iterable[Row], depth: Depth) -> tuple[Row, ...]:
    """The rows as they would be had only the worlds of a lesser depth been searched."""
    wanted = {each.name: worlds_of(each.name, depth) for each in settings()}
    kept = ((each.setting, [s for s in each.searched if s.world in wanted[each.name]]) for each in rows)
    return tuple(row(setting, searched) for setting, searched in kept)


def row(setting: ProtocolFile, searched: Sequence[Searched]) -> Row:
    """What the searches of one setting say, promise by promise."""
    cells = {promise: _with_evidence(setting, promise, cell(promise, searched)) for promise in PROMISES}
    return Row(setting=setting, cells=cells, searched=tuple(searched))


def _with_evidence(setting: ProtocolFile, promise: str, searched: Cell) -> Cell:
    """The cell, with what findings show of the system that the protocol stands for (specs/findings)."""
    return replace(searched, system=findings.evidence(setting.name, promise, searched.trace))


def cell(promise: str, searched: Sequence[Searched]) -> Cell:
    """Violated in one world is violated; a search that did not end anywhere leaves the promise undetermined."""
    said = [(each, each.result.promises[promise]) for each in searched if promise in each.result.promises]
    broken = [(each, found) for each, found in said if found.verdict is Verdict.VIOLATED]
    if broken:
        where, first = min(broken, key=lambda pair: pair[1].steps or 0)
        return Cell(verdict=Verdict.VIOLATED, bounds=(where.bound,), because=first.because, trace=first.trace)
    stopped = [each for each in searched if each.result.stopped]
    if stopped:
        result = stopped[0].result
        seen = f", after {result.distinct:,} states" if result.distinct else ""
        reached = f"in {sentence(stopped[0].bound)}: {result.stopped}{seen}"
        return Cell(verdict=Verdict.UNDETERMINED, because=reached)
    holds = tuple(each.bound for each, found in said if found.verdict is Verdict.HOLDS)
    if holds:
        return Cell(verdict=Verdict.HOLDS, bounds=holds)
    unfit = next((f.because for _, f in said if f.verdict is Verdict.NOT_APPLICABLE), None)
    if said and all(found.verdict is Verdict.NOT_APPLICABLE for _, found in said):
        return Cell(verdict=Verdict.NOT_APPLICABLE, because=unfit)
    because = next((f.because for _, f in said if f.verdict is Verdict.UNDETERMINED), "no world was searched")
    return Cell(verdict=Verdict.UNDETERMINED, because=because)


def to_json(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Setting -> promise -> verdict, bound, steps, trace."""
    return {row.name: {name: cell.to_json() for name, cell in row.cells.items()} for row in rows}


def drawing(path: Path) -> Callable[[Iterable[Row]], None]:
    """What draws the matrix into a file; ValueError or ImportError, before any search, says why it could not."""
    if path.suffix.lower() not in PICTURES:
        raise ValueError(f"{path} is no picture; name a file that ends in {' or '.join(PICTURES)}")
    from ..view import plot_verdicts

    return partial(_draw, plot_verdicts.draw, path)


def _draw(drawn: Callable[..., Any], path: Path, rows: Iterable[Row]) -> None:
    axes = drawn(to_json(rows), None)
    figure = axes.get_figure(root=True)
    assert figure is not None, "it was drawn on one"
    figure.savefig(path)


def differs(protocol: Protocol) -> str:
    """The fields that differ from the default, as a file of a setting spells them."""
    return ", ".join(f"{name} = {value}" for name, value in protocol.differences().items())
