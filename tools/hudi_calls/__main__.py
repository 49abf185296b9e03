"""`python -m tools.hudi_calls FILE [OPERATION ...]`: a fault at each storage call of each operation. A run that was cut
short goes on with the same FILE. `python -m tools.hudi_calls accept FILE` makes specs/hudi-calls.json of what was seen.
`python -m tools.hudi_calls groups` records each operation with a lock file, and writes the groups of its calls there.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .crashes import FAULTS, points
from .groups import recorded_groups
from .labels import FIGURES
from .summary import load, summary, text
from .tables import OPERATIONS, Tables


def main() -> int:
    """The exit code is 2 if no file was given. The file has one JSON object a line: the calls of an operation, or what
    was seen after a fault.
    """
    if len(sys.argv) < 2:
        print("usage: python -m tools.hudi_calls FILE [OPERATION ...] | accept FILE | groups", file=sys.stderr)
        return 2
    if sys.argv[1] in ("accept", "groups"):
        accepts = sys.argv[1] == "accept"
        figures = summary(lines(Path(sys.argv[2]))) if accepts else load()
        with tempfile.TemporaryDirectory() as folder:
            for name, found in recorded_groups(Tables(Path(folder))).items():
                figures["operations"][name]["groups"] = found
        FIGURES.write_text(text(figures), encoding="utf-8")
        return 0
    file = Path(sys.argv[1])
    known = {(seen["operation"], seen["fault"], seen["call"]) for seen in lines(file) if "fault" in seen}
    with tempfile.TemporaryDirectory() as folder, file.open("a", encoding="utf-8") as out:
        for seen in everything(Tables(Path(folder)), sys.argv[2:] or [*OPERATIONS], known):
            out.write(json.dumps(seen) + "\n")
            out.flush()
    return 0


def lines(file: Path) -> list[dict[str, Any]]:
    """Return what the earlier runs into a file have seen. A line that was cut short does not count."""
    found = file.read_text("utf-8").splitlines(keepends=True) if file.exists() else []
    return [json.loads(line) for line in found if line.endswith("}\n")]


def everything(tables: Tables, names: list[str], known: set[tuple[str, str, int]]) -> Iterator[dict[str, Any]]:
    for name in names:
        for fault in FAULTS:
            skipped = {number for operation, of, number in known if (operation, of) == (name, fault)}
            yield from ({"operation": name, **seen} for seen in points(tables, name, fault, skipped))


if __name__ == "__main__":
    sys.exit(main())
