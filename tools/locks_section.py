"""The sections of specs/verdicts.md on locks and stores, from the accepted specs/locks.json."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from nbcc.simulator.verdicts import load_locks

Row = Mapping[str, Any]
WIDTH: Final = 118
LOCKS: Final = (
    "The lock protocols are models of their own ([locks](../docs/locks.md), [locks.toml](locks.toml)). MUTEX: a lock "
    "has at most one holder. LEASE: a lock that no contender holds is taken within one lease and the drift of the "
    "clocks. A number is the length of a shortest run that breaks the promise. `nbcc verdicts --locks` repeats the "
    "searches and compares them with [locks.json](locks.json)."
)
STORES: Final = (
    "Which promises hold in which kind of store. Under *table* are the promises that break, by `nbcc.decision`; all "
    "others that apply hold in the searched worlds. A dash: not judged, because the fault does not affect the lock, or "
    "is not modelled for the table."
)


def locks_section() -> Iterator[str]:
    """The sections' lines."""
    rows = load_locks()["rows"]
    yield from ("", "## Locks", "", *textwrap.wrap(LOCKS, WIDTH, break_long_words=False, break_on_hyphens=False))
    yield from ("", "| lock | rules | MUTEX | LEASE |", "|---|---|---|---|")
    merged = {row["name"]: row for row in rows if row["kind"] == "lock"}  # the largest depth comes last
    for row in (*merged.values(), *(row for row in rows if row["kind"] == "mutant")):
        rules = "as in the engine" if row["kind"] == "lock" else row["about"]
        yield f"| {row['lock']} | {rules} | {_cell(row, 'MUTEX')} | {_cell(row, 'LEASE')} |"
    yield from ("", *_bounds(rows))
    yield from ("", "## Stores", "", *textwrap.wrap(STORES, WIDTH), "")
    locks = list(merged)
    yield "| the store | " + " | ".join([*locks, "table, `lock`", "table, `log`"]) + " |"
    yield "|---|" + "---|" * (len(locks) + 2)
    stores = dict.fromkeys(row["name"] for row in rows if row["kind"] == "store")
    for store in stores:
        by = {row["lock"]: row for row in rows if row["name"] == store}
        about = next(iter(by.values()))["about"]
        cells = [_lock(by.get(lock)) for lock in locks] + [_table(by.get(f"table, {how}")) for how in ("lock", "log")]
        yield f"| {about} | {' | '.join(cells)} |"


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
