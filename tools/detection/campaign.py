"""`python -m tools.detection.campaign`: how many defects and mutants `nbcc validate` detects, by kind.

The program prints one line for each thousand defects, and the figures at the end. The exit code is 1 if a broken table
was reported as fine, or a correct one as broken.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable

from nbcc.engine.errors import NbccError
from nbcc.simulator.audit import validate
from nbcc.simulator.search import mutants

from .defects import answer, broken, judge, wrongly_fine
from .tables import engine_table

DEFECTS_OF_A_TABLE = 40


def judge_defects(numbers: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """Count tables with one defect each, by kind of defect and verdict; and return those that were wrongly reported as
    fine.

    `unseen` counts tables that were reported as fine, and that the engine reads as before.
    """
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    table, whole = -1, engine_table(0)
    for number in numbers:
        if number // DEFECTS_OF_A_TABLE != table:
            table = number // DEFECTS_OF_A_TABLE
            whole = engine_table(table)
        case = broken(whole, number)
        try:
            report = judge(case.storage)
        except NbccError:
            counts[f"{case.kind}: refused with a message"] += 1
            continue
        fine = "unseen" if report.fine else "at risk" if report.verdict == "OK" else report.verdict.lower()
        counts[f"{case.kind}: {fine}"] += 1
        if wrongly_fine(whole, case, report):
            wrong.append(f"table {table}, defect {number}: {case.kind} {case.paths}: {answer(case.storage)}")
    return counts, wrong


def right_called_broken(seeds: Iterable[int]) -> list[int]:
    """Return the seeds whose table of the right engine is reported as broken."""
    return [seed for seed in seeds if validate(engine_table(seed), opened=True).verdict == "BROKEN"]


def judge_mutant(name: str, tables: int) -> Counter[str]:
    """Return how many tables of a mutant break each rule, and under `detected` how many are reported as broken."""
    mutant = mutants.load(name)
    with mutants.applied(mutant):
        storages = [engine_table(seed, mutant) for seed in range(tables)]
    counts: Counter[str] = Counter()
    for storage in storages:
        report = validate(storage, opened=True)
        counts.update({diagnostic.rule for diagnostic in report.diagnostics if diagnostic.gravity == "BROKEN"})
        counts["detected"] += report.verdict == "BROKEN"
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.detection.campaign", description=__doc__)
    parser.add_argument("--defects", type=int, default=0, metavar="N")
    parser.add_argument("--first", type=int, default=0, help="the number of the first defect")
    parser.add_argument("--right", type=int, default=0, metavar="N", help="tables of the right engine")
    parser.add_argument("--mutant", action="append", default=[], metavar="NAME")
    parser.add_argument("--tables", type=int, default=50, help="tables of each mutant")
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong: list[str] = []
    end = args.first + args.defects
    for first in range(args.first, end, 1000):
        more, wrongly = judge_defects(range(first, min(first + 1000, end)))
        counts += more
        wrong += wrongly
        figures = {"defects": counts.total(), **dict(sorted(counts.items())), "wrongly fine": wrong}
        print(json.dumps(figures), flush=True)
    called_broken = right_called_broken(range(args.right))
    if args.right:
        print(json.dumps({"right": args.right, "called broken": called_broken}), flush=True)
    for name in args.mutant:
        print(json.dumps({"mutant": name, "tables": args.tables, **judge_mutant(name, args.tables)}), flush=True)
    return int(bool(wrong or called_broken))


if __name__ == "__main__":
    sys.exit(main())
