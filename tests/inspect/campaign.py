"""`python -m tests.inspect.campaign`: how many broken tables are told, by kind of defect, and of each mutant's tables.

Prints a line a thousand tables and the figures at the end; ends with 1 if a broken table was called fine, a right one
broken, or if judging failed otherwise than by an error in words.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable

from nbcc.engine.errors import NbccError
from nbcc.simulator import mutants
from nbcc.simulator.validate import validate

from .fuzz import answer, broken, judge, wrongly_fine
from .tables import engine_table

A_TABLE = 40
"""Defects of one table."""


def fuzzed(numbers: Iterable[int]) -> tuple[Counter[str], list[str]]:
    """What is said of tables with one defect each, by (kind of defect, verdict); and what was called fine wrongly.

    `unseen` counts those called fine that readers read as before: nobody could tell.
    """
    said: Counter[str] = Counter()
    wrong: list[str] = []
    table, whole = -1, engine_table(0)
    for number in numbers:
        if number // A_TABLE != table:
            table = number // A_TABLE
            whole = engine_table(table)
        case = broken(whole, number)
        try:
            found = judge(case.storage)
        except NbccError:
            said[f"{case.kind}: refused in words"] += 1
            continue
        fine = "unseen" if found.fine else "at risk" if found.verdict == "OK" else found.verdict.lower()
        said[f"{case.kind}: {fine}"] += 1
        if wrongly_fine(whole, case, found):
            wrong.append(f"table {table}, defect {number}: {case.kind} {case.paths}: {answer(case.storage)}")
    return said, wrong


def right(seeds: Iterable[int]) -> list[int]:
    """The tables of the unbroken engine in which something is called broken."""
    return [seed for seed in seeds if validate(engine_table(seed), opened=True).verdict == "BROKEN"]


def told(name: str, tables: int) -> Counter[str]:
    """The rules that are broken in tables of a mutant of the engine, and how many tables have any diagnostic."""
    mutant = mutants.load(name)
    with mutants.applied(mutant):
        made = [engine_table(seed, mutant) for seed in range(tables)]
    found: Counter[str] = Counter()
    for table in made:
        report = validate(table, opened=True)
        found.update({diagnostic.rule for diagnostic in report.diagnostics if diagnostic.gravity == "BROKEN"})
        found["told"] += report.verdict == "BROKEN"
    return found


def main() -> int:
    """Play what is asked for and print the figures."""
    asked = argparse.ArgumentParser(prog="python -m tests.inspect.campaign")
    asked.add_argument("--fuzzed", type=int, default=0, metavar="N")
    asked.add_argument("--first", type=int, default=0, help="the number of the first defect")
    asked.add_argument("--right", type=int, default=0, metavar="N")
    asked.add_argument("--mutant", action="append", default=[], metavar="NAME")
    asked.add_argument("--tables", type=int, default=50, help="of each mutant")
    given = asked.parse_args()
    said: Counter[str] = Counter()
    wrong: list[str] = []
    for first in range(given.first, given.first + given.fuzzed, 1000):
        some = fuzzed(range(first, min(first + 1000, given.first + given.fuzzed)))
        said += some[0]
        wrong += some[1]
        print(json.dumps({"fuzzed": said.total(), **dict(sorted(said.items())), "wrongly fine": wrong}), flush=True)
    called_broken = right(range(given.right))
    if given.right:
        print(json.dumps({"right": given.right, "called broken": called_broken}), flush=True)
    for name in given.mutant:
        print(json.dumps({"mutant": name, "tables": given.tables, **told(name, given.tables)}), flush=True)
    return int(bool(wrong or called_broken))


if __name__ == "__main__":
    sys.exit(main())
