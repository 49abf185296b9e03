"""``python -m nbcc.simulator.gallery``: does a search find what ``specs/traces`` holds? ``--write`` writes it anew."""

from __future__ import annotations

import argparse
import sys
from importlib.resources import files
from pathlib import Path

from . import catalogue, files_of, found, pages_of

FOLDER = Path(str(files("nbcc") / "specs" / "traces"))
MADE = ("*.json", "*.svg", "*.txt")
"""What is removed when no run of the catalogue has its name."""


def main() -> int:
    """0: the files are what was found; 1: they are not, and their names are printed."""
    asked = argparse.ArgumentParser(prog="python -m nbcc.simulator.gallery", description=__doc__)
    asked.add_argument("--write", action="store_true", help="write the files of specs/traces")
    asked.add_argument("--pages", type=Path, metavar="DIR", help="write a page a run, and an index, into this folder")
    options = asked.parse_args()
    runs = found(catalogue())
    if options.pages:
        _write(options.pages, pages_of(runs))
        print(options.pages / "index.html")
    made = files_of(runs)
    stale = stale_files(made)
    if options.write:
        _write(FOLDER, {name: text for name, text in made.items() if name in stale})
        for name in set(stale) - set(made):
            (FOLDER / name).unlink()
        print(f"{len(runs)} runs, {len(stale)} of {len(made)} files written")
        return 0
    for name in stale:
        print(f"{name} is not what a search finds now; python -m nbcc.simulator.gallery --write")
    return int(bool(stale))


def stale_files(made: dict[str, str]) -> list[str]:
    """The files that differ, are missing, or belong to no run any more."""
    there = {path.name: path.read_text(encoding="utf-8") for kind in (*MADE, "README.md", "index.html")
             for path in FOLDER.glob(kind)}  # fmt: skip
    return sorted(name for name in there.keys() | made.keys() if there.get(name) != made.get(name))


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
