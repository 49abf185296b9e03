"""Names for times, so that what was observed reads the same in every run: r1, c1, and sentences made of them."""

from __future__ import annotations

import re
from typing import Any

from nbcc.model import Step


class Symbols:
    """Symbols for the times of a history: ``r1`` is requested first, ``c1`` is that instant's completion.

    Requested times are taken in order, so a symbol means the same from the step on in which it appears; also when its
    instant has left the timeline, if the symbols of later timelines are made by `then`.
    """

    def __init__(self, timeline: tuple[Any, ...]) -> None:
        self._times = {requested: completed for _, _, requested, completed in timeline}
        self.ticks: dict[str, int] = {}
        for number, (requested, completed) in enumerate(sorted(self._times.items()), start=1):
            self.ticks[f"r{number}"] = requested
            if completed is not None:
                self.ticks[f"c{number}"] = completed
        self._symbols = {tick: symbol for symbol, tick in self.ticks.items()}

    def then(self, timeline: tuple[Any, ...]) -> Symbols:
        """The symbols for what the timeline is now, and for what was on it before."""
        there = {entry[2] for entry in timeline}
        gone = (("", "", *times) for times in self._times.items() if times[0] not in there)
        return Symbols((*timeline, *gone))

    def symbol(self, tick: int | None) -> str:
        """``r1``, ``c1``; ``-`` for no time; a tick that no instant has is shown as it is."""
        return "-" if tick is None else self._symbols.get(tick, str(tick))

    def step(self, step: Step) -> Step:
        """The step with the times in its arguments as symbols (a tuple holds times, a plain number is none)."""
        return step._replace(args=tuple((name, self._named(value)) for name, value in step.args))

    def resolved(self, step: Step) -> Step:
        """The step with its symbols as ticks again.

        Raises:
            KeyError: a symbol names an instant that is not there.
        """
        return step._replace(args=tuple((name, self._numbered(value)) for name, value in step.args))

    def sentence(self, text: str) -> str:
        """A sentence of the model's with its times (``t3``) as symbols; those that no instant has stay as they are."""
        return re.sub(r"\bt(\d+)\b", lambda time: self._symbols.get(int(time[1]), time[0]), text)

    def _named(self, value: object) -> object:
        return tuple(map(self.symbol, value)) if isinstance(value, tuple) else value

    def _numbered(self, value: object) -> object:
        return tuple(self.ticks[symbol] for symbol in value) if isinstance(value, tuple) else value

    def instant(self, entry: tuple[Any, ...]) -> str:
        """``deltacommit r1 completed c1``."""
        action, state, requested, completed = entry
        return f"{action} {self.symbol(requested)} {state}" + (f" {self.symbol(completed)}" if completed else "")

    def slice(self, entry: tuple[Any, ...]) -> str:
        """``group 0 from r2: base r2, logs r3.1 r3.2``."""
        group, barrier, base, logs = entry
        files = " ".join(f"{self.symbol(requested)}.{version}" for requested, version in logs) or "-"
        return f"group {group} from {self.symbol(barrier)}: base {self.symbol(base)}, logs {files}"

    def rows(self, rows: tuple[Any, ...]) -> list[str]:
        """`row` of each."""
        return [self.row(row) for row in rows]

    def row(self, row: tuple[Any, ...]) -> str:
        """``a1: 2 w1.1 r1``: key, ordering value, the write that made it, its requested time; of a change log
        ``a1: u 1 w1.1 -> 2 w2.1``. ``refused: Cleaned`` for a read that was not answered.
        """
        key, first, *others = row
        if not others:
            return f"{key}: {first}"
        if isinstance(first, str):
            before, after = ("none" if cells is None else " ".join(map(str, cells)) for cells in others)
            return f"{key}: {first} {before} -> {after}"
        value, requested = others
        return f"{key}: {first} {'deleted' if value is None else value} {self.symbol(requested)}"
