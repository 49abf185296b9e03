"""Where answers go: a reader that goes away, no standard output at all, files that cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
    from nbcc.simulator.cli.main import run
    from nbcc.simulator.peers import process

    def missing(name: str) -> None:
        raise process.PeerMissing(f"the peer {name} has no environment at here; `make interop` builds it")

    monkeypatch.setattr("nbcc.simulator.systems.hudi.peer", missing)
    assert run(["replay", "06-lost-row", "--on", "hudi"]) == 4
    assert capsys.readouterr().err == "Error: the peer hudi has no environment at here; `make interop` builds it\n"
