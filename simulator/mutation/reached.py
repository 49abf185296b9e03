"""What a search comes to: the actions of its table and the lines of the model that it runs.

A mutant of anything else is, in that search, the model as it is: nobody need search there again.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any, NamedTuple

from .generated import Generated


class Reached(NamedTuple):
    """Action names, and (file, line) of what was run."""

    actions: frozenset[str]
    lines: frozenset[tuple[str, int]]

    def holds(self, mutant: Generated) -> bool:
        """Whether the mutant changes anything that was reached."""
        place = mutant.place
        if place is None:
            return True
        return place.action in self.actions or any((place.file, line) in self.lines for line in place.lines)


@contextmanager
def running(files: Iterable[str]) -> Iterator[set[tuple[str, int]]]:
    """The lines of these files that are run inside; a statement counts with at least one of its lines."""
    wanted, seen = frozenset(files), set[tuple[str, int]]()
    left: dict[CodeType, set[int]] = {}

    def called(frame: FrameType, event: str, argument: object) -> Any:
        code = frame.f_code
        if code not in left:
            mine = code.co_filename in wanted
            left[code] = {line for *_, line in code.co_lines() if line} if mine else set()
            if mine:  # the line of the call itself is no event
                reach(code, code.co_firstlineno)
        return stepped if left[code] else None

    def stepped(frame: FrameType, event: str, argument: object) -> Any:
        reach(frame.f_code, frame.f_lineno)
        return stepped

    def reach(code: CodeType, line: int) -> None:
        if line in left[code]:
            left[code].discard(line)
            seen.add((code.co_filename, line))

    before = sys.gettrace()
    sys.settrace(called)
    try:
        yield seen
    finally:
        sys.settrace(before)
