"""`python -m tools.detection`: validates tables of mutated and of right engines and records the figures.

The figures are written after each mutant, so that a stopped run continues. `--again` starts over.
`python -m tools.regenerate detection` writes them into docs/validate.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from .figures import RECORDED, judge_mutants, judge_right_engines, recorded


def main() -> int:
    """The exit code is 1 if a table of the right engine is reported as broken."""
    parser = argparse.ArgumentParser(prog="python -m tools.detection", description=__doc__)
    parser.add_argument("--again", action="store_true", help="discard the recorded figures")
    again = parser.parse_args().again
    figures: dict[str, Any] = {"format": 1, "mutants": {}, "right": {}} if again else recorded()
    for kind, judge in (("right", judge_right_engines), ("mutants", judge_mutants)):
        for name in judge(figures[kind]):
            RECORDED.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
            print(json.dumps({kind: name, **figures[kind][name]}), flush=True)
    return int(any(row["broken"] for row in figures["right"].values()))


if __name__ == "__main__":
    sys.exit(main())
