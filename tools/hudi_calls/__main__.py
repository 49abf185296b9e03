"""`python -m tools.hudi_calls FILE [OPERATION ...]`: ends each operation at each of its storage calls, and plays pairs
of operations. `python -m tools.hudi_calls accept FILE` makes specs/hudi-calls.json of what was seen.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .crashes import crashes
from .interleave import PAIRS, histories
from .summary import FIGURES, summary, text
from .tables import OPERATIONS, Tables


def main() -> int:
    """The exit code is 2 if no file was given. The file has one JSON object a line, so that a run can be cut short."""
    if len(sys.argv) < 2:
        print("usage: python -m tools.hudi_calls FILE [OPERATION ...] | accept FILE", file=sys.stderr)
        return 2
    if sys.argv[1] == "accept":
        lines = Path(sys.argv[2]).read_text("utf-8").splitlines()
        FIGURES.write_text(text(summary(map(json.loads, lines))), encoding="utf-8")
        return 0
    with tempfile.TemporaryDirectory() as folder, Path(sys.argv[1]).open("a", encoding="utf-8") as out:
        for seen in everything(Tables(Path(folder)), sys.argv[2:] or [*OPERATIONS, *PAIRS]):
            out.write(json.dumps(seen) + "\n")
            out.flush()
    return 0


def everything(tables: Tables, names: list[str]) -> Iterator[dict[str, Any]]:
    for name in names:
        faults = ("end", "tear", "fail") if name in OPERATIONS else ("",)
        for fault in faults:
            found = crashes(tables, name, fault) if fault else histories(tables, name)
            yield from ({"operation": name, **seen} for seen in found)


if __name__ == "__main__":
    sys.exit(main())
