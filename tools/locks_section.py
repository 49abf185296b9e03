"""The sections of specs/verdicts.md on locks and stores, from the accepted specs/locks.json."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from nbcc.simulator.search.verdicts import load_locks

from .markdown import table

Row = Mapping[str, Any]
WIDTH: Final = 118
LOCKS: Final = (
    "The [lock protocols](../docs/locks.md) are models of their own ([locks.toml](locks.toml); "
    "[verdicts](locks.json)). MUTEX: a lock has at most one holder. LEASE: a free lock is taken within one lease and "
    "the drift of the clocks."
)
STORES: Final = (
    "Under *table* are the promises that break, by `nbcc.decision`. All others that apply hold in the searched worlds. "
    "A dash: not judged, because the fault does not affect the lock, or is not modelled for the table."
)


def locks_section() -> Iterator[str]:
    """The sections' lines."""
    rows = load_locks()["rows"]
    yield from ("", "## Locks", "", *textwrap.wrap(LOCKS, WIDTH, break_long_words=False, break_on_hyphens=False))
    merged = {row["name"]: row for row in rows if row["kind"] == "lock"}  # the largest depth comes last
    judged = (*merged.values(), *(row for row in rows if row["kind"] == "mutant"))
    lines = (
        (
            row["lock"],
            "as in the engine" if row["kind"] == "lock" else row["about"],
            _cell(row, "MUTEX"),
            _cell(row, "LEASE"),
        )
        for row in judged
    )
    yield from ("", *table(("lock", "rules", "MUTEX", "LEASE"), lines))
    yield from ("", *_bounds(rows))
    yield from ("", "## Stores", "", *textwrap.wrap(STORES, WIDTH), "")
    yield from table(["the store", *merged, "table, `lock`", "table, `log`"], _stores(rows, list(merged)))


def _stores(rows: Sequence[Row], locks: Sequence[str]) -> Iterator[list[str]]:
    for store in dict.fromkeys(row["name"] for row in rows if row["kind"] == "store"):
        by = {row["lock"]: row for row in rows if row["name"] == store}
        about = next(iter(by.values()))["about"]
        tables = [_table(by.get(f"table, {how}")) for how in ("lock", "log")]
        yield [about, *(_lock(by.get(lock)) for lock in locks), *tables]


def _cell(row: Row, promise: str) -> str:
    cell = row["promises"][promise]
    return {"HOLDS": "holds", "VIOLATED": str(cell.get("steps"))}.get(cell["verdict"], "?")


def _bounds(rows: Iterable[Row]) -> Iterator[str]:
    """The bounds in which the promises of the engine's locks hold."""
    bounds: dict[str, list[str]] = {}
    for row in rows:
        if row["kind"] == "lock":
            for bound, states in row["searched"].items():
                bounds.setdefault(bound, []).append(f"{states:,}")
    for bound, states in bounds.items():
        yield f"- {bound}: {' and '.join(states)} states"


def _lock(row: Row | None) -> str:
    if row is None:
        return "–"
    broken = {name: cell["steps"] for name, cell in row["promises"].items() if cell["verdict"] == "VIOLATED"}
    return ", ".join(f"{name} {steps}" for name, steps in broken.items()) or "hold"


def _table(row: Row | None) -> str:
    text = _lock(row)
    return "nothing" if text == "hold" else text
