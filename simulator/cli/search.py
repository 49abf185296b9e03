"""What `explore` and `demo` share: names to a system and its promises, one search with progress on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from nbcc.simulator.explore import Result, explore

from .command import users_words

Progress = Callable[[int, int, int], None]


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
) -> Search:
    """Explore a named world under a named protocol; no promise named means all that there are.

    A name that does not exist is the user's mistake; the sentence says which there are.
    """
    from nbcc.simulator import specs

    with users_words():
        system = specs.system(world, protocol)
        watched, canary = _promises(system, promises)
    with progress_on_stderr(f"exploring {world} under {protocol}") as tick:
        result = explore(system, watched, canary=canary, max_states=max_states, memory=memory, progress=tick)
    return Search(world, protocol, system, result)


def _promises(system: Any, names: Sequence[str]) -> tuple[list[Any], Any]:
    """The promises to watch, and the canary that shows that watching works."""
    from nbcc.model import Model
    from nbcc.model.fields import nearest
    from nbcc.model.promises import CANARY, PROMISES
    from nbcc.simulator.explore.two_phase_commit import CONSISTENT

    ours = isinstance(system, Model)
    known: Mapping[str, Any] = PROMISES if ours else {CONSISTENT.name: CONSISTENT}
    for name in names:
        if name not in known:
            raise ValueError(f"no promise is called {name!r}; {nearest(name, known)}")
    return [known[name] for name in (names or known)], CANARY if ours else None


@contextlib.contextmanager
def progress_on_stderr(what: str) -> Iterator[Progress]:
    """A line that counts states while a search runs; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield lambda distinct, generated, depth: None
        return
    from rich.console import Console

    began = time.monotonic()
    with Console(stderr=True).status(what) as status:

        def tick(distinct: int, generated: int, depth: int) -> None:
            rate = generated / max(time.monotonic() - began, 1e-9)
            status.update(f"{what}: {distinct:,} states, depth {depth}, {rate:,.0f} a second")

        yield tick
