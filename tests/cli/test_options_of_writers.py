"""From a writer's options to the row of the matrix that applies to it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from nbcc.simulator.cli.main import nbcc
from nbcc.simulator.lockstep.accepted import promises_of
from nbcc.simulator.lockstep.findings import shown_broken
from nbcc.simulator.search.options import _rules, judge, judge_writer

TABLE = {"hoodie.datasource.write.table.type": "MERGE_ON_READ", "hoodie.index.type": "BUCKET"}
MODE = "hoodie.write.concurrency.mode"
NON_BLOCKING = {**TABLE, MODE: "NON_BLOCKING_CONCURRENCY_CONTROL"}
OPTIMISTIC = {**TABLE, MODE: "optimistic_concurrency_control"}
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
POLICY = "hoodie.clean.failed.writes.policy"
PROVIDER = "hoodie.write.lock.provider"
CLASSES = "org.apache.hudi.client.transaction."
BY_BUCKET = f"{CLASSES}BucketIndexConcurrentFileWritesConflictResolutionStrategy"
IN_PROCESS = f"{CLASSES}lock.InProcessLockProvider"
FILE_LOCK = f"{CLASSES}lock.FileSystemBasedLockProvider"
ROWS = [case["row"] for case in _rules()["rows"]]


@pytest.mark.parametrize(
    ("options", "row"),
    [
        (NON_BLOCKING, "hudi-1.2.0"),
        (TABLE, "hudi-1.2.0-single-writer"),
        ({**TABLE, POLICY: "LAZY"}, "hudi-1.2.0-single-writer"),
        ({**TABLE, POLICY: "NEVER"}, None),
        (OPTIMISTIC, "hudi-1.2.0-occ"),
        ({**OPTIMISTIC, STRATEGY: BY_BUCKET}, "hudi-1.2.0-occ"),
        ({**OPTIMISTIC, STRATEGY: f"{CLASSES}PreferWriterConflictResolutionStrategy"}, None),
        ({**OPTIMISTIC, STRATEGY: "my.Strategy"}, None),
        ({**OPTIMISTIC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}, "hudi-1.2.0-occ"),
        ({**OPTIMISTIC, "hoodie.write.table.version": "6"}, None),
        ({**TABLE, "hoodie.write.table.version": "6"}, None),
        ({"hoodie.table.name": "t"}, None),
        ({MODE: "OPTIMISTIC_CONCURRENCY_CONTROL"}, None),
        ({**NON_BLOCKING, "hoodie.index.type": "BLOOM"}, None),
        ({**NON_BLOCKING, "hoodie.datasource.write.table.type": "COPY_ON_WRITE"}, None),
        ({**NON_BLOCKING, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}, None),
        ({**NON_BLOCKING, "hoodie.record.merge.mode": "CUSTOM"}, None),
        ({"hoodie.datasource.write.payload.class": "org.apache.hudi.common.model.PartialUpdateAvroPayload"}, None),
        ({MODE: "SOME"}, None),
        ({"hoodie.table.type": "MOR"}, None),
        ({**TABLE, "hoodie.index.type": "BUKET"}, None),
        ({**TABLE, POLICY: "LASY"}, None),
    ],
)  # fmt: skip
def test_a_writers_row(options: dict[str, str], row: str | None) -> None:
    found = judge_writer("w", options)
    assert found.row == row
    assert found.decided
    assert bool(found.because) == (row is None)


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [
        ("hoodie.write.concurency.mode", MODE),
        ("hoodie.write.concurrency.mod", MODE),
        ("hoodie.concurrency.mode", MODE),
        ("Hoodie.Write.Concurrency.Mode", MODE),
        ("write.concurrency.mode", MODE),
        ("hodie.write.concurrency.mode", MODE),
        ("hoodie.index.typ", "hoodie.index.type"),
        ("hoodie.table.types", "hoodie.table.type"),
        ("hoodie.write.lock.providr", PROVIDER),
        ("hoodie.cleaner.policy.failed.write", "hoodie.cleaner.policy.failed.writes"),
    ],
)
def test_a_misspelt_option_that_would_decide_has_no_verdict(misspelt: str, meant: str, tmp_path: Path) -> None:
    path = tmp_path / "w.json"
    path.write_text(json.dumps({**TABLE, misspelt: "X"}))
    found = judge([path])
    assert found.row is None
    assert f"{misspelt} is not an option of Hudi, and the row depends on {meant}" in found.because
    assert (misspelt, meant) in found.writers[0].unknown
    assert run("--options", str(path)).return_value == 3


def test_options_that_decide_nothing_are_named_if_hudi_does_not_have_them() -> None:
    found = judge_writer("w", {**NON_BLOCKING, "hoodie.something.else": "1", "hoodie.keep.max": "9"})
    assert (found.row, found.unknown) == ("hudi-1.2.0", (("hoodie.something.else", ""),))
    real = ("hoodie.index.bucket.engine", "hoodie.write.lock.zookeeper.url", "hoodie.bucket.index.num.buckets",
            "hoodie.write.concurrency.early.conflict.detection.strategy", "hoodie.table.cdc.enabled",
            "hoodie.write.lock.wait_time_ms", "hoodie.write.lock.num_retries", "hoodie.table.version")  # fmt: skip
    assert not judge_writer("w", dict.fromkeys(real, "X")).unknown


def run(*arguments: str) -> Any:
    return CliRunner().invoke(nbcc, ["verdicts", *arguments], standalone_mode=False)


def files(folder: Path, *writers: dict[str, str]) -> list[str]:
    paths = [folder / f"w{number}.json" for number, _ in enumerate(writers, 1)]
    for path, options in zip(paths, writers, strict=True):
        path.write_text(json.dumps(options))
    return [str(path) for path in paths]


@pytest.mark.parametrize(
    ("one", "other", "because"),
    [
        ({PROVIDER: IN_PROCESS}, {PROVIDER: FILE_LOCK}, "excludes only writers of its own process"),
        ({PROVIDER: IN_PROCESS}, {PROVIDER: IN_PROCESS}, "excludes only writers of its own process"),
        ({PROVIDER: FILE_LOCK}, {}, "do not exclude each other"),
        (
            {PROVIDER: FILE_LOCK, "hoodie.write.lock.filesystem.path": "/a"},
            {PROVIDER: FILE_LOCK, "hoodie.write.lock.filesystem.path": "/b"},
            "their locks are in different places",
        ),
    ],
)
@pytest.mark.parametrize("mode", [NON_BLOCKING, OPTIMISTIC], ids=["non-blocking", "optimistic"])
def test_writers_whose_locks_do_not_exclude_each_other_have_no_row(
    mode: dict[str, str], one: dict[str, str], other: dict[str, str], because: str, tmp_path: Path
) -> None:
    paths = files(tmp_path, {**mode, **one}, {**mode, **other})
    assert because in judge(paths).because
    ended = run("--options", *paths)
    assert ended.return_value == 3
    assert "UNDETERMINED: " in ended.output


def test_the_lock_and_what_hudi_makes_of_the_policy_are_printed(tmp_path: Path) -> None:
    both = {**NON_BLOCKING, PROVIDER: FILE_LOCK, POLICY: "EAGER"}
    ended = run("--options", *files(tmp_path, both, both))
    assert ended.return_value == 0
    assert f"decided by {PROVIDER} = {FILE_LOCK}" in ended.output
    assert f"Hudi turns {POLICY} = EAGER to LAZY in this mode" in ended.output
    ended = run("--options", *files(tmp_path, {**NON_BLOCKING, PROVIDER: IN_PROCESS}))
    assert "excludes only writers of its own process: the row assumes that there is one" in ended.output
    ended = run("--options", *files(tmp_path, {**TABLE, POLICY: "EAGER"}))
    assert "a second job rolls back the pending write of the first" in ended.output


@pytest.mark.parametrize("row", ROWS)
def test_a_row_of_hudi_keeps_nothing_that_a_finding_shows_broken(row: str, tmp_path: Path) -> None:
    options = {"hudi-1.2.0": NON_BLOCKING, "hudi-1.2.0-occ": OPTIMISTIC, "hudi-1.2.0-single-writer": TABLE}[row]
    ended = run("--options", *files(tmp_path, options))
    [kept] = re.findall(r"^  kept in the searched worlds of the model: (.*)$", ended.output, re.MULTILINE)
    broken = shown_broken("hudi-1.2.0")
    assert {"ATOM", "FREE", "KEY", "ACK", "SNAP", "INCR"} <= broken.keys()
    assert not {*kept.split(", ")} & broken.keys()
    for promise in broken:
        assert promises_of(row)[promise].verdict in ("VIOLATED", "UNDETERMINED", "NOT_APPLICABLE")
        assert row != "hudi-1.2.0" or promises_of(row)[promise].verdict == "VIOLATED"


def test_writers_that_disagree_have_no_row(tmp_path: Path) -> None:
    one, other = tmp_path / "a.properties", tmp_path / "b.json"
    one.write_text("".join(f"{option}={value}\n" for option, value in NON_BLOCKING.items()))
    other.write_text(json.dumps(OPTIMISTIC))
    assert judge([one, one]).row == "hudi-1.2.0"
    found = judge([one, other])
    assert found.row is None
    assert "disagree" in found.because
    ended = run("--options", str(one), str(other))
    assert ended.return_value == 3
    assert "UNDETERMINED: the writers disagree" in ended.output
    ended = run("--options", str(one), "--json")
    assert ended.return_value == 0
    assert json.loads(ended.output)["row"] == "hudi-1.2.0"
    assert json.loads(ended.output)["promises"]["INCR"] == "VIOLATED"
    assert json.loads(ended.output)["promises"]["MONO"] == "VIOLATED"  # by a test of a finding
    ended = run("--options", str(one))
    assert re.search(r"^  breaks .*INCR \(6 steps\)", ended.output, re.MULTILINE)
    assert re.search(r"^  broken on Hudi by a test, not in a search: .*MONO", ended.output, re.MULTILINE)


def test_a_file_without_options_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.properties"
    path.write_text("a=b\n")
    with pytest.raises(ValueError, match="has no option"):
        judge([path])
    path.write_text("{")
    with pytest.raises(ValueError, match="is not JSON"):
        judge([path])
