"""What commands print fits a terminal of 80 columns, and completion offers the names that commands take."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from click import Context, Parameter

from nbcc.engine.table import Table
from nbcc.simulator.cli import names
from nbcc.simulator.cli.main import COMMANDS, nbcc

ROOT = Path(__file__).parents[2]
OPTIONS = "hoodie.write.concurrency.mode=OPTIMISTIC_CONCURRENCY_CONTROL\nhoodie.write.lock.provider=x\n"
PRINTED = (
    "inspect T", "inspect T --all", "validate T", "why T k", "table T stats", "table T timeline", "table T partitions",
    "table T compact --dry-run", "table T clean --dry-run", "verdicts --options O", "simulate two-pipelines",
    "explain NBCC", "explain hoodie.index.type", "explain occ", "replay 46-write-skew", "list worlds", "list promises",
    "doctor",
)  # fmt: skip


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("w")
    schema = pa.schema([("id", pa.string()), ("day", pa.string()), ("ts", pa.int64())])
    made = Table.create(None, folder / "t", schema, record_key="id", ordering_fields="ts", partition_by="day")
    for ts in range(4):
        rows = {"id": ["k", f"j{ts}"], "day": ["2026-11-29", "2026-11-30"], "ts": [ts, ts]}
        made.upsert(pa.table(rows, schema=schema))
        if ts == 1:
            made.compact()
    made.schedule_compaction()
    (folder / "o.properties").write_text(OPTIONS)
    return folder


def on_terminal(command: list[str], folder: Path, columns: int = 80) -> list[str]:
    """Return the lines that a command prints on a terminal of so many columns."""
    main, other = pty.openpty()
    termios.tcsetwinsize(other, (40, columns))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    ran = subprocess.Popen(
        [sys.executable, "-c", "from nbcc.simulator.cli.main import main; main()", *command],
        stdout=other, stderr=subprocess.DEVNULL, cwd=folder, env=environment,
    )  # fmt: skip
    os.close(other)
    text = b"".join(_read(main))
    ran.wait()
    os.close(main)
    return text.decode("utf-8").replace("\r\n", "\n").split("\n")


def _read(terminal: int) -> Iterator[bytes]:
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # how Linux reports the end of a terminal
            return
        if not part:
            return
        yield part


@pytest.mark.parametrize("command", PRINTED)
def test_it_fits_80_columns(command: str, table: Path) -> None:
    given = {"T": "t", "O": "o.properties"}
    lines = on_terminal([given.get(word, word) for word in command.split()], table)
    assert len(lines) > 1
    too_wide = [line for line in lines if len(line) > 80 and max(map(len, line.split())) <= 76]
    assert too_wide == []


def test_json_and_wide_terminals_are_not_folded(table: Path) -> None:
    assert max(map(len, on_terminal(["validate", "t", "--json"], table))) > 80
    assert max(map(len, on_terminal(["simulate", "two-pipelines"], table, columns=200))) > 80


def completed(command: str, parameter: str, incomplete: str) -> list[str]:
    """Return what a shell offers after the incomplete word."""
    found = nbcc.get_command(Context(nbcc), command)
    assert found is not None
    given: Parameter = next(each for each in found.params if each.name == parameter)
    return [item.value for item in given.shell_complete(Context(found), incomplete)]


def test_completion_offers_worlds_protocols_and_runs() -> None:
    assert completed("explore", "world", "conditional_d") == ["conditional_delete"]
    assert completed("check", "protocol", "hudi-r") == ["hudi-rs-0.5.0"]
    assert completed("replay", "trace", "46-") == ["46-write-skew"]
    assert "two-pipelines" in completed("simulate", "scenario", "two")
    assert completed("explain", "name", "SNA") == ["SNAP"]
    assert completed("explore", "world", "my/own.toml") == ["my/own.toml"], "a file"
    assert {"explore", "check", "replay", "explain"} <= {*COMMANDS}
    assert {*names.KINDS} < {*names.COMPLETED}
