"""Reads and writes the accepted matrix of verdicts for each search depth, in specs/verdicts.json and
specs/verdicts-full.json.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from nbcc.model import World
from nbcc.model.promises import PROMISES

from ..explore import Verdict
from .bound import bound_of, sentence
from .isolation import anomalies
from .judge import Cell, MatrixRow, protocols, worlds_of
from .search_bounds import Depth

EVERY = "every protocol"
FEW = 5
"""So many protocols are named as exceptions."""


def data_path(depth: Depth) -> Path:
    """Return the path of the file with the accepted matrix of verdicts for a search depth."""
    return Path(str(files("nbcc") / "specs" / ("verdicts.json" if depth == "quick" else f"verdicts-{depth}.json")))


def load(depth: Depth) -> dict[str, Any]:
    """Return the accepted matrix of verdicts for a search depth."""
    data: dict[str, Any] = json.loads(data_path(depth).read_text("utf-8"))
    return data


def to_data(rows: Sequence[MatrixRow], depth: Depth) -> dict[str, Any]:
    """Return the matrix of verdicts as data for JSON. Durations are omitted, so that repeating a search produces the
    same data.
    """
    protocols = {row.name: row_data(row) for row in rows}
    return {"format": 1, "depth": depth, "protocols": protocols, "worlds": list(_worlds(rows))}


def merged(accepted: Mapping[str, Any], found: Mapping[str, Any], depth: Depth) -> dict[str, Any]:
    """Return the accepted matrix, updated with the new verdicts in `found`: rows, or cells of some promises."""
    names = [file.name for file in protocols() if file.name in {*accepted["protocols"], *found["protocols"]}]
    rows = {}
    for name in names:
        row = found["protocols"].get(name) or accepted["protocols"][name]
        cells = {**accepted["protocols"].get(name, row)["promises"], **row["promises"]}
        rows[name] = {**row, "promises": {promise: cells[promise] for promise in PROMISES if promise in cells}}
    return {**accepted, "protocols": rows, "worlds": list(_worlds_of(names, depth, accepted, found))}


def _worlds_of(names: Sequence[str], depth: Depth, *states_of: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the worlds of a merged matrix, each with its states as the first matrix that has them states them.

    Several worlds may have one description. They stand in the same order in each matrix.
    """
    states = [_states(data) for data in states_of]
    searched = {name: worlds_of(name, depth) for name in names}
    for world in dict.fromkeys(world for worlds in searched.values() for world in worlds):
        by = [name for name, worlds in searched.items() if world in worlds]
        # Taken from all queues, whichever has the number: otherwise the next world of that description got this one's.
        known = (each[described(world)].popleft() for each in states if each[described(world)])
        yield {"world": described(world), "states": next(known, None), "for": _named(by, names)}


def _states(data: Mapping[str, Any]) -> defaultdict[str, deque[int | None]]:
    found: defaultdict[str, deque[int | None]] = defaultdict(deque)
    for each in data["worlds"]:
        found[each["world"]].append(each["states"])
    return found


def row_data(row: MatrixRow) -> dict[str, Any]:
    """Return the data of one protocol: its non-default options, the possible anomalies, and the verdict on each
    promise.
    """
    return {
        "options": {name: str(value) for name, value in row.file.protocol.differences().items()},
        "anomalies": anomalies(row.file.protocol),
        "promises": {name: _cell_data(cell) for name, cell in row.cells.items()},
    }


def _cell_data(cell: Cell) -> dict[str, Any]:
    data: dict[str, Any] = {"verdict": str(cell.verdict)}
    if cell.verdict is Verdict.VIOLATED:
        data |= {"steps": cell.steps, "bound": sentence(cell.bounds[0])}
    if cell.verdict in (Verdict.VIOLATED, Verdict.UNDETERMINED):
        data["because"] = cell.because or ""
    return {**data, **({"evidence": cell.evidence} if cell.evidence else {})}


def _worlds(rows: Sequence[MatrixRow]) -> Iterator[dict[str, Any]]:
    """For each searched world, yield a description, its number of states under the default protocol, and the protocols
    for which it was searched.
    """
    for world in dict.fromkeys(each.world for row in rows for each in row.searched):
        by = {row.name: each.result for row in rows for each in row.searched if each.world == world}
        # Under a symmetry the number of states that it stands for: the size of a world does not depend on reductions.
        states = by["default"].stands_for or by["default"].distinct if "default" in by else None
        yield {"world": described(world), "states": states, "for": _named(tuple(by), [row.name for row in rows])}


def _named(some: Sequence[str], every: Sequence[str]) -> list[str]:
    """Return the names in `some`, or a phrase if they are all or nearly all of `every`."""
    others = [name for name in every if name not in some]
    if not others:
        return [EVERY]
    # A list of a hundred names for nearly every world would hide the few that are missing.
    return [f"{EVERY} but {', '.join(others)}"] if len(others) <= FEW else list(some)


def described(world: World) -> str:
    """Return the phrase that names a world in the matrix."""
    shaped = ", shaped writes" if world.writes else ""
    mode = {"COMMIT_TIME_ORDERING": ", commit time", "CUSTOM": ", a user's function"}.get(world.merge_mode, "")
    return f"{sentence(bound_of(world))}{shaped}{mode}"


def to_text(data: Mapping[str, Any]) -> str:
    """Return the content of the matrix file: JSON with one line for each verdict and for each world."""
    protocols = (f"  {_json(name)}: {{\n{_fields(row)}\n  }}" for name, row in data["protocols"].items())
    worlds = (f"  {_json(world)}" for world in data["worlds"])
    head = f' "format": {data["format"]},\n "depth": {_json(data["depth"])},'
    return f'{{\n{head}\n "protocols": {{\n{_lines(protocols)}\n }},\n "worlds": [\n{_lines(worlds)}\n ]\n}}\n'


def _fields(row: Mapping[str, Any]) -> str:
    cells = _lines(f"    {_json(name)}: {_json(cell)}" for name, cell in row["promises"].items())
    plain = "".join(f"   {_json(name)}: {_json(row[name])},\n" for name in ("options", "anomalies"))
    return f'{plain}   "promises": {{\n{cells}\n   }}'


def _lines(lines: Iterator[str]) -> str:
    return ",\n".join(lines)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def facts(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the contents of the matrix as lines of text, so that changes to the matrix can be listed."""
    for name, row in data["protocols"].items():
        yield f"{name} options: {_words(row['options'])}"
        for anomaly, steps in row["anomalies"].items():
            yield f"{name} {anomaly}: {steps} steps"
        for promise, cell in row["promises"].items():
            yield f"{name} {promise}: {_words(cell)}"
    for world in data["worlds"]:
        yield f"searched: {_words(world)}"


def _words(fields: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{name} {', '.join(value) if isinstance(value, list) else value}" for name, value in fields.items()
    )
