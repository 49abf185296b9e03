"""``python -m tools.processes --kills 200``: real processes on one table, killed at random, then judged."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .play import Plan, play


def main() -> int:
    """0: every promise was kept; 1: one was broken, or a process failed that nobody had killed."""
    asked = argparse.ArgumentParser(prog="python -m tools.processes", description=__doc__)
    asked.add_argument("--kills", type=int, default=20, help="how many processes are killed (20)")
    asked.add_argument("--writers", type=int, default=3, help="writers at once (3)")
    asked.add_argument("--compactors", type=int, default=1, help="compactors at once (1)")
    asked.add_argument("--rollbackers", type=int, default=1, help="who roll back what the dead leave, at once (1)")
    asked.add_argument("--every", type=float, default=1.5, metavar="N", help="writes between two kills (1.5)")
    asked.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the table's making")
    asked.add_argument("--seed", type=int, default=0)
    asked.add_argument("--keep", type=Path, metavar="DIR", help="leave table and notes here: a folder that is empty")
    given = asked.parse_args()
    plan = Plan(
        writers=given.writers, compactors=given.compactors, rollbackers=given.rollbackers,
        kills=given.kills, writes_between=given.every,
        seed=given.seed, options=dict(option.split("=", 1) for option in given.option),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        report = play(plan, given.keep or Path(scratch), _show)
    print(report.text)
    return int(not report.kept)


def _show(kills: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{kills} killed", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
