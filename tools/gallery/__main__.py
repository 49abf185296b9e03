"""`python -m tools.gallery DIR`: an HTML page for each run of the gallery, and an index, in a folder.

`python -m tools.regenerate gallery` writes the committed files of `specs/traces`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from . import catalogue, found, pages_of


def main() -> int:
    """The exit code is 2 if no folder was given."""
    if len(sys.argv) != 2:
        print("usage: python -m tools.gallery DIR", file=sys.stderr)
        return 2
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages_of(found(catalogue())).items():
        (folder / name).write_text(text, encoding="utf-8")
    print(folder / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
