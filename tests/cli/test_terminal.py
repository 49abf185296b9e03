"""Text of strangers on a terminal: no command lets a name or value move the cursor or forge a line."""

from __future__ import annotations

import ast
import unicodedata
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc.engine.config.properties import decode_properties, encode_properties
from nbcc.engine.definition.load import PROPERTIES
from nbcc.engine.table import Table
from nbcc.engine.terminal import printable
from nbcc.simulator.cli.main import run

ROOT = Path(__file__).parents[2]
FORGED = "OK: fine"
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
    out, err = capsys.readouterr()
    lines = (out + err).split("\n")
    assert "a bug in nbcc" not in err
    assert FORGED not in [line.strip() for line in lines]
    assert [line for line in lines if any(unicodedata.category(each) in ("Cc", "Cf") for each in line)] == []


def test_a_line_stays_one_line() -> None:
    assert printable("plain text, 東京 and 💥") == "plain text, 東京 and 💥"
    assert printable(f"a{ODD}") == "a\\u001b[31m\\u000aOK: fine\\u000a\\u000d\\u009b2J\\u202e"


def test_one_function_of_the_command_line_prints() -> None:
    for path in (ROOT / "simulator" / "cli").rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
        echoes = [call.lineno for call in calls if ast.unparse(call.func) in ("click.echo", "click.secho", "print")]
        assert len(echoes) == (path.name == "command.py"), path

