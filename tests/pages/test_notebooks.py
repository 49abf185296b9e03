"""The notebooks run from any folder, what they assert holds, and their outputs are the committed ones.

``NBCC_SNAPSHOTS=write`` writes what was executed into the notebooks.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from .conftest import ROOT

FOLDER = ROOT / "notebooks"
MARKS: dict[str, Any] = {
    "01_file_slices": pytest.mark.spark, "05_two_pipelines": (pytest.mark.spark, pytest.mark.nightly),
}  # fmt: skip
NAMES = [
    "00_lost_row", "01_file_slices", "02_why_completion_time", "03_my_table", "04_how_many_writers", "05_two_pipelines",
]  # fmt: skip
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = 10.0
MACHINE = re.compile(r"/(?:home|root|tmp|work|Users|var|opt|private)/|[A-Z]:\\\\|file://|https?://")
# Instants, write tokens, sizes of figures (they follow from matplotlib's text layout).
VOLATILE = re.compile(r"\d{17}|(?<=_)\d+-\d+-\d+|(?<=Figure size )[\d.x]+")
HEAVY = ("pyspark", "py4j", "pyarrow", "hypothesis", "nbcc.engine")


def read(name: str) -> NotebookNode:
    notebook: NotebookNode = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    return notebook


def run(notebook: NotebookNode, folder: Path) -> NotebookNode:
    """Execute in a kernel of its own, whose folder is not the project's."""
    where = {"metadata": {"path": str(folder)}}
    # Streams are put together: on a busy machine a kernel sends what a cell prints in several parts.
    how: dict[str, Any] = {"timeout": 600, "record_timing": False, "coalesce_streams": True}
    NotebookClient(notebook, kernel_name="python3", resources=where, **how).execute()
    notebook.metadata = NotebookNode(METADATA)
    return notebook


def shown(notebook: NotebookNode) -> list[list[Any]]:
    """What each cell shows, pictures by their kind only."""
    return [[_shown(output) for output in cell.outputs] for cell in notebook.cells if cell.cell_type == "code"]


def _shown(output: Mapping[str, Any]) -> tuple[str, Any]:
    if output["output_type"] == "stream":
        return output["name"], VOLATILE.sub("N", output["text"])
    data = output["data"]
    return output["output_type"], {kind: _data(kind, data[kind]) for kind in sorted(data)}


def _data(kind: str, value: str) -> str:
    return "" if kind.startswith("image/") else VOLATILE.sub("N", value)


@pytest.fixture(autouse=True)
def _no_traces_of_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels keep histories and connection files; pictures are the notebook's own."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    monkeypatch.delenv("MPLBACKEND", raising=False)


def test_these_are_all_notebooks() -> None:
    assert sorted(path.stem for path in FOLDER.rglob("*.ipynb")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_notebook_is_short_and_committed_with_its_outputs(name: str) -> None:
    notebook = read(name)
    nbformat.validate(notebook)
    assert len(notebook.cells) <= 10
    assert notebook.metadata == METADATA
    assert notebook.cells[0].cell_type == "markdown"
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    assert any("image/png" in data for cell in shown(notebook) for _, data in cell)
    assert not any(
        output.output_type == "error" or output.get("name") == "stderr" for c in code for output in c.outputs
    )
    assert any("assert " in cell.source for cell in code)
    assert "redict" in "".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("name", NAMES)
def test_no_machine_is_named(name: str) -> None:
    notebook = read(name)
    assert not MACHINE.search("\n".join(cell.source for cell in notebook.cells))
    assert not MACHINE.search(repr(shown(notebook)))


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", [pytest.param(n, marks=MARKS.get(n, ())) for n in NAMES])
def test_a_notebook_runs_from_any_folder_and_shows_what_is_committed(name: str, tmp_path: Path) -> None:
    executed = run(read(name), tmp_path)
    if os.environ.get("NBCC_SNAPSHOTS") == "write":
        nbformat.write(executed, FOLDER / f"{name}.ipynb")
    assert shown(executed) == shown(read(name))


def test_the_lost_row_needs_the_model_alone_and_little_time(tmp_path: Path) -> None:
    notebook = read("00_lost_row")
    asks = f"import sys, time\nprint(time.process_time() < {SECONDS}, sorted({{*sys.modules}} & {{*{HEAVY}}}))"
    notebook.cells.append(nbformat.v4.new_code_cell(asks))
    assert shown(run(notebook, tmp_path))[-1] == [("stdout", "True []\n")]


def test_what_a_notebook_asserts_is_executed(tmp_path: Path) -> None:
    notebook = read("00_lost_row")
    for cell in notebook.cells:
        cell.source = cell.source.replace('Protocol(slicing="requested")', "Protocol()")
    with pytest.raises(CellExecutionError, match="AssertionError"):
        run(notebook, tmp_path)
