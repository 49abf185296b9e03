"""The GitHub Action: each step of its script, on tables of which one is broken."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .golden import BAD, good_table

ACTION = Path(__file__).parents[2] / ".github" / "actions" / "validate"


def ran(tmp_path: Path, tables: list[str], **settings: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "TABLES": "\n".join([*tables, ""]), **settings}
    command = ["bash", str(ACTION / "validate.sh")]
    return subprocess.run(command, env=environment, cwd=tmp_path, check=False, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("names", "settings", "code", "broken"),
    [
        (["right"], {}, 0, 0),
        (["right", "broken"], {}, 1, 1),
        (["broken", "nothing"], {}, 2, 2),
        (["right"], {"AT_MOST": "compaction=1s logs=50"}, 1, 1),
    ],
)
def test_the_script_ends_with_the_gravest_code(
    names: list[str], settings: dict[str, str], code: int, broken: int, tmp_path: Path
) -> None:
    good_table(tmp_path / "right")
    BAD["log-gone"].do(good_table(tmp_path / "broken"))
    out = tmp_path / "output"
    done = ran(tmp_path, [str(tmp_path / name) for name in names], GITHUB_OUTPUT=str(out), **settings)
    assert done.returncode == code, done.stdout + done.stderr
    assert out.read_text() == f"broken={broken}\n"
    assert len([*(tmp_path / "nbcc-reports").iterdir()]) == len(names)
    if names == ["right", "broken"]:
        reports = [json.loads((tmp_path / f"nbcc-reports/{n}.sarif").read_text()) for n in (1, 2)]
        assert [len(report["runs"][0]["results"]) for report in reports] == [0, 1]


def test_the_action_passes_its_inputs_to_the_script() -> None:
    action, script = ((ACTION / name).read_text("utf-8") for name in ("action.yml", "validate.sh"))
    inputs = set(re.findall(r"^  ([a-z-]+):$", action.partition("outputs:")[0], re.MULTILINE))
    assert inputs == set(re.findall(r"inputs\.([a-z-]+)", action))
    passed = set(re.findall(r"^        ([A-Z_]+): \$\{\{ inputs", action, re.MULTILINE)) - {"PACKAGE"}
    assert passed == {"TABLES", "AT_MOST", "FORMAT"}
    assert all(f"${name}" in script or f"${{{name}" in script for name in passed)
