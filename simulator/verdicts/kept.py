"""Searches of the matrix kept in a file as they end: whoever makes the same ones again takes them up.

JSON, a line a search: the cell (world, setting, promises, reductions, bounds) and what was found in it. The first line
names the code that found it. A process that dies while it writes a line loses that search alone.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from nbcc.model import Step

from .. import specs
from ..explore import PromiseResult, Result, Verdict
from ..explore.cells import Cell, Searching, search_cells
from ..explore.checkpoint import FOLDERS, code
from ..explore.lost import fleeting

HEAD: Final = {"format": 1, "keeps": "searches of a matrix"}
NO_BOUNDS: Final = ("workers", "memory", "raises")
"""How a search is made: what it finds is the same, or `fleeting`."""


class Kept:
    """A file of searches. ValueError: it is none of ours, or other code has found what is in it.

    `taken_up` counts the searches that were found in it, `made` those that were not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.taken_up = self.made = 0
        self._found = _read(path)

    def search(
        self,
        cells: Sequence[Cell],
        *,
        across: Searching = search_cells,
        done: Callable[[Cell, Result], None] | None = None,
        **bounds: Any,
    ) -> Iterator[tuple[Cell, Result]]:
        """As `search_cells`, by `across` where a cell is not kept; `done` hears of those first that are.

        What is `fleeting` is not kept, so that it is searched again.
        """
        names = [name_of(cell, bounds) for cell in cells]
        known = [self._found.get(name) for name in names]
        for cell, result in zip(cells, known, strict=True):
            if result is not None:
                self.taken_up += 1
                if done:
                    done(cell, result)

        def keep(cell: Cell, result: Result) -> None:
            self.made += 1
            if fleeting(result) is None:
                self._write(name_of(cell, bounds), result)
            if done:
                done(cell, result)

        left = [cell for cell, result in zip(cells, known, strict=True) if result is None]
        rest = across(left, done=keep, **bounds)
        for cell, result in zip(cells, known, strict=True):
            yield next(rest) if result is None else (cell, result)

    def _write(self, name: str, result: Result) -> None:
        line = json.dumps({"cell": json.loads(name), "result": asdict(result)})
        with self.path.open("ab", buffering=0) as file:  # one write, at the end, whoever else writes there
            file.write(f"{line}\n".encode())


def name_of(cell: Cell, bounds: Mapping[str, Any]) -> str:
    """All that decides what the search of a cell finds, but the code."""
    if cell.mutant or cell.part is not None:
        raise ValueError("searches of mutants, and of parts, are not kept")
    world = specs.world(cell.world) if isinstance(cell.world, str) else cell.world
    protocol = specs.protocol(cell.protocol) if isinstance(cell.protocol, str) else cell.protocol
    of_world = {name: value for name, value in world.to_mapping().items() if name not in ("format", "name", "about")}
    given = {name: value for name, value in bounds.items() if name not in NO_BOUNDS and value is not None}
    return _canonical({
        "protocol": protocol.differences(), "world": of_world, "promises": cell.promises,
        "reduce": cell.reduce, **given,
    })  # fmt: skip


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _read(path: Path) -> dict[str, Result]:
    """What a file holds; one that is not there is begun."""
    head = {**HEAD, "code": code(*FOLDERS)}
    if not path.exists():
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        beside.write_text(f"{json.dumps(head)}\n", encoding="utf-8")
        os.replace(beside, path)
        return {}
    first, *lines = path.read_bytes().split(b"\n")
    given = _loaded(first)
    if not lines or {name: given.get(name) for name in HEAD} != HEAD:
        raise ValueError(f"{path} keeps no searches of a matrix; name another file, or delete it")
    if given != head:
        raise ValueError(f"{path} keeps what other code has found; name another file, or delete it")
    if lines[-1]:
        os.truncate(path, path.stat().st_size - len(lines[-1]))  # a line that somebody died over
    whole = [each for each in map(_loaded, lines) if each.keys() == {"cell", "result"}]
    return {_canonical(each["cell"]): _result(each["result"]) for each in whole}


def _loaded(line: bytes) -> dict[str, Any]:
    """An object of JSON; nothing, where a line is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _result(given: Mapping[str, Any]) -> Result:
    promises = {name: _promise(found) for name, found in given["promises"].items()}
    deadlock, reductions = _steps(given["deadlock"]), tuple(given["reductions"])
    return Result(**{**given, "promises": promises, "deadlock": deadlock, "reductions": reductions, "branches": None})


def _promise(given: Mapping[str, Any]) -> PromiseResult:
    return PromiseResult(**{**given, "verdict": Verdict(given["verdict"]), "trace": _steps(given["trace"])})


def _steps(given: Sequence[Any] | None) -> tuple[Step, ...] | None:
    return None if given is None else tuple(Step(*_frozen(step)) for step in given)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value
