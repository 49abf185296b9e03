"""Judges: processes that look for promises while the search beside them goes on stepping.

With several promises judging takes more than half of the time of a search. It needs the components alone that they rest
on: these are handed over, some looks at a time, as values, which the judge numbers by itself. Looks are counted in the
order of the search, and of each promise the violation of the earliest counts: what comes out is what one process finds.
Where every judge is busy, and until it is worth while to start one, the search looks for itself.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

from nbcc.model import Step

from .cells import Cell, applied, search_cell, watched
from .result import Result
from .watch import Look, Watchers

WORTH_WHILE = 400
"""Looks after which processes are started: a process takes as long to begin as these."""
AT_ONCE = 32
"""Looks that are handed over together."""
AHEAD = 2
"""How many times that many one judge may have before it."""


class Told(NamedTuple):
    """A look as it is handed over: of each state that is shown the values of what the group's promises rest on."""

    number: int
    group: int
    values: tuple[tuple[Any, ...], ...]
    step: Step | None


def told(look: Look) -> Told:
    """A look without what only the search knows."""
    coding = look.group.system.coding
    positions = [coding.place[name] for name in look.group.rests_on or ()]
    return Told(look.number, look.group.place, tuple(tuple(coding.read(s, positions)) for s in look.shown), look.step)


class Said(NamedTuple):
    """Promises by place: those that were put to the test, and of those that some looks broke which one and why."""

    reached: tuple[int, ...]
    broken: tuple[tuple[int, int, str], ...]


class Judges:
    """At most `count` processes for one search of a cell; leaving the context ends them."""

    def __init__(self, cell: Cell, count: int) -> None:
        self.cell, self.count = cell, count
        self._judges: list[_Judge] = []
        self._next: list[Look] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, where: TracebackType | None) -> None:
        for judge in self._judges:
            judge.process.terminate()

    def take(self, look: Look) -> bool:
        """Whether somebody else looks; if not, who asks has to."""
        # What has no shape is not dear: to hand it over takes longer than to judge it.
        if look.number < WORTH_WHILE or look.group.rests_on is None or look.group.shape is None:
            return False
        if len(self._next) >= AT_ONCE:
            judge = next(self._free(), None)
            if judge is None:
                return False
            judge.ask(self._next)
            self._next = []
        self._next.append(look)
        return True

    def finish(self) -> None:
        """Wait until everything is judged."""
        for look in self._next:
            look.group.judge(look)
        self._next = []
        for judge in self._judges:
            while judge.asked:
                judge.hear()

    def _free(self) -> Iterator[_Judge]:
        """Those who can take more; one is started where none of them can."""
        for judge in self._judges:
            while judge.asked and judge.connection.poll():
                judge.hear()
            if len(judge.asked) < AHEAD:
                yield judge
        if len(self._judges) < self.count:
            self._judges.append(_Judge(self.cell))
            yield self._judges[-1]


class _Judge:
    """One process, and what it was asked and has not answered yet."""

    def __init__(self, cell: Cell) -> None:
        context = multiprocessing.get_context("spawn")  # whoever searches may have threads, a JVM, gigabytes
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(cell, theirs), daemon=True)
        self.process.start()
        theirs.close()
        self.asked: deque[list[Look]] = deque()

    def ask(self, looks: list[Look]) -> None:
        """Hand some looks over."""
        try:
            self.connection.send([told(look) for look in looks])
        except ConnectionError:
            self._died()
        self.asked.append(looks)

    def hear(self) -> None:
        """Wait for the answer to what was asked first, and note it."""
        try:
            said: Any = self.connection.recv()
        except (EOFError, ConnectionError):
            self._died()
        if isinstance(said, Exception):
            raise said
        looks = {look.number: look for look in self.asked.popleft()}
        watches = next(iter(looks.values())).group.watchers.watches
        for place in said.reached:
            watches[place].reached = True
        for place, number, message in said.broken:
            watches[place].breaks(number, message, looks[number].before, looks[number].step)

    def _died(self) -> NoReturn:
        self.process.join()
        raise RuntimeError(f"a process that judged promises died (exit {self.process.exitcode})") from None


def _serve(cell: Cell, search: Connection) -> None:
    """The process of a judge: it answers until the search goes away."""
    try:
        with applied(cell.mutant):
            system = cell.system()
            promises, canary = watched(system, cell.promises)
            watchers = Watchers(system, [*promises, *([canary] if canary is not None else [])])
            while True:
                asked: Sequence[Told] = search.recv()
                for each in asked:
                    _judge(watchers, each)
                search.send(_said(watchers, asked[0].number))
    except EOFError:
        pass
    except Exception as error:  # the search's to see, not a lost process
        error.add_note(f"in a judge of {cell}")
        search.send(error)


def _judge(watchers: Watchers, asked: Told) -> None:
    group, coding = watchers.groups[asked.group], watchers.system.coding
    shown = []
    for values in asked.values:
        state = watchers.system.initial
        for name, value in zip(group.rests_on or (), values, strict=True):
            state = coding.put(state, coding.place[name], value)
        shown.append(group.shown(state))
    group.judge(Look(asked.number, group, tuple(shown), None, asked.step))


def _said(watchers: Watchers, since: int) -> Said:
    watches = list(enumerate(watchers.watches))
    return Said(
        tuple(place for place, watch in watches if watch.reached),
        tuple((place, w.broken_at, w.broken[0]) for place, w in watches if w.broken and w.broken_at >= since),
    )


def search_with_judges(cell: Cell, workers: int, **bounds: Any) -> Result:
    """As `search_cell`, by at most so many processes: the first steps, and holds the `memory`; the others judge."""
    with Judges(cell, workers - 1) as judges:
        return search_cell(cell, judges=judges, **bounds)
