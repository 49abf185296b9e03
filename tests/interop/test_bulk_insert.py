"""Bulk inserts of Apache Hudi with concurrent non-blocking writers: the findings without a recorded run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nbcc.simulator.lockstep.peers.process import PeerRefused, peer

Ask = Callable[..., Any]
CONFLICT = "HoodieWriteConflictException"


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """The steps of the peer on a table of one bucket and two partitions."""
    process = peer("hudi")
    process.ask("create", str(tmp_path), merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=["p0", "p1"])
    yield lambda step, **arguments: process.ask(step, str(tmp_path), **arguments)
    process.ask("forget", str(tmp_path))


def row(key: str, value: str, part: str = "p0") -> list[Any]:
    return [key, part, 1, value, False]


def write(ask: Ask, actor: str, *rows: list[Any]) -> None:
    ask("start", actor=actor)
    ask("data", actor=actor, rows=rows)
    ask("commit", actor=actor)


def shown(ask: Ask) -> list[tuple[str, str]]:
    return sorted((key, value) for key, _, value, _ in ask("read", kind="snapshot"))


def overtaken(ask: Ask) -> None:
    """A bulk insert puts its base file, a writer completes a log in the same group, Hudi refuses the bulk insert."""
    ask("start", actor="bulk1")
    ask("bulk", actor="bulk1", rows=[row("a", "bulk1")])
    write(ask, "w1", row("b", "w1"))
    with pytest.raises(PeerRefused, match=CONFLICT):
        ask("commit", actor="bulk1")


def test_the_base_file_of_a_refused_bulk_insert_hides_the_row_that_overtook_it(ask: Ask) -> None:
    write(ask, "w0", row("c", "w0", "p1"))
    overtaken(ask)
    assert shown(ask) == [("c", "w0")]
    ask("undo", actor="bulk1")
    assert shown(ask) == [("b", "w1"), ("c", "w0")]


def test_a_refused_bulk_insert_older_than_the_first_commit_is_shown(ask: Ask) -> None:
    overtaken(ask)
    assert shown(ask) == [("a", "bulk1"), ("b", "w1")]


def test_a_bulk_insert_of_logs_is_refused_where_an_upsert_is_not(ask: Ask) -> None:
    write(ask, "w0", row("c", "w0"))
    ask("start", actor="bulk1")
    ask("bulk", actor="bulk1", rows=[row("a", "bulk1")])
    ask("start", actor="w2")
    ask("data", actor="w2", rows=[row("a", "w2")])
    write(ask, "w1", row("b", "w1"))
    assert not [name for name in ask("look")["files"] if name.endswith(".parquet")]
    ask("commit", actor="w2")
    with pytest.raises(PeerRefused, match=CONFLICT):
        ask("commit", actor="bulk1")


def test_the_row_writer_begins_a_second_file_group(ask: Ask) -> None:
    """By default the data source's bulk insert names the group of a bucket differently from upserts."""
    write(ask, "w1", row("a", "w1"))
    ask("write", rows=[row("a", "bulk")], operation="bulk_insert")
    assert shown(ask) == [("a", "bulk"), ("a", "w1")]
    groups = {piece["file"] for piece in ask("look")["slices"]}
    assert groups == {"00000000-0000-0000-0000-000000000000-0", "00000000-0000-0000-0000-000000000000"}
