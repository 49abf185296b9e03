"""Cells of a matrix: each a world under a protocol with some promises, searched in a process of its own.

A cell is a value of names and numbers, so that it can be sent to another process or machine; what comes back is the
same `Result` that a search in this process gives.
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

from .branches import Part
from .exhaustive import explore
from .hudi_v5 import INVARIANTS, HudiV5
from .lost import lost
from .processes import Work, in_processes
from .result import Result
from .two_phase_commit import CONSISTENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """`world` and `protocol` by name, by path or as values; no promise named means all that there are.

    `mutant` names a file of specs/mutants that is applied while the cell is searched; `reduce` and `part` as of
    `explore`. A part knows no canary: whether all together see it is for `divided` to say.
    """

    world: str | World
    protocol: str | Protocol = "default"
    promises: tuple[str, ...] = ()
    mutant: str = ""
    reduce: bool = False
    part: Part | None = None

    def system(self) -> Any:
        """What is explored; ValueError says which names there are."""
        from nbcc.simulator import specs

        changed = _mutant(self.mutant).protocol if self.mutant else {}
        if isinstance(self.world, str) and isinstance(self.protocol, str) and not changed:
            return specs.system(self.world, self.protocol)
        world = specs.world(self.world) if isinstance(self.world, str) else self.world
        protocol = specs.protocol(self.protocol) if isinstance(self.protocol, str) else self.protocol
        return Model(world, Protocol.from_mapping({**protocol.to_mapping(), **changed}))


Searching = Callable[..., Iterator[tuple[Cell, Result]]]
"""Whatever searches cells, as `search_cells` does."""


def watched(system: Any, names: Sequence[str] = ()) -> tuple[list[Any], Any]:
    """The promises to watch (none named: all), and the canary that shows that watching works (None: there is none)."""
    ours = isinstance(system, Model)
    others = INVARIANTS if isinstance(system, HudiV5) else (CONSISTENT,)
    known: Mapping[str, Any] = PROMISES if ours else {promise.name: promise for promise in others}
    for name in names:
        if name not in known:
            raise ValueError(f"no promise is called {name!r}; {nearest(name, known)}")
    return [known[name] for name in (names or known)], CANARY if ours else None


def search_cell(cell: Cell, **bounds: Any) -> Result:
    """Search one cell in this process; `bounds` as of `explore`."""
    with applied(cell.mutant):
        system = cell.system()
        promises, canary = watched(system, cell.promises)
        if cell.part is not None and canary is not None:
            promises, canary = [*promises, canary], None
        return explore(system, promises, canary=canary, reduce=cell.reduce, part=cell.part, **bounds)


def _mutant(name: str) -> Any:
    # Mutants are patched in with what tests use, which takes longer to import than a small search: only where needed.
    from nbcc.simulator import mutants

    return mutants.load(name)


def applied(name: str) -> AbstractContextManager[Any]:
    """The model with a mutant in it, as long as the context lasts; without a name as it is."""
    if not name:
        return nullcontext()
    from nbcc.simulator import mutants

    return mutants.applied(_mutant(name))


def try_cell(cell: Cell, **bounds: Any) -> Result:
    """As `search_cell`; a search that fails is UNDETERMINED, with the reason."""
    try:
        return search_cell(cell, **bounds)
    except Exception as error:  # whatever it is, it is the end of this cell only
        return lost(error)


def search_cells(
    cells: Sequence[Cell],
    *,
    workers: int = 1,
    memory: float | None = None,
    raises: bool = True,
    done: Callable[[Cell, Result], None] | None = None,
    progress: Callable[..., None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[Cell, Result]]:
    """Every cell with its result, in the order given; `workers` processes at once, 1 means in this process.

    `memory` (GiB) is divided among the workers; the other `bounds` go to each search. An error of a cell is the
    caller's to see, unless it `raises` none: then the cell is UNDETERMINED, with the reason. `done` hears of a cell as
    soon as it is finished, in whatever order that happens. `progress(cell, *figures)` as of `explore`.
    """
    one = search_cell if raises else try_cell
    work = partial(one, memory=memory / workers if memory else None, **bounds)
    tell = partial(_tell, progress, cells) if progress else None
    ended = in_processes(work, cells, workers, tell) if workers > 1 else _here(work, cells, tell)
    finished: dict[int, Result] = {}
    told = 0
    with closing(ended):  # whatever ends this, ends the processes
        for number, result in ended:
            finished[number] = result
            if done:
                done(cells[number], result)
            while told in finished:
                yield cells[told], finished.pop(told)
                told += 1


def _here(work: Work, cells: Sequence[Cell], tell: Callable[..., None] | None) -> Generator[tuple[int, Result]]:
    for number, cell in enumerate(cells):
        yield number, work(cell, progress=partial(tell, number) if tell else None)


def _tell(progress: Callable[..., None], cells: Sequence[Cell], number: int, *figures: int) -> None:
    progress(cells[number], *figures)
