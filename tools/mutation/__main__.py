"""`python -m tools.mutation --write`: searches for kills of the generated mutants and records which mutants are killed.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace

from rich.console import Console
from rich.progress import Progress

from .record import Record, load, write
from .resume import kills_again, resume


def main() -> int:
    """The exit code is 1 if, with `--again`, the fate of a recorded mutant has changed."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write specs/generated-mutants.json and .md")
    parser.add_argument("--again", action="store_true", help="repeat every recorded kill; hunt those that survive now")
    parser.add_argument("--no-check", action="store_true", help="do not run survivors against the engine")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time; resume later")
    args = parser.parse_args()
    until = time.monotonic() + 60 * args.minutes
    recorded = load()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        known = _confirmed(recorded, progress) if args.again else recorded
        task = progress.add_task("worlds", total=None)
        for record in resume(not args.no_check, known):
            progress.update(task, total=record.cases, completed=record.searched)
            if args.write:
                write(record)
            if time.monotonic() > until:
                break
    print(record.summary())
    changes = list(record.differences(recorded)) if args.again else []
    print(*changes, sep="\n", end="\n" if changes else "")
    return int(bool(changes))


def _confirmed(recorded: Record, progress: Progress) -> Record:
    """Return the record with the present fate of every kill, without the kills that cannot be repeated."""
    task = progress.add_task("kills", total=len(recorded.mutants) - len(recorded.survivors))
    mutants = dict(recorded.mutants)
    for name, fate in kills_again(recorded):
        progress.advance(task)
        operator, _ = mutants.pop(name)
        if fate.by:
            mutants[name] = operator, fate
    return replace(recorded, mutants=mutants)


if __name__ == "__main__":
    sys.exit(main())
