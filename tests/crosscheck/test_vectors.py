"""`nbcc fill`: vectors are right, cover every transition of their themes, and fail for engines that read wrongly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nbcc.model import Model, Protocol
from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep.vectors.fill import FillReport, fill
from nbcc.simulator.lockstep.vectors.themes import COVERED, themes
from nbcc.simulator.search import mutants
from tests.builders.sources import ROOT
from tests.builders.vector_reader import differences

READING = (
    "archive-file-without-its-oldest", "archive-reads-its-last-two-files", "as-of-requested-time-answered",
    "as-of-under-columns-of-now", "change-log-of-what-stayed", "changes-of-the-first-record", "clean-without-horizon",
    "covered-logs-read-again", "foreign-base-read-as-ours", "late-states-count", "log-by-requested-time",
    "log-taken-for-tombstones", "merge-function-keeps-the-newest", "partial-loser-is-dropped",
    "read-optimized-merges-logs", "refusal-of-another-class", "restore-seen-when-done",
    "snapshot-with-uncompleted-write", "window-behind-the-horizon-answered", "window-forgets-replace",
)  # fmt: skip
"""Mutants of the engine that change what a reader computes from a table at rest. Not here are mutants that show only
while a writer works (`window-lists-once`) or under a condition of the query (`skipped-rows-hide-nothing`).
"""


SURVIVE = {
    "late-states-count": "the model's actors do not put a state of an instant after others have archived it",
    "log-taken-for-tombstones": "a write and a compaction never share a requested time under the default protocol",
}
"""Mutants that no vector can show, and why."""


def kills(mutant: mutants.Mutant, vectors: list[Path]) -> int:
    """The number of vectors that fail for an engine with the mutant's error."""
    with mutants.applied(mutant):
        return sum(next(differences(vector, mutant.rules), None) is not None for vector in vectors)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, FillReport]:
    folder = tmp_path_factory.mktemp("vectors")
    return folder, fill(folder, "tiny")


def folders(of: Path) -> list[Path]:
    return sorted(path.parent for path in of.glob("*/meta.json"))


def test_the_engine_reads_every_vector_from_its_folder(tiny: tuple[Path, FillReport]) -> None:
    folder, report = tiny
    assert report.disagreed == report.unplayable == {}
    assert 35 <= report.vectors == len(folders(folder)) <= 50
    assert report.largest < 200_000
    assert {vector.name: [*differences(vector)] for vector in folders(folder)} == {v.name: [] for v in folders(folder)}


def test_every_transition_of_the_first_themes_is_taken(tiny: tuple[Path, FillReport]) -> None:
    found = [json.loads((vector / "meta.json").read_text()) for vector in folders(tiny[0])]
    for theme in themes()[:COVERED]:
        world = theme.worlds[0][0]
        possible = {transition.action for transition in Model(world, Protocol()).transitions}
        taken = {action for meta in found if meta["name"].startswith(theme.name) for action in meta["transitions"]}
        assert taken == possible, theme.name


def test_an_engine_that_reads_wrongly_fails_vectors(tiny: tuple[Path, FillReport]) -> None:
    some = ("snapshot-with-uncompleted-write", "log-by-requested-time", "covered-logs-read-again")
    assert all(kills(mutants.load(name), folders(tiny[0])) for name in some)


@pytest.mark.nightly
def test_nine_in_ten_mutants_of_reading_fail_a_small_vector(tmp_path: Path) -> None:
    report = fill(tmp_path, "small")
    assert report.vectors >= 300
    assert report.largest < 200_000
    assert report.disagreed == {}
    assert {vector.name for vector in folders(tmp_path) if [*differences(vector)]} == set()
    assert {name for name in READING if not kills(mutants.load(name), folders(tmp_path))} == SURVIVE.keys()


def test_hudi_rs_differs_only_where_it_is_known_to(tiny: tuple[Path, FillReport]) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "vectors" / "with_hudi_rs.py"), str(tiny[0])],
        check=False, capture_output=True, text=True, env={**os.environ, "RUST_BACKTRACE": "0"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout
    assert "known: window_deletes = omitted" in ran.stdout
    read = tiny[0] / "core-1-0001" / "expected" / "reads.json"
    read.write_text(read.read_text().replace('"ordering": ', '"ordering": 1'), "utf-8")
    again = subprocess.run([*ran.args], check=False, capture_output=True, text=True, env=os.environ)
    assert again.returncode == 1, "a wrong answer is reported"


def test_a_known_difference_names_the_engine_and_its_rule(tiny: tuple[Path, FillReport]) -> None:
    reads = [read for vector in folders(tiny[0]) for read in json.loads((vector / "expected/reads.json").read_text())]
    known = {(engine, rule) for read in reads for engine, rule in read.get("differs", {}).items()}
    assert {rule for engine, rule in known if engine == "Apache Hudi 1.2.0"} == {
        "as_of_axis = requested_slices", "as_of_pending = refused", "window_deletes = omitted",
        "window_merge = slice_of_window",
    }  # fmt: skip


def test_what_exists_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").touch()
    assert run(["fill", "--out", str(tmp_path)]) == 2
    assert "is not empty: use a new folder" in capsys.readouterr().err


def test_the_page_names_every_file_and_field_of_the_format(tiny: tuple[Path, FillReport]) -> None:
    text = (ROOT / "docs" / "vectors.md").read_text("utf-8")
    vector = folders(tiny[0])[0]
    files = {path.relative_to(vector).as_posix() for path in vector.rglob("*") if path.is_file()}
    assert all(f"`{name}`" in text for name in files if not name.startswith("table/"))
    assert all(f"`{name}`" in text for name in json.loads((vector / "meta.json").read_text()))
