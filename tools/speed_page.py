"""The tables of docs/speed.md and docs/locks.md that have a recorded run: a file in benchmarks/recorded, as `python -m
benchmarks KIND --out FILE` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .markdown import with_tables

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "speed.md"
LOCKS: Final = ROOT / "docs" / "locks.md"
RECORDED: Final = ROOT / "benchmarks" / "recorded"


def page(path: Path = PAGE) -> str:
    """Return a page with its tables. A kind of benchmark without a recorded run has a sentence instead."""
    from benchmarks import compare, many_rows, requests, resizes, scale, search, tlc

    made: dict[Path, dict[str, Callable[[Any], str]]] = {
        PAGE: {
            "compare": compare.page_table, "rows": many_rows.text, "scale": scale.page_table, "tlc": tlc.page_table,
            "search": search.page_table, "resize": resizes.text,
        },
        LOCKS: {"requests": requests.page_table},
    }  # fmt: skip
    tables = {kind: write(found) if (found := recorded(kind)) else missing(kind) for kind, write in made[path].items()}
    return with_tables(path.read_text("utf-8"), tables, "python -m tools.regenerate speed")


def recorded(kind: str) -> Any:
    """Return the recorded result of a kind of benchmark; None if there is none."""
    path = RECORDED / f"{kind}.json"
    return json.loads(path.read_text("utf-8"))[kind] if path.exists() else None


def missing(kind: str) -> str:
    return f"No run is recorded. `python -m benchmarks {kind} --out benchmarks/recorded/{kind}.json` records one."
