"""Replaces clock ticks by symbols such as ``r1`` and ``c1``, so that observations of different runs can be compared."""

from __future__ import annotations

import re
from typing import Any

from nbcc.model import Step


class Symbols:
    """Symbols for the times of a history: ``r1`` is the first requested time, and ``c1`` the completion time of the
    same instant.

    A symbol has the same meaning in all later steps, even after its instant was removed from the timeline.
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
        """Return the symbols after a step with the given timeline. Instants that the step removed keep their symbols.
        """
        present = {entry[2] for entry in timeline}
        removed = (("", "", *times) for times in self._times.items() if times[0] not in present)
        return Symbols((*timeline, *removed))

    def symbol(self, tick: int | None) -> str:
        """Return the symbol of a clock tick, such as ``r1`` or ``c1``, or ``-`` for None. A tick that belongs to no
        instant is returned as a number.
        """
        return "-" if tick is None else self._symbols.get(tick, str(tick))

    def step(self, step: Step) -> Step:
        return step._replace(args=tuple((name, self._named(value)) for name, value in step.args))

    def resolved(self, step: Step) -> Step:
        """Return the step with its symbols replaced by clock ticks.

        Raises:
            KeyError: If a symbol is unknown.
        """
        return step._replace(args=tuple((name, self._numbered(value)) for name, value in step.args))

    def sentence(self, text: str) -> str:
        """Return a sentence with the times of instants (``t3``) replaced by symbols."""
        return re.sub(r"\bt(\d+)\b", lambda time: self._symbols.get(int(time[1]), time[0]), text)

    def _named(self, value: object) -> object:
        return tuple(map(self.symbol, value)) if isinstance(value, tuple) else value

    def _numbered(self, value: object) -> object:
        return tuple(map(self._tick, value)) if isinstance(value, tuple) else value

    def _tick(self, symbol: str) -> int:
        # A trace may come from a stranger, so an argument may hold anything that can be hashed.
        try:
            return self.ticks[symbol] if symbol in self.ticks else int(symbol)
        except (TypeError, ValueError) as error:
            raise KeyError(symbol) from error

    def instant(self, entry: tuple[Any, ...]) -> str:
        """Return an instant as text, for example ``deltacommit r1 completed c1``."""
        action, state, requested, completed = entry
        return f"{action} {self.symbol(requested)} {state}" + (f" {self.symbol(completed)}" if completed else "")

    def slice(self, entry: tuple[Any, ...]) -> str:
        """Return a file slice as text, for example ``group 0 from r2: base r2, logs r3.1 r3.2``."""
        group, barrier, base, logs = entry
        files = " ".join(f"{self.symbol(requested)}.{version}" for requested, version in logs) or "-"
        return f"group {group} from {self.symbol(barrier)}: base {self.symbol(base)}, logs {files}"

    def rows(self, rows: tuple[Any, ...]) -> list[str]:
        return [self.row(row) for row in rows]

    def row(self, row: tuple[Any, ...]) -> str:
        """Return a row as text. A record is formatted as ``a1: 2 w1.1 r1``: key, ordering value, write, requested time.
        A change is formatted as ``a1: u 1 w1.1 -> 2 w2.1``: key and operation, then ordering value and write before and
        after the change. A refused read is formatted as ``refused: Cleaned``.
        """
        key, first, *others = row
        if not others:
            return f"{key}: {first}"
        if isinstance(first, str):
            before, after = ("none" if cells is None else " ".join(map(str, cells)) for cells in others)
            return f"{key}: {first} {before} -> {after}"
        value, requested = others
        return f"{key}: {first} {'deleted' if value is None else value} {self.symbol(requested)}"
