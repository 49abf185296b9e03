"""The files of the gallery, as text. The same catalogue and code produce the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from nbcc.simulator.trace import to_json
from nbcc.simulator.trace_text import render
from nbcc.simulator.view.page import render as page
from nbcc.simulator.view.trace_content import content_of

from .find import Found
from .pages import index, readme
from .picture import picture

FOLDER = Path(str(files("nbcc") / "specs" / "traces"))
GENERATED = ("*.json", "*.svg", "*.txt", "README.md", "index.html")
"""The patterns of generated files."""


def files_of(runs: Sequence[Found]) -> dict[str, str]:
    """Return the trace, picture and text of every run, and the two indexes, by file name."""
    found = {"README.md": readme(runs), "index.html": index(runs)}
    for run in runs:
        found[f"{run.entry.name}.json"] = to_json(run.trace)
        found[f"{run.entry.name}.svg"] = picture(run)
        found[f"{run.entry.name}.txt"] = render(run.trace) + "\n"
    return found


def pages_of(runs: Sequence[Found]) -> dict[str, str]:
    """Return the page of every run, an index that links the pages, and the pictures of the index, by file name."""
    pages = {f"{run.entry.name}.html": page(content_of(run.trace)) for run in runs}
    return {"index.html": index(runs, linked=True), **pages, **{f"{run.entry.name}.svg": picture(run) for run in runs}}


def stale_files(made: Mapping[str, str], folder: Path = FOLDER) -> list[str]:
    """The files of the folder that differ from the generated text, are missing, or belong to no run."""
    there = {path.name: path.read_text(encoding="utf-8") for kind in GENERATED for path in folder.glob(kind)}
    return sorted(name for name in there.keys() | made.keys() if there.get(name) != made.get(name))
