"""Reads and writes the accepted verdicts on lock protocols and object stores, in specs/locks.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..explore import PromiseResult, Verdict
from .locks import LockVerdicts
from .search_bounds import DEPTHS, Depth


def locks_path() -> Path:
    return Path(str(files("nbcc") / "specs" / "locks.json"))


def load_locks() -> dict[str, Any]:
    """Return the accepted verdicts on locks, or no rows if the file does not exist."""
    path = locks_path()
    return dict(json.loads(path.read_text("utf-8"))) if path.is_file() else {"format": 1, "rows": []}


def locks_data(rows: Sequence[LockVerdicts]) -> dict[str, Any]:
    """Return the verdicts on locks as data for JSON, without durations and traces."""
    return {"format": 1, "rows": [_row(row) for row in rows]}


def up_to(data: Mapping[str, Any], depth: Depth) -> dict[str, Any]:
    """Return only the rows of searches whose depth is at most `depth`."""
    return {**data, "rows": [row for row in data["rows"] if _at(row) <= DEPTHS.index(depth)]}


def with_accepted(found: Mapping[str, Any], accepted: Mapping[str, Any], depth: Depth) -> dict[str, Any]:
    """Return the new verdicts up to `depth`, followed by the accepted verdicts of deeper searches."""
    larger = [row for row in accepted["rows"] if _at(row) > DEPTHS.index(depth)]
    return {**found, "rows": [*found["rows"], *larger]}


def _at(row: Mapping[str, Any]) -> int:
    return DEPTHS.index(row["depth"])


def _row(row: LockVerdicts) -> dict[str, Any]:
    return {
        "name": row.name, "lock": row.lock, "kind": row.kind, "depth": row.depth, "about": row.about,
        "promises": {name: _cell(result) for name, result in row.promises.items()}, "searched": row.searched,
    }  # fmt: skip


def _cell(result: PromiseResult) -> dict[str, Any]:
    steps = {"steps": result.steps} if result.verdict is Verdict.VIOLATED else {}
    because = {"because": result.because or ""} if result.verdict is Verdict.UNDETERMINED else {}
    return {"verdict": str(result.verdict), **steps, **because}


def locks_text(data: Mapping[str, Any]) -> str:
    lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in data["rows"])
    return f'{{\n "format": {data["format"]},\n "rows": [\n{lines}\n ]\n}}\n'


def locks_facts(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lock verdicts as lines of text, so that changes to the verdicts can be listed."""
    for row in data["rows"]:
        for name, cell in row["promises"].items():
            words = "; ".join(f"{field} {value}" for field, value in cell.items())
            yield f"{row['name']}, {row['lock']}, {row['depth']}: {name}: {words}"
        for bound, states in row["searched"].items():
            yield f"{row['name']}, {row['lock']}: {states} states of {bound}"


def locks_json(rows: Iterable[LockVerdicts]) -> list[dict[str, Any]]:
    """Return the lock verdicts in the format of `nbcc verdicts --json`, with a shortest counterexample for each
    violated promise.
    """
    return [_with_traces(_row(row), row) for row in rows]


def _with_traces(data: dict[str, Any], row: LockVerdicts) -> dict[str, Any]:
    for name, result in row.promises.items():
        trace = result.trace and [{"actor": s.actor, "action": s.action, "args": dict(s.args)} for s in result.trace]
        broken = {"trace": trace, "because": result.because} if trace else {}
        data["promises"][name] = {**data["promises"][name], **broken}
    return data
