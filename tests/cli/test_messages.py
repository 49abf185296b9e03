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
    "explore no-such-actor.toml",
    "explore unknown_field.toml",
    "explore many_actors.toml",
    "explore many_kinds.toml",
    "explore many_groups.toml",
    "explore many_writes.toml",
    "explore deep.toml",
    "explore forged.toml",
    "explore os:system",
    "explore os:getcwd",
    "explore demo --workers 2",
    "verdicts --workers 99999999999",
    "explore demo --protocol requested-slicing",
    "explore demo --protocol odd.toml",
    "explore demo --promise SNAPSHOT",
    "explore examples.two_phase_commit:TwoPhaseCommit --promise SNAP",
    "explore demo --max-states none",
    "check demos",
    "check demo --on engin",
    "check demo --on missing.module:factory",
    "check demo --on os:system",
    "check demo --on factories:number --examples 1",
    "check many_actors.toml",
    "check demo --time soon",
    "replay 123456",
    "replay not_json.json",
    "replay no_trace.json",
    "replay no_object.json",
    "replay no_steps.json",
    "replay no_text.json",
    "replay cycle.json",
    "replay title.json",
    "replay arguments.json",
    "replay ordering.json",
    "replay many_actors.json",
    "replay deep.json",
    "replay forged.json",
    "simulate two-pipelines --mode single --hours 0.01 --plot empty.png",
    "replay other_promise.json",
    "replay old.json --html old.json",
    "validate no_object.json",
    "replay old.json",
    "list wordings",
    "demo --protocol requested",
    "explian SNAP",
)
TRACE = '{"format": 1, "world": {}, "protocol": {}, "steps": []'
FILE = '"actor": "w1", "write": 1, "group": 0, "version": 1'
ROW = f'{{{FILE}, "key": "a", "ordering": "x", "value": "", "deleted": false}}'
FILES = {
    "broken.toml": "format = 1\n[actors\n",
    "unknown_field.toml": "format = 1\n[limits]\ncompaction = 1\n",
    "odd.toml": "format = 1\nslicing = 'completed'\n",
    "not_json.json": "{",
    "no_trace.json": '{"format": 1}',
    "old.json": '{"format": 0}',
    "no_text.toml": "about = '\udcff'",
    "no_table.toml": "format = 1\nactors = 3\n",
    "no-such-actor.toml": "format = 1\n[actor.w9]\nconcurrency = 'occ'\n",
    "many_actors.toml": "format = 1\n[actors]\nwriter = 1000000000\n",
    "many_kinds.toml": "format = 1\n[actors]\nwriter = 10\nreader = 9\n",
    "many_groups.toml": "format = 1\n[table]\nbuckets = 99\npartitions = 99\n",
    "many_writes.toml": "format = 1\n[limits]\nwrites_per_writer = 1000000000\n",
    "deep.toml": f"format = 1\na = {'[' * 50_000}",
    "forged.toml": 'format = 1\n[actors]\n"writer\\nHOLDS" = 1\n',
    "forged.json": f'{TRACE}, "title": "a run\\nAGREED \\u001b[31m"}}',
    "deep.json": "[" * 200_000,
    "factories.py": "def number(world, protocol, batches):\n    return 3\n",
    "cycle.json": f'{TRACE}, "cycle": "x"}}',
    "title.json": f'{TRACE}, "title": ["x"]}}',
    "arguments.json": f'{TRACE[:-1]}{{"actor": "w1", "action": "x", "args": {{"a": {{}}}}}}]}}',
    "ordering.json": f'{TRACE}, "rows": [{ROW}]}}',
    "many_actors.json": '{"format": 1, "world": {"actors": {"writer": 1000000000}}, "protocol": {}, "steps": []}',
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
    answers = []
    for mistake in MISTAKES:
        code = run(mistake.split())
        out, err = capsys.readouterr()
        assert code == Exit.BAD_INPUT, (mistake, err)
        assert out == "", mistake
        answers.append(f"$ nbcc {mistake}\n{err}")
    # A new name is not a new message.
    text = re.sub(r"known: .*", "known: ...", re.sub(r"prints all \d+", "prints all N", "\n".join(answers)))
    matches("mistakes.txt", text.replace(str(ROOT), "<nbcc>"))
