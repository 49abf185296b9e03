"""Where answers go: a reader that goes away, no standard output at all, files that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run

NBCC = f"{sys.executable} -c 'from nbcc.simulator.cli.main import main; main()'"


@pytest.mark.parametrize(
    ("asked", "code"), [("list mutants", 0), ("explore demo --protocol requested-time-slicing", 1)]
)
def test_a_reader_that_goes_away_changes_no_exit_code(asked: str, code: int, tmp_path: Path) -> None:
    line = f"{NBCC} {asked} | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, "")


def test_without_standard_output_the_exit_code_is_the_answer(tmp_path: Path) -> None:
    line = f"{NBCC} list promises >&-"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_peer_without_its_environment_is_no_bug_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nbcc.simulator.lockstep.peers import process

    def missing(name: str) -> None:
        raise process.PeerMissing(f"the peer {name} has no environment at here; `make interop` builds it")

    monkeypatch.setattr("nbcc.simulator.lockstep.systems.hudi.peer", missing)
    assert run(["replay", "06-lost-row", "--on", "hudi"]) == 4
    assert capsys.readouterr().err == "Error: the peer hudi has no environment at here; `make interop` builds it\n"


@pytest.mark.parametrize(
    "asked",
    [
        "explore demo --checkpoint nosuch/file",
        "explore demo --checkpoint notes.txt",
        "explore demo --memory nan",
        "explore demo --memory inf",
        "verdicts --checkpoint nosuch/file",
        "verdicts --picture nosuch/file.png",
        "verdicts --memory nan",
        "replay 06-lost-row --html nosuch/file.html",
        "inspect table --html nosuch/file.html",
        "check demo --on model --examples 1 --summary nosuch/file",
        "check demo --on model --tour --share nan",
    ],
)
def test_what_cannot_be_kept_or_counted_is_refused_before_the_work(
    asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert run(asked.split()) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert any(message in err for message in ("the folder 'nosuch'", "not a finite number", "notes.txt is no")), err
    assert Path("notes.txt").read_text("utf-8") == "mine"


@pytest.mark.parametrize(
    ("asked", "first_line"),
    [("explore demo --protocol requested-time-slicing --promise SNAP", "VIOLATED  SNAP"), ("explain AGREED", "AGREED")],
)
def test_the_answer_is_not_lost_with_the_folder_of_traces(
    asked: str, first_line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run([*asked.split(), "--traces", str(tmp_path / "file" / "traces")]) == 4
    out, err = capsys.readouterr()
    assert out.startswith(first_line)
    assert err.startswith("Error: Not a directory")


def test_an_interrupted_search_says_what_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stops(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("nbcc.simulator.cli.search.search", stops)
    kept = tmp_path / "kept"

    def error_of(*options: str) -> str:
        assert run(["explore", "demo", *options]) == 130
        return capsys.readouterr().err

    assert "nothing was saved; --checkpoint FILE saves a long search" in error_of()
    assert f"before the search was saved in {kept}" in error_of("--checkpoint", str(kept))
    kept.write_bytes(b"")
    assert f"the search was saved in {kept}; the same command continues" in error_of("--checkpoint", str(kept))
