"""Copies of tables by `readStream` -> `writeStream` while their drivers and Python workers are killed at random.

``python -m tools.stream_kills --kills 200`` prints one JSON object. Each lane has a source, a copy and a driver. A
writer feeds the source, and services compact both tables and roll back dead writers. A kill hits the middle of a
trigger: one or all Python workers, or the driver and its JVM. A new driver continues with the same checkpoint. At the
end the copy after each trigger is compared with the source as of the offset of that trigger.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from .driver import drive
from .lane import lanes


def main() -> int:
    """Run the copies under kills, or one of their drivers. The exit code is 1 if a copy is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tools.stream_kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--lanes", type=int, default=2, help="streams at once (2)")
    parser.add_argument("--minutes", type=float, default=1e6, help="end the kills after this time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="of all tables")
    parser.add_argument("--folder", type=Path, help="keep the tables in this new folder")
    parser.add_argument("--record", type=Path, metavar="FILE", help="append the figures to this file")
    parser.add_argument("--drive", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--last", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.drive:
        drive(given.drive, given.last)
        return 0
    options = dict(option.split("=", 1) for option in given.option)
    with tempfile.TemporaryDirectory() as scratch:
        figures = lanes(
            given.lanes, given.kills, given.minutes, given.seed, given.folder or Path(scratch), options, _show
        )
    print(json.dumps(figures, indent=2))
    if given.record:
        with given.record.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"of": "streams", "options": options, "seed": given.seed, **figures}) + "\n")
    return int(bool(figures["broken"]))


def _show(kills: int) -> None:
    print(f"{kills} kills", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
