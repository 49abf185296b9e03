"""``python -m nbcc.simulator.gallery``: does a search find what ``specs/traces`` holds? ``--write`` writes it anew."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from . import catalogue, files_of, found, pages_of
from .files import FOLDER, stale_files


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


def _write(folder: Path, texts: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
