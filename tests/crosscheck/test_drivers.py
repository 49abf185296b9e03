"""`nbcc check --system`: an engine in another process, which is asked over a pipe (docs/drivers.md)."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import zlib
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run
from nbcc.simulator.lockstep.peers.json_lines import JsonLines, ProcessEnded
from nbcc.simulator.lockstep.systems.driver import OPTIONAL
from nbcc.testing import driver, machine
from tests.builders.sources import ROOT
from tests.pages.readme import BLOCK, commands

EXAMPLES = ROOT / "examples" / "drivers"
PAGE = ROOT / "docs" / "drivers.md"
PYTHON = shlex.join([sys.executable, str(EXAMPLES / "driver.py")])


@pytest.mark.parametrize(("program", "steps"), [(PYTHON, 13), ("java Driver.java", 12)], ids=["Python", "Java"])
def test_the_planted_bug_of_an_example_is_found_shrunk_and_replayed(
    program: str, steps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)

    assert run(["check", "--system", program, "--examples", "5"]) == 0
    assert run(["check", "--system", f"{program} requested", "--examples", "200", "--html", "run.html"]) == 1

    printed = capsys.readouterr().out
    assert f"\n  {steps} steps" in printed
    assert "DISAGREED" in Path("run.html").read_text("utf-8")
    if program != PYTHON:
        [shown] = [command.shown for command in commands(PAGE) if command.shown]
        assert printed.endswith(shown)
    [again] = re.findall("see it again: nbcc (.*)$", printed, re.MULTILINE)
    assert run(shlex.split(again)) == 1
    assert "DISAGREED, the same was observed" in capsys.readouterr().out


def test_a_tour_takes_every_step_of_a_driver(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "demo", "--tour", "--system", PYTHON]) == 0
    assert "297 of 297 edges" in capsys.readouterr().out
    assert run(["check", "failed_writer", "--tour", "--system", PYTHON]) == 2
    assert "cannot take actor_crashes: the driver has no crash" in capsys.readouterr().err


def test_a_failure_in_pytest_has_a_page(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"see it again: nbcc replay .* --system '.* requested'"):
        machine(driver(f"{PYTHON} requested"), examples=50, traces=tmp_path)()
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".html", ".json"]


def program(folder: Path, step: str) -> str:
    """The command of a driver without a table: `step` is its answer to a step."""
    text = f"""
import json, os, sys
for line in sys.stdin:
    do = json.loads(line)["do"]
    hello = {{"ok": {{"operations": ["upsert"], "verbs": []}}}}
    print(json.dumps(hello if do == "hello" else {{"ok": {{}}}} if do != "step" else {step}), flush=True)
"""
    # A process of a driver lives on: another program needs another name, also in a folder of the same name.
    path = folder / f"program{zlib.crc32(text.encode())}.py"
    path.write_text(text, "utf-8")
    return shlex.join([sys.executable, str(path)])


@pytest.mark.parametrize(
    ("step", "code", "says"),
    [
        ('{"ok": {}}', 0, "not compared: the driver has no timeline"),
        ('{"ok": {}}', 0, "not compared: the driver has no slices"),
        ('{"missing": "cold storage"}', 3, "UNDETERMINED: no history was played"),
        (
            '{"error": "disk full"}',
            1,
            "writer_requests_instant: the model says the step can be taken; the system says disk full",
        ),
        ("os._exit(7)", 1, "the driver was asked for step: it ended with 7"),
        ("[1]", 1, "not a JSON object: '[1]'; standard output is for answers alone"),
        ("{}", 1, "an answer without 'ok', 'error', 'missing' or 'refused'"),
    ],
)
def test_every_answer_has_its_verdict(
    step: str, code: int, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["check", "demo", "--system", program(tmp_path, step), "--examples", "3"]) == code
    assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-program", "No such file or directory"),
        ("false", "it ended with 1"),
        ("cat", "an answer without 'ok'"),
    ],
)
def test_a_program_that_is_not_a_driver_is_bad_input(
    command: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "demo", "--system", command]) == 2
    assert f"the driver '{command}' does not start: " in (error := capsys.readouterr().err)
    assert says in error


def test_a_program_that_does_not_answer_is_ended() -> None:
    process = JsonLines([sys.executable, "-c", "import time; time.sleep(60)"], seconds=0.2)
    with pytest.raises(ProcessEnded, match=r"it gave no answer in 0\.2 s"):
        process.ask({"do": "hello"})
    assert not process.is_running


def test_the_page_shows_what_the_example_answers_and_names_every_verb() -> None:
    text = PAGE.read_text("utf-8")
    [dialogue] = [block["body"] for block in BLOCK.finditer(text) if block["body"].startswith("> ")]
    lines = [(line[0], json.loads(line[2:])) for line in dialogue.splitlines()]
    process = JsonLines(shlex.split(PYTHON))
    for (_, request), (_, answer) in zip(lines[::2], lines[1::2], strict=True):
        assert process.ask(request) == answer, request
    process.close()
    named = re.findall(r"^\| `(\w+)` \| [^|]*\| [^|]*\| [^|]*\|$", text, re.MULTILINE)
    assert set(named) == {"hello", "new", "start", "step", *OPTIONAL}


def test_the_commands_of_the_workflow_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    workflow = (EXAMPLES / "workflow.yml").read_text("utf-8").replace("${{ github.run_number }}", "1")
    [random, tour] = re.findall(r"run: nbcc (check .*)", workflow)
    assert run(shlex.split(random.replace("500", "2"))) == 0
    assert run([*shlex.split(tour), "--share", "0.05"]) == 0
