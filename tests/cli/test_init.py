"""`nbcc init`, the plugin of pytest, and a folder of kept traces: what a CI user sees of a failure."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner, Result

from nbcc.simulator.cli.init import FILES
from nbcc.simulator.cli.main import nbcc
from tests.pages.readme import programs

ROOT = Path(__file__).parents[2]


def ran(*arguments: str) -> Result:
    return CliRunner().invoke(nbcc, arguments)


def pytest_in(folder: Path) -> str:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_my_table.py"]
    environment = {**os.environ, "COLUMNS": "80", "PYTHONPATH": f"{ROOT}"}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False).stdout


def test_the_template_is_the_program_of_the_page() -> None:
    [program] = programs(ROOT / "docs" / "test-your-own-table.md")
    assert (ROOT / "specs/templates" / FILES["test_my_table.py"]).read_text("utf-8") == program


def test_from_an_empty_folder_to_a_red_test_with_a_picture(tmp_path: Path) -> None:
    assert ran("init", str(tmp_path)).exit_code == 0
    assert ran("init", str(tmp_path)).exit_code == 2
    assert "pytest test_my_table.py" in (tmp_path / ".github/workflows/nbcc.yml").read_text("utf-8")
    test = tmp_path / "test_my_table.py"
    sound = test.read_text("utf-8")
    test.write_text(sound.replace("if barrier <= done", "if barrier <= requested"), "utf-8")
    printed = pytest_in(tmp_path)
    failure = printed[printed.index("= FAILURES =") : printed.index("= short test summary")]
    assert "because" in failure
    assert max(map(len, failure.splitlines())) <= 80
    assert not re.search(r"hypothesis|lockstep|Draw 1|site-packages", failure), "no internals"
    [trace] = (tmp_path / "traces").glob("*.json")
    assert f"traces/{trace.stem}.html" in failure

    def replayed() -> tuple[int, str]:
        arguments = ("replay", "traces", "--on", "test_my_table:MyTable", "--expect", "agreed")
        start = "from nbcc.simulator.cli.start import main; main()"
        command = [sys.executable, "-c", start, *arguments]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout

    code, line = replayed()
    assert (code, line) == (1, f"BAD  {trace.name}  test_my_table:MyTable: DISAGREED\n")
    test.write_text(sound, "utf-8")
    assert replayed() == (0, f"ok   {trace.name}  test_my_table:MyTable: AGREED\n")


def test_a_folder_of_traces_answers_as_json(tmp_path: Path) -> None:
    assert ran("replay", str(tmp_path)).exit_code == 2
    name = "02-two-writers.json"
    (tmp_path / name).write_bytes((ROOT / "specs/traces" / name).read_bytes())
    found = ran("replay", str(tmp_path), "--json")
    assert list(json.loads(found.stdout)["traces"][name]) == ["model"]
