"""``python -m tools.processes --kills 200``: kills real processes on one table at random, then judges its promises."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from .play import Plan, play


def main() -> int:
    """The exit code is 1 if a promise was broken, or if a process failed without being killed."""
    parser = argparse.ArgumentParser(prog="python -m tools.processes", description=__doc__)
    parser.add_argument("--kills", type=int, default=20, help="how many processes are killed (20)")
    parser.add_argument("--writers", type=int, default=3, help="writers at once (3)")
    parser.add_argument("--compactors", type=int, default=1, help="compactors at once (1)")
    parser.add_argument("--rollbackers", type=int, default=1, help="rollbackers at once (1)")
    parser.add_argument("--every", type=float, default=1.5, metavar="N", help="writes between two kills (1.5)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of the table")
    parser.add_argument("--store", action="store_true", help="the table is on an S3 server of this process")
    parser.add_argument("--apart", type=int, default=150, metavar="MS", help="between the clocks, with --store (150)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the report to this file, as a line of JSON")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep table and notes in this empty folder")
    args = parser.parse_args()
    plan = Plan(
        writers=args.writers, compactors=args.compactors, rollbackers=args.rollbackers,
        kills=args.kills, writes_between=args.every,
        seed=args.seed, store=args.store, apart_ms=args.apart,
        options=dict(option.split("=", 1) for option in args.option),
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        report = play(plan, args.keep or Path(scratch), _show)
    print(report.text, flush=True)
    if args.record:
        place = {"store": args.store, "apart_ms": args.apart if args.store else 0, "options": plan.options}
        with args.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"of": "processes", **place, **asdict(report)}) + "\n")
    return int(not report.kept)


def _show(kills: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{kills} killed", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
