"""What a mistake of the user's is answered with: one message, nothing on standard output, exit code 2."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nbcc.simulator.cli.main import run
from nbcc.simulator.cli.outcome import Exit

from .snapshots import matches

ROOT = Path(__file__).parents[2]
MISTAKES = (
    "explore",
    "explore dmo",
    "explore missing.toml",
    "explore broken.toml",
    "explore no_text.toml",
    "explore no_table.toml",
    "explore nobody.toml",
    "explore unknown_field.toml",
    "explore demo --protocol requested-slicing",
    "explore demo --protocol odd.toml",
    "explore demo --promise SNAPSHOT",
    "explore examples.two_phase_commit:TwoPhaseCommit --promise SNAP",
    "explore demo --max-states none",
    "check demos",
    "check demo --on engin",
    "check demo --on missing.module:factory",
    "check demo --time soon",
    "replay 123456",
    "replay not_json.json",
    "replay no_trace.json",
    "replay no_object.json",
    "replay no_steps.json",
    "replay no_text.json",
    "replay other_promise.json",
    "replay old.json --html old.json",
    "validate no_object.json",
    "replay old.json",
    "list words",
    "demo --protocol requested",
    "explian SNAP",
)
FILES = {
    "broken.toml": "format = 1\n[actors\n",
    "unknown_field.toml": "format = 1\n[limits]\ncompaction = 1\n",
    "odd.toml": "format = 1\nslicing = 'completed'\n",
    "not_json.json": "{",
    "no_trace.json": '{"format": 1}',
    "old.json": '{"format": 0}',
    "no_text.toml": "about = '\udcff'",
    "no_table.toml": "format = 1\nactors = 3\n",
    "nobody.toml": "format = 1\n[actor.w9]\nconcurrency = 'occ'\n",
    "no_object.json": "[]",
    "no_steps.json": '{"format": 1, "world": {}, "protocol": {}, "steps": [1]}',
    "no_text.json": "\udcff",
    "other_promise.json": '{"format": 1, "world": {}, "protocol": {}, "steps": [], "promise": "SNAPS"}',
}


def test_mistakes_are_answered_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text, encoding="utf-8", errors="surrogateescape")
    told = []
    for mistake in MISTAKES:
        code = run(mistake.split())
        out, err = capsys.readouterr()
        assert code == Exit.BAD_INPUT, (mistake, err)
        assert out == "", mistake
        told.append(f"$ nbcc {mistake}\n{err}")
    # A new name is not a new message.
    text = re.sub(r"known: .*", "known: ...", re.sub(r"prints all \d+", "prints all N", "\n".join(told)))
    matches("mistakes.txt", text.replace(str(ROOT), "<nbcc>"))
