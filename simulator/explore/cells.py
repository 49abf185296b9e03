"""Cells of a matrix: each a world under a protocol with some promises, searched in a process of its own.

A cell is a value of names and numbers, so that it can be sent to another process or machine; what comes back is the
same `Result` that a search in this process gives. A process that dies takes its cell with it and no other: the cell is
UNDETERMINED, with the reason.
"""

from __future__ import annotations

import math
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from multiprocessing.connection import Connection, wait
from typing import Any

from nbcc.model import Model, Protocol, World, actions
from nbcc.model.actions import mechanisms
from nbcc.model.fields import nearest
from nbcc.model.promises import CANARY, PROMISES

from .hudi_v5 import INVARIANTS, HudiV5
from .result import PromiseResult, Result
from .search import explore
from .two_phase_commit import CONSISTENT
from .verdict import Verdict

NEEDED = ("nbcc.simulator.mutants", "nbcc.simulator.specs")
"""What a search imports besides this module: the server does so once, not each of its children."""
EVERY = 0.5
"""Seconds between two times that a process says how far it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """`world` and `protocol` by name, by path or as values; no promise named means all that there are.

    `mutant` names a file of specs/mutants that is applied while the cell is searched; `reduce` as of `explore`.
    `beside` names promises that others watch in the same states: reductions mind them.
    """

    world: str | World
    protocol: str | Protocol = "default"
    promises: tuple[str, ...] = ()
    mutant: str = ""
    reduce: bool = False
    beside: tuple[str, ...] = ()

    def system(self) -> Any:
        """What is explored; ValueError says which names there are."""
        from nbcc.simulator import specs

        changed = _mutant(self.mutant).protocol if self.mutant else {}
        if isinstance(self.world, str) and isinstance(self.protocol, str) and not changed:
            return specs.system(self.world, self.protocol)
        world = specs.world(self.world) if isinstance(self.world, str) else self.world
        protocol = specs.protocol(self.protocol) if isinstance(self.protocol, str) else self.protocol
        return Model(world, Protocol.from_mapping({**protocol.to_mapping(), **changed}))


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
    with _applied(cell.mutant) if cell.mutant else nullcontext():
        system = cell.system()
        promises, canary = watched(system, cell.promises)
        beside = watched(system, cell.beside)[0] if cell.beside else ()
        return explore(system, promises, canary=canary, reduce=cell.reduce, beside=beside, **bounds)


def _mutant(name: str) -> Any:
    # Mutants are patched in with what tests use, which takes longer to import than a small search: only where needed.
    from nbcc.simulator import mutants

    return mutants.load(name)


def _applied(name: str) -> Any:
    from nbcc.simulator import mutants

    return mutants.applied(_mutant(name))


def search_cells(
    cells: Sequence[Cell],
    *,
    workers: int = 1,
    memory: float | None = None,
    done: Callable[[Cell, Result], None] | None = None,
    progress: Callable[..., None] | None = None,
    **bounds: Any,
) -> Iterator[tuple[Cell, Result]]:
    """Every cell with its result, in the order given; `workers` processes at once, 1 means in this process.

    `memory` (GiB) is divided among the workers; the other `bounds` go to each search. `done` hears of a cell as soon as
    it is finished, in whatever order that happens. `progress` as of `explore`, of the first cell that is not finished.
    """
    share = memory / workers if memory else None
    if workers <= 1:
        for cell in cells:
            result = search_cell(cell, memory=share, progress=progress, **bounds)
            if done:
                done(cell, result)
            yield cell, result
        return
    finished: dict[int, Result] = {}
    running: dict[Any, tuple[int, Any]] = {}
    waiting = list(enumerate(cells))[::-1]
    told = 0
    try:
        while told < len(cells):
            while waiting and len(running) < workers:
                number, cell = waiting.pop()
                connection, process = _start(cell, {"memory": share, **bounds})
                running[connection] = (number, process)
            for ready in wait(list(running)):
                number, process = running[ready]
                answer = _received(ready, process)
                if not isinstance(answer, Result):
                    if progress and number == min(n for n, _ in running.values()):
                        progress(*answer)
                    continue
                del running[ready]
                finished[number] = answer
                if done:
                    done(cells[number], finished[number])
            while told in finished:
                yield cells[told], finished.pop(told)
                told += 1
    finally:
        for _, process in running.values():
            process.terminate()


@cache
def _server() -> Any:
    # Forked from a clean server process, not from this one: whoever calls may have threads, a JVM, gigabytes.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, *NEEDED, *(f"{actions.__name__}.{each.name}" for each in mechanisms())])
    return context


def _start(cell: Cell, bounds: Mapping[str, Any]) -> tuple[Connection, Any]:
    context = _server()
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(cell, dict(bounds), theirs), daemon=True)
    process.start()
    theirs.close()
    return mine, process


def _serve(cell: Cell, bounds: dict[str, Any], answer: Connection) -> None:
    told = -math.inf  # the first figures are told at once

    def tell(*figures: int) -> None:
        nonlocal told
        if time.monotonic() - told > EVERY:
            told = time.monotonic()
            answer.send(figures)

    try:
        answer.send(search_cell(cell, progress=tell, **bounds))
    except Exception as error:  # an error of the cell is the caller's to see, not a lost process
        error.add_note(f"in the search of {cell}")
        answer.send(error)


def _received(ready: Any, process: Any) -> Result | tuple[int, ...]:
    """What a process says: how far it is, or what it has found; then it is gone."""
    try:
        answer: Any = ready.recv()
    except EOFError:
        answer = None
    if isinstance(answer, tuple):
        return answer
    process.join()
    ready.close()
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Result):
        return answer
    return _lost(f"the process that searched it died (exit {process.exitcode})")


def _lost(because: str) -> Result:
    verdict = PromiseResult(name="SEARCH", verdict=Verdict.UNDETERMINED, because=because)
    return Result(distinct=0, generated=0, depth=0, seconds=0, stopped=because, promises={"SEARCH": verdict})
