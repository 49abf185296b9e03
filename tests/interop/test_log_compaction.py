"""Apache Hudi log-compacts its own table and one of nbcc, and both read the result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nbcc import Table
from nbcc.simulator.audit import validate
from nbcc.simulator.lockstep.peers.process import peer
from tests.builders.pending import Write, batch_of, make_versioned_table

from .readers import NEWEST, Rows, by_bundle, by_hudi_rs

Ask = Callable[..., Any]
PARTITION = "p0"
TWO = {"hoodie.log.compaction.enable": "true", "hoodie.log.compaction.blocks.threshold": "2"}
"""Hudi log-compacts only slices with at least that many blocks."""
MODES = ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ask(tmp_path: Path, mode: str) -> Iterator[Ask]:
    """The steps of the peer on a table of its own."""
    process = peer("hudi")
    process.ask("create", str(tmp_path), merge_mode=mode, buckets=1, partitions=[PARTITION], more=TWO)
    yield lambda step, **arguments: process.ask(step, str(tmp_path), **arguments)
    process.ask("forget", str(tmp_path))


def row(key: str, ordering: int, value: str, deleted: bool = False) -> list[Any]:
    return [key, PARTITION, ordering, value, deleted]


def write(ask: Ask, actor: str, *rows: list[Any]) -> None:
    ask("start", actor=actor)
    ask("data", actor=actor, rows=rows)
    ask("commit", actor=actor)


def log_compact(ask: Ask, meanwhile: Callable[[], Any] = lambda: None) -> str:
    instant = ask("plan_log_compaction", actor="logc1")
    ask("log_compact", actor="logc1", instant=instant)
    meanwhile()
    ask("commit_log_compaction", actor="logc1")
    return str(instant)


def ours(folder: Path) -> Rows:
    return {(row["id"], row["ts"], row["value"]) for row in Table.open(None, str(folder)).snapshot().to_pylist()}


def test_who_reads_a_table_that_hudi_has_log_compacted_agrees(ask: Ask, tmp_path: Path, mode: str) -> None:
    """A tie, a delete that wins, a delete that loses, and a delete against a late row."""
    hudi = by_bundle(NEWEST)
    write(ask, "w1", row("tie", 5, "old"), row("gone", 5, "x"), row("kept", 5, "x"))
    write(ask, "w2", row("gone", 6, "x", deleted=True), row("kept", 4, "x", deleted=True))
    write(ask, "w3", row("tie", 5, "new"))
    before = hudi(tmp_path)
    assert before == ours(tmp_path) == by_hudi_rs(tmp_path)

    instant = log_compact(ask)

    assert f"{instant}_" in " ".join(name for name in ask("look")["timeline"] if name.endswith(".deltacommit"))
    assert hudi(tmp_path) == ours(tmp_path) == by_hudi_rs(tmp_path) == before
    write(ask, "w4", row("gone", 5, "late"))
    back = {("gone", 5, "late")} if mode == MODES[1] else set()
    assert hudi(tmp_path) == ours(tmp_path) == by_hudi_rs(tmp_path) == before | back


@pytest.mark.parametrize("input_requested", ["after it", "before it"])
def test_a_write_across_it_is_overwritten_only_if_an_input_was_requested_after_it(
    ask: Ask, tmp_path: Path, input_requested: str
) -> None:
    """Hudi reads the output of a log compaction where its newest input was. An acknowledged write that was requested
    before that input loses to older rows: every such write by commit time, a tie by event time.
    """
    hudi = by_bundle(NEWEST)
    late = input_requested == "after it"

    def across() -> None:
        ask("commit", actor="w2")
        assert ("a", 5, "across") in hudi(tmp_path)

    write(ask, "w1", row("a", 5, "first"))
    if not late:
        write(ask, "w3", row("b", 5, "first"))
    ask("start", actor="w2")
    ask("data", actor="w2", rows=[row("a", 5, "across")])
    if late:
        write(ask, "w3", row("b", 5, "first"))

    log_compact(ask, meanwhile=across)

    expected = {("a", 5, "first" if late else "across"), ("b", 5, "first")}
    assert hudi(tmp_path) == expected
    # nbcc reads the output where the log compaction was requested, behind every input: a difference from Hudi.
    assert ours(tmp_path) == {("a", 5, "first"), ("b", 5, "first")}


def test_hudi_log_compacts_a_table_of_ours(tmp_path: Path) -> None:
    """nbcc reads its log as that of a write that completes then. `validate` reports the other engine."""
    table = make_versioned_table(tmp_path / "t", "9")
    table.upsert(batch_of([(PARTITION, "k1", 5, "a"), (PARTITION, "k2", 5, "b")]))
    table.upsert(batch_of([(PARTITION, "k1", 6, "c"), (PARTITION, "k2", 7, None)]))
    process, folder = peer("hudi"), str(tmp_path / "t")
    process.ask("open", folder, merge_mode=MODES[0], buckets=2, partitions=[PARTITION], more=TWO)
    try:
        log_compact(lambda step, **arguments: process.ask(step, folder, **arguments))
    finally:
        process.ask("forget", folder)

    hudi = by_bundle(NEWEST)
    table = Table(table.context, table.config)
    assert hudi(tmp_path / "t") == ours(tmp_path / "t") == {("k1", 6, "c")}
    found = validate(table.context.storage)
    assert ("marks-disagree", "AT RISK") in {(each.rule, each.gravity) for each in found.diagnostics}
    Write(table, (PARTITION, "k2", 6, "late")).commit()
    assert hudi(tmp_path / "t") == ours(tmp_path / "t") == {("k1", 6, "c")}
