"""The tables of docs/speed.md that have a recorded run: a file in benchmarks/recorded, as `python -m benchmarks KIND
--out FILE` writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from .markdown import with_tables

ROOT: Final = Path(__file__).resolve().parents[1]
PAGE: Final = ROOT / "docs" / "speed.md"
RECORDED: Final = ROOT / "benchmarks" / "recorded"


def page() -> str:
    """Return the page with its tables. A kind of benchmark without a recorded run has a sentence instead."""
    from benchmarks import scale, tlc

    made: dict[str, Callable[[Any], str]] = {"scale": scale.page_table, "tlc": tlc.page_table}
    tables = {kind: write(found) if (found := recorded(kind)) else missing(kind) for kind, write in made.items()}
    return with_tables(PAGE.read_text("utf-8"), tables, "python -m tools.regenerate speed")


def recorded(kind: str) -> Any:
    """Return the recorded result of a kind of benchmark; None if there is none."""
    path = RECORDED / f"{kind}.json"
    return json.loads(path.read_text("utf-8"))[kind] if path.exists() else None


def missing(kind: str) -> str:
    return f"No run is recorded. `python -m benchmarks {kind} --out benchmarks/recorded/{kind}.json` records one."
