"""`nbcc serve`: passes over a real table, metrics, and the end by a signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from nbcc import MaintenancePolicy
from nbcc.engine import Table
from nbcc.engine.actions import maintain
from nbcc.engine.errors import LockTimeout
from nbcc.simulator.cli.main import run
from tests.builders.tables import batch


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A table with six writes, none of them compacted."""
    made = Table.create(None, tmp_path / "t", batch().schema, record_key="id", ordering_fields="ts", buckets=1)
    for number in range(6):
        made.upsert(batch((f"k{number % 2}", number, "x")), batch_id=f"q/{number}")
    return made


def path(table: Table) -> str:
    return str(table.context.storage.url).removeprefix("file://")


def test_one_pass_prints_a_line_for_each_action(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", path(table), "--once", "--keep", "1", "--active", "2"]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("compact 2")
    assert "ran, 1 file_groups, 6 logs (because 6 commits)" in first
    assert last.startswith("state: measured, ")
    assert "0 logs_per_slice" in last


def test_a_dry_run_reports_one_pass_as_json_lines(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    there = table.timeline()
    assert run(["serve", path(table), "--dry-run", "--json", "--plan-only"]) == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(record["service"], record["did"]) for record in records] == [
        ("compact", "would plan"), ("state", "measured"),
    ]  # fmt: skip
    assert all(record["format"] == 1 and record["at"] for record in records)
    assert table.timeline() == there


def test_services_can_be_left_out(table: Table, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["serve", path(table), "--once", "--without", "compact", "--log-compact", "2"]) == 0
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["state"]
    assert run(["serve", path(table), "--once", "--compact-commits", "9", "--log-compact", "2"]) == 0
    assert capsys.readouterr().out.startswith("log_compact ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("serve nowhere --once", "there is no .hoodie/hoodie.properties"),
        ("serve nowhere --keep 30", "--keep 30 is not below --active 30"),
        ("serve nowhere --every soon", "'soon' is not a duration; use 90s, 5m or 2h"),
        ("serve nowhere --without compaction", "is not one of 'rollback', 'resize'"),
    ],
)
def test_mistakes_are_one_sentence(
    line: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(line.split()) == 2
    assert message in capsys.readouterr().err


def test_a_failed_pass_is_reported_and_the_next_one_tries_again(
    table: Table, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    passes = iter([LockTimeout("take the lock", "another holds it", "wait"), None])
    before = maintain.steps

    def steps(*given: object) -> object:
        if failure := next(passes):
            raise failure
        os.kill(os.getpid(), signal.SIGTERM)
        return before(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(maintain, "steps", steps)
    assert run(["serve", path(table), "--every", "0.01s"]) == 0
    ran = capsys.readouterr()
    assert "this pass failed, the next begins in 0.01 s: Asked to take the lock" in ran.err
    assert [line[:8] for line in ran.out.splitlines()] == ["compact "], "SIGTERM ends after the action at hand"
    passes = iter([LockTimeout("take the lock", "another holds it", "wait")])
    assert run(["serve", path(table), "--once"]) == 2


def test_leftovers_are_looked_for_once_a_minute(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    policies = list[MaintenancePolicy]()

    def steps(_context: object, _config: object, policy: MaintenancePolicy, _dry_run: bool) -> list[object]:
        policies.append(policy)
        if len(policies) == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return []

    monkeypatch.setattr(maintain, "steps", steps)
    assert run(["serve", path(table), "--every", "0.01s"]) == 0
    assert [policy.collect for policy in policies] == [True, False, False]


def test_a_signal_ends_a_daemon_that_waits(table: Table) -> None:
    start = "from nbcc.simulator.cli.start import main; main()"
    command = [sys.executable, "-c", start, "serve", path(table), "--json", "--every", "1h"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        for line in daemon.stdout:
            if json.loads(line)["service"] == "state":
                break
        daemon.send_signal(signal.SIGTERM)
        _, err = daemon.communicate(timeout=60)
    assert daemon.returncode == 0
    assert err == "stopped by a signal, between two actions\n"
