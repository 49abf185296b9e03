"""`python -m nbcc.simulator.mutation --write`: hunt the generated mutants of the model, write what became of them."""

from __future__ import annotations

import argparse
import sys
import time

from rich.console import Console
from rich.progress import Progress

from .all import hunt_all
from .record import load, write


def main() -> int:
    """Exit code 1: a mutant lives and specs/survivors.toml does not know it, or what is written down is not so."""
    parser = argparse.ArgumentParser(prog="python -m nbcc.simulator.mutation", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write specs/generated-mutants.json and .md")
    parser.add_argument("--again", action="store_true", help="hunt those that are written down anew")
    parser.add_argument("--no-check", action="store_true", help="do not play survivors against the engine")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many; the next run goes on")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    written = load()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("worlds", total=None)
        for found in hunt_all(not given.no_check, None if given.again else written):
            progress.update(task, total=found.cases, completed=found.searched)
            if given.write:
                write(found)
            if time.monotonic() > until:
                break
    print(found.summary())
    wrong = [*found.unexplained(), *(found.differences(written) if given.again else ())]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
