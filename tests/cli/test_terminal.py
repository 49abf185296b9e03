"""Text of strangers on a terminal: no command lets a name or value move the cursor or forge a line."""

from __future__ import annotations

import ast
import json
import sys
import unicodedata
import warnings
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.config.properties import decode_properties, encode_properties
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.table import Table
from nbcc.engine.terminal import printable
from nbcc.engine.timeline.container import decode_record, encode_record
from nbcc.simulator.cli.main import COMMANDS as COMMANDS_OF_NBCC
from nbcc.simulator.cli.main import main, run
from nbcc.simulator.cli.prove import report
from nbcc.simulator.search.prove.lemmas import LEMMAS
from nbcc.simulator.search.prove.proof import LemmaVerdict, Proof
from nbcc.simulator.search.prove.reachable import BreakingRun

ROOT = Path(__file__).parents[2]
FORGED = "OK: forged"
ODD = f"\x1b[31m\n{FORGED}\n\r\x9b2J\u202e"
COMMANDS = (
    "inspect T", "inspect T --all", "inspect T --json", "validate T", "validate T --json", "validate T --deep",
    "why T k", "why T k --json", "why T k --partition P", "table T timeline", "table T stats", "table T plans",
    "table T partitions", "table T orphans", "table T orphans --json", "table T compact --dry-run",
    "table T clean --dry-run", "serve T --once", "simulate --from T", "verdicts --options T/.hoodie/hoodie.properties",
)  # fmt: skip


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table in whose partition, file names and properties a stranger has written."""
    folder = tmp_path_factory.mktemp("strangers") / "t"
    schema = pa.schema([("id", pa.string()), ("part", pa.string()), ("ts", pa.int64())])
    table = Table.create(None, folder, schema, record_key="id", ordering_fields="ts", partition_by="part", buckets=1)
    table.upsert(pa.table({"id": ["k", "j"], "part": ["p", "q"], "ts": [1, 1]}, schema=schema))
    [log] = (path for path in folder.glob("*p/.*.log.*") if not path.name.endswith(".crc"))
    for name in (f"part={ODD}", f"p{ODD}"):
        (folder / name).mkdir()
        (folder / name / ".hoodie_partition_metadata").write_text("commitTime=1\n")
        (folder / name / log.name).write_bytes(log.read_bytes())
        (folder / name / f"{ODD}.parquet").write_bytes(b"PAR1")
    (log.parent / f"{log.name}{ODD}").write_bytes(b"x")
    (folder / ".hoodie" / "timeline" / f"20260101000000000.deltacommit{ODD}").write_bytes(b"x")
    values = decode_properties((folder / PROPERTIES).read_bytes())
    (folder / PROPERTIES).write_bytes(encode_properties({**values, f"hoodie.odd{ODD}": ODD}))
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_stranger_may_forge(
    command: str, hostile: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"T": str(hostile), "P": f"p{ODD}", "T/.hoodie/hoodie.properties": str(hostile / PROPERTIES)}
    run([given.get(word, word) for word in command.split()])
    check(capsys)


def check(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing that was printed moves the cursor, or is a line that a stranger wrote."""
    out, err = capsys.readouterr()
    lines = (out + err).split("\n")
    assert "a bug in nbcc" not in err
    assert not [line for line in lines if line.strip().startswith(FORGED)]
    assert [line for line in lines if any(unicodedata.category(each) in ("Cc", "Cf") for each in line)] == []


def test_properties_and_commits_of_strangers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = pa.schema([("id", pa.string()), ("ts", pa.int64())])
    table = Table.create(None, tmp_path / "t", schema, record_key="id", ordering_fields="ts", buckets=1)
    table.upsert(pa.table({"id": ["k"], "ts": [1]}, schema=schema))
    there = tmp_path / "t" / PROPERTIES
    whole = there.read_bytes()
    commands = ("inspect T", "why T k", "validate T", "table T stats", "serve T --once")

    def try_all() -> None:
        for command in commands:
            run([str(tmp_path / "t") if word == "T" else word for word in command.split()])
            check(capsys)

    for name in (*decode_properties(whole), "hoodie.table.metadata.partitions", "nbcc.merge.function"):
        there.write_bytes(encode_properties({**decode_properties(whole), name: ODD}))
        try_all()
    there.write_bytes(whole)
    [commit] = (tmp_path / "t" / ".hoodie" / "timeline").glob("*.deltacommit")
    record = decode_record(commit.read_bytes(), commit.name)
    record["operationType"] = ODD
    [[stat]] = record["partitionToWriteStats"].values()
    stat["path"] = stat["fileId"] = ODD
    commit.write_bytes(encode_record("commit", record))
    try_all()


@pytest.mark.parametrize("field", ["title", "because", "verdict", "promise", "handle", ODD, "name", "actor", "value"])
def test_a_trace_of_a_stranger(field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = json.loads(sorted((ROOT / "specs" / "traces").glob("*.json"))[5].read_text("utf-8"))
    places = {"name": [trace["world"]], "actor": trace["steps"], "value": trace["rows"]}
    for place in places.get(field, [trace]):
        place[field] = ODD
    path = tmp_path / f"{ODD.replace('/', '')}.json"
    path.write_text(json.dumps(trace), "utf-8")
    for options in ([], ["--json"], ["--on", "engine"]):
        run(["replay", str(path), *options])
        check(capsys)


def test_names_of_strangers_as_arguments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # `nbcc init` writes files
    for command in COMMANDS_OF_NBCC:
        if command != "demo":
            run([command, ODD])
            check(capsys)
    options = (["explore", "demo", "--protocol", ODD], ["explore", f"{ODD}:f"], ["check", "--on", f"{ODD}:f"])
    for arguments in (*options, ["inspect", f"--{ODD}"]):
        run(arguments)
        check(capsys)


@pytest.mark.parametrize("odd", [f"about = {json.dumps(ODD)}", f"{json.dumps(ODD)} = 1", f"name = {json.dumps(ODD)}"])
def test_worlds_protocols_and_scenarios_of_strangers(
    odd: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{ODD}.toml"
    path.write_text(f"format = 1\n{odd}\n[table]\nbuckets = 1\n[actors]\nwriter = 1\n", "utf-8")
    for command in ("explore", "check --examples 1", "simulate", "explain", "explore demo --protocol"):
        run([*command.split(), str(path)])
        check(capsys)


def test_a_warning_is_one_line_without_source(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    monkeypatch.setattr("sys.stdout", sys.stdout)
    monkeypatch.setattr("nbcc.simulator.cli.main.run", lambda arguments: warnings.warn(ODD, stacklevel=1) or 0)
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().err == f"Warning: {printable(ODD)}\n"


def test_a_line_stays_one_line() -> None:
    assert printable("plain text, 東京 and 💥") == "plain text, 東京 and 💥"
    assert printable(f"a{ODD}") == "a\\u001b[31m\\u000aOK: forged\\u000a\\u000d\\u009b2J\\u202e"


def test_one_function_of_the_command_line_prints() -> None:
    for path in (ROOT / "simulator" / "cli").rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        echoes = [call.lineno for call in calls if ast.unparse(call.func) in ("click.echo", "click.secho", "print")]
        assert len(echoes) == (path.name == "command.py"), path


def test_on_a_narrow_terminal_a_long_line_takes_several_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nbcc.simulator.trace_text.screen_width", lambda: 60)
    assert run(["explore", "demo", "--protocol", "requested-time-slicing", "--promise", "SNAP"]) == 1
    shown = capsys.readouterr().out
    assert "\\u000a" not in shown
    assert shown.startswith("VIOLATED  SNAP  snapshot at c2")
    assert all(len(line) <= 60 for line in shown.partition("\n\n")[0].splitlines())


def test_a_reachable_run_is_reported_in_two_lines() -> None:
    part = LemmaVerdict(LEMMAS[0], runs=(BreakingRun("demo", "SNAP", 3, "a row is lost"),), searched=True)
    assert [*report(Proof("default", (part,)))][-2:] == [
        "  a reachable run breaks SNAP in 3 steps: a row is lost",
        "    nbcc explore demo --protocol default --promise SNAP",
    ]
