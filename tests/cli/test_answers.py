"""Each command with ``--json`` prints an answer that its JSON Schema accepts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator

from nbcc.simulator.answers import ANSWERS
from nbcc.simulator.cli.main import nbcc, run
from nbcc.simulator.schemas import schemas
from tests.builders.tables import tick

from ..inspect.golden import BAD, good_table, instant, log, rename

TRACES = Path(__file__).parents[2] / "specs" / "traces"
MINE = 'format = 1\nabout = "Plans take any log."\nextends = "default"\nplan_takes = "any_log"\n'
OPTIONS = "hoodie.write.concurrency.mode=NON_BLOCKING_CONCURRENCY_CONTROL\nhoodie.write.concurency.mode=OCC\n"


def commands(group: click.Group, *path: str) -> Iterator[str]:
    """The names of all commands with --json."""
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        if isinstance(found, click.Group):
            yield from commands(found, *path, name)
        elif any(each.name == "as_json" for each in found.params):
            yield " ".join((*path, name))


@cache
def validator(command: str) -> Draft202012Validator:
    return Draft202012Validator({**schemas()["answers"], "$ref": f"#/$defs/{command.replace(' ', '-')}"})


def check(command: str, document: Any) -> None:
    assert [error.message for error in validator(command).iter_errors(document)] == []
    for trace in [document.get("run"), *(each["run"] for each in document.get("explanations", ()))]:
        assert trace is None or Draft202012Validator(schemas()["trace"]).is_valid(trace)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table `t` with a pending plan, `late` with a time to correct and an orphan, and files for other commands."""
    monkeypatch.chdir(tmp_path)
    good_table(tmp_path / "t")
    late = good_table(tmp_path / "late")
    rename(late, instant(10, 11), f".hoodie/timeline/{tick(10)}_29990101000000000.deltacommit")
    orphan = log(3)(late).replace(tick(3), tick(99))
    late.put(orphan, late.get(log(3)(late)))
    late.delete("part=p/.hoodie_partition_metadata")
    for name, text in {"mine.toml": MINE, "writer.properties": OPTIONS}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "traces").mkdir()
    for path in sorted(TRACES.glob("0[1-3]-*.json")):
        (tmp_path / "traces" / path.name).write_bytes(path.read_bytes())
    return tmp_path


CALLS: Mapping[str, tuple[str, ...]] = {
    "doctor": ("",),
    "list": ("worlds", "findings"),
    "explain": ("SNAP", "hoodie.index.type", "log-compaction"),
    "explore": ("demo --max-states 200", "demo --protocol requested-time-slicing"),
    "judge": ("mine.toml --world demo --promise PART --promise FREE --workers 1",),
    "check": ("demo --examples 3", "demo --tour --share 0.01"),
    "replay": ("traces/01-one-write.json --on model --on engine", "traces"),
    "verdicts": ("--options writer.properties",),
    "inspect": ("t", "late"),
    "why": ("t k1", "t k2", "t nothing"),
    "validate": ("t", "late", "traces/01-one-write.json", "t --at-most compaction=1h"),
    "incident": ("t --out i.zip", "i.zip", "late --out l.zip", "l.zip"),
    "simulate": ("two-pipelines --hours 0.05", "two-pipelines --hours 0.05 --mode occ --compact-every 30s"),
    "table stats": ("late",),
    "table timeline": ("t",),
    "table orphans": ("late --quarantine",),
    "table quarantine": ("late",),
    "table partitions": ("late --write",),
    "table retime": (f"late {tick(10)}",),
    "table plans": ("t",),
    "table copy": ("t copied --buckets 2",),
    "table savepoint": ("t",),
    "table log-compact": ("copied", "t"),
    "table compact": ("t --dry-run", "t"),
    "table resize": ("t --buckets 2",),
    "table clean": ("t --retain 1 --dry-run", "t --retain 1"),
    "table archive": ("t --retain 1",),
    "table rollback": ("t",),
    "table restore": ("t",),
    "table cluster": ("copied --sort-by a",),
    "table index": ("copied --dry-run",),
    "table convert": ("copied --decision log",),
    "serve": ("t --once",),
}
"""Command -> arguments of its calls, in an order in which each finds what it needs."""


def call(command: str, arguments: str) -> list[str]:
    group, _, name = command.rpartition(" ")
    table, _, rest = arguments.partition(" ") if group else ("", "", arguments)
    return [*([group, table] if group else []), name, *rest.split(), "--json"]


def test_every_answer_is_valid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command, calls in CALLS.items():
        for arguments in calls:
            code = run(call(command, arguments))
            printed = capsys.readouterr()
            assert code in (0, 1, 3), f"{command} {arguments}: {printed.err}"
            documents = printed.out.splitlines() if command == "serve" else [printed.out]
            for text in documents:
                check(command, json.loads(text))


def test_a_rewritten_log_is_valid(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    storage = good_table(tmp_path / "t")
    BAD["log-left-out-of-a-plan"].do(storage)
    assert run(["table", str(tmp_path / "t"), "rewrite", log(1)(storage), "--json"]) == 0
    check("table rewrite", json.loads(capsys.readouterr().out))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "line",
    ["prove --promise FIRST", "fill --out vectors --size tiny", "verdicts --protocol single-writer --workers 1",
     "verdicts --locks --workers 1", "check demo --seeds 1 --examples 2 --workers 1"],
)  # fmt: skip
def test_answers_of_long_searches(line: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*line.split(), "--json"]) in (0, 1, 3)
    check(line.split(maxsplit=1)[0], json.loads(capsys.readouterr().out))


def test_every_command_with_json_has_a_type_and_is_called() -> None:
    asked = {*commands(nbcc)}
    assert asked == {*ANSWERS}
    assert asked - {*CALLS} == {"fill", "prove", "table rewrite"}, "called by the other tests"


@pytest.mark.parametrize("change", [{"rows": "5"}, {"rows": None}, {"row": 5}, {"format": 2}])
def test_a_wrong_answer_is_not_valid(change: dict[str, Any]) -> None:
    answer = {"format": 1, "rows": 5, "digest": "d", "time": "", "reader": "nbcc", "path": "p", "source": "s"}
    check("table copy", answer)
    assert not validator("table copy").is_valid({**answer, **change})
    assert not validator("table copy").is_valid({name: each for name, each in answer.items() if name != "rows"})
