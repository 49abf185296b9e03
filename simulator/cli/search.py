"""What `explore` and `demo` share: names to a system and its promises, one search with progress on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from nbcc.simulator.explore import Result, explore

from .command import users_words

Progress = Callable[[int, int, int, int], None]


class Search(NamedTuple):
    """A finished search: what was explored, under which names, and what was found."""

    world: str
    protocol: str
    system: Any
    result: Result


def search(
    world: str,
    protocol: str,
    promises: Sequence[str] = (),
    *,
    max_states: int | None = None,
    memory: float | None = None,
    reduce: bool = True,
    checkpoint: Path | None = None,
) -> Search:
    """Explore a named world under a named protocol; no promise named means all that there are.

    A name that does not exist is the user's mistake; the sentence says which there are.
    """
    from nbcc.simulator.explore.cells import Cell, watched

    with users_words():
        system = Cell(world=world, protocol=protocol).system()
        asked, canary = watched(system, promises)
    with progress_on_stderr(f"exploring {world} under {protocol}") as tick:
        result = explore(
            system, asked, canary=canary, max_states=max_states, memory=memory, reduce=reduce, coverage=True,
            checkpoint=checkpoint, progress=tick,
        )  # fmt: skip
    return Search(world, protocol, system, result)


@contextlib.contextmanager
def progress_on_stderr(what: str) -> Iterator[Progress]:
    """A line that counts states while a search runs; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda distinct, generated, depth, frontier: None
        return
    from rich.console import Console

    began = time.monotonic()
    with Console(stderr=True).status(what) as status:

        def tick(distinct: int, generated: int, depth: int, frontier: int) -> None:
            rate = generated / max(time.monotonic() - began, 1e-9)
            status.update(f"{what}: {distinct:,} states, {frontier:,} to do, depth {depth}, {rate:,.0f} steps a second")

        yield tick
