"""`python -m tools.mutation --write`: hunt the generated mutants of the model, write what became of them."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from rich.console import Console
from rich.progress import Progress

from nbcc.model.mechanisms import kinds

from . import generated
from .all import hunt_all, kills_again
from .drawing import draw
from .record import Record, load, survivors, write


def main() -> int:
    """Exit code 1: a mutant lives and specs/survivors.toml does not know it, or what is written down is not so."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutation", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write specs/generated-mutants.json and .md")
    parser.add_argument("--again", action="store_true", help="see every kill once more; what lives now is hunted anew")
    parser.add_argument("--anew", action="store_true", help="hunt all that are written down anew: hours")
    parser.add_argument("--draw", type=int, metavar="SEED", help="draw worlds; keep those in which one that lives "
                        "is seen, for --minutes; afterwards --write hunts in them")  # fmt: skip
    parser.add_argument("--having", action="append", default=[], metavar="KIND", choices=sorted(kinds()),
                        help="with --draw: actors that each world has; may be repeated")  # fmt: skip
    parser.add_argument("--no-check", action="store_true", help="do not play survivors against the engine")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many; the next run goes on")
    given = parser.parse_args()
    until = time.monotonic() + 60 * given.minutes
    written = load()
    if given.draw is not None:
        return draw_worlds(given.draw, until, written, given.having)
    with Progress(console=Console(stderr=True), transient=True) as progress:
        known = None if given.anew else _seen_again(written, progress) if given.again else written
        task = progress.add_task("worlds", total=None)
        for found in hunt_all(not given.no_check, known):
            progress.update(task, total=found.cases, completed=found.searched)
            if given.write:
                write(found)
            if time.monotonic() > until:
                break
    print(found.summary())
    wrong = [*found.unexplained(), *(found.differences(written) if given.again or given.anew else ())]
    for line in wrong:
        print(line)
    return 1 if wrong else 0


def draw_worlds(seed: int, until: float, written: Record, having: Sequence[str] = ()) -> int:
    """Draw worlds until then, by the monotonic clock, one at least, and print in which of them who was seen."""
    known = survivors()
    living = {m.name: m for m in generated() if m.name in written.alive and known.get(m.name, ("",))[0] != "redundant"}
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("worlds drawn", total=None)
        for number, (name, found) in enumerate(draw(seed, living, having), 1):
            progress.update(task, completed=number, description=f"{number} worlds drawn")
            if name:
                print(f"{name}: {len(found)}, of {number} worlds", *found, sep="\n  ", flush=True)
            if time.monotonic() > until:
                break
    return 0


def _seen_again(written: Record, progress: Progress) -> Record:
    """What is written down without the kills that are none any more."""
    task = progress.add_task("kills", total=len(written.mutants) - len(written.alive))
    rows = dict(written.mutants)
    for name, fate in kills_again(written):
        progress.advance(task)
        if not fate.by:
            del rows[name]
    return replace(written, mutants=rows)


if __name__ == "__main__":
    sys.exit(main())
