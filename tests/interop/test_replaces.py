"""Replaces and clusterings that Apache Hudi makes, or refuses, in tables of non-blocking writers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from nbcc.simulator.lockstep.peers.process import PeerRefused, peer
from tests.builders.hudi import Ask, begin, shown


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """The steps of the peer on a table of one bucket with a commit in each of two partitions."""
    process = peer("hudi")
    process.ask("create", str(tmp_path), merge_mode="EVENT_TIME_ORDERING", buckets=1, partitions=["p0", "p1"])

    def ask(step: str, **arguments: object) -> object:
        return process.ask(step, str(tmp_path), **arguments)

    commit(ask, "w0", "a", "p0")
    commit(ask, "w9", "z", "p1")
    yield ask
    process.ask("forget", str(tmp_path))


def commit(ask: Ask, actor: str, key: str, part: str) -> None:
    begin(ask, actor, key, part)
    ask("commit", actor=actor)


def test_a_row_that_is_inserted_after_a_delete_of_its_partition_stays_hidden(ask: Ask) -> None:
    """So does the row of a write that began before the delete and commits after it."""
    begin(ask, "w1", "b", "p0")
    ask("write", rows=[["a", "p0", 1, "", False]], operation="delete_partition")
    assert shown(ask) == [("z", "w9")]
    ask("commit", actor="w1")
    commit(ask, "w2", "c", "p0")
    assert shown(ask) == [("z", "w9")]
    assert [piece["partition"] for piece in ask("look")["slices"]] == ["p1"]


def test_hudi_refuses_insert_overwrite_under_non_blocking_concurrency_control(ask: Ask) -> None:
    with pytest.raises(PeerRefused, match="Insert overwrite is not supported with non-blocking concurrency control"):
        ask("write", rows=[["a", "p0", 1, "new", False]], operation="insert_overwrite")
    assert shown(ask) == [("a", "w0"), ("z", "w9")]


def test_hudi_refuses_writes_during_a_clustering_plan_that_it_cannot_execute(ask: Ask) -> None:
    """A table with a simple bucket index. A write that began before the plan commits and is shown."""
    begin(ask, "w1", "a", "p0")
    planned = ask("plan_clustering", actor="g1")
    with pytest.raises(PeerRefused, match="not compatible with table layout HoodieSimpleBucketLayout"):
        ask("cluster", actor="g1", instant=planned)
    ask("commit", actor="w1")
    assert shown(ask) == [("a", "w1"), ("z", "w9")]
    with pytest.raises(PeerRefused, match="HoodieClusteringUpdateException"):
        begin(ask, "w2", "b", "p0")
