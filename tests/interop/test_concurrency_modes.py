"""Optimistic and single writers of Apache Hudi: what their conflict check covers, and which rules of `hudi-1.2.0` hold
in every concurrency mode.
"""

from __future__ import annotations

from typing import Any

import pytest

from nbcc.simulator.lockstep.peers.process import PeerRefused
from tests.builders.hudi import OCC, Ask, ask, begin, completed, shown

__all__ = ["ask"]

SINGLE = {"hoodie.write.concurrency.mode": "SINGLE_WRITER"}
EAGER = {"hoodie.clean.failed.writes.policy": "EAGER"}
STRATEGY = "hoodie.write.lock.conflict.resolution.strategy"
CLASSES = "org.apache.hudi.client.transaction."
BY_FILE_ID = [
    {**OCC, STRATEGY: f"{CLASSES}SimpleConcurrentFileWritesConflictResolutionStrategy"},
    {**OCC, STRATEGY: f"{CLASSES}PreferWriterConflictResolutionStrategy"},
]
NON_BLOCKING = {"hoodie.write.concurrency.mode": "NON_BLOCKING_CONCURRENCY_CONTROL"}
MODES = pytest.mark.parametrize("ask", [OCC, SINGLE], indirect=True, ids=["optimistic", "single"])
CONFLICT = "HoodieWriteConflictException"


def put(ask: Ask, actor: str, ts: int, key: str = "k", part: str = "p0", deleted: bool = False) -> None:
    ask("data", actor=actor, rows=[[key, part, ts, actor, deleted]])


def write(ask: Ask, actor: str, ts: int, **row: Any) -> str:
    """One whole write. Returns its completion time."""
    requested = ask("start", actor=actor)
    put(ask, actor, ts, **row)
    ask("commit", actor=actor)
    (name,) = (name for name in ask("look")["timeline"] if name.startswith(f"{requested}_"))
    return str(name.partition("_")[2].partition(".")[0])


def compact(ask: Ask) -> None:
    ask("compact", actor="c1", instant=ask("plan", actor="c1"))
    ask("commit_compaction", actor="c1")


def play_run_42(ask: Ask) -> None:
    """The run 42-occ-by-start-time of the gallery, up to the check of w3."""
    begin(ask, "w1", "k", "p0")
    begin(ask, "w2", "k", "p1")
    ask("commit", actor="w2")
    begin(ask, "w3", "k", "p0")
    ask("commit", actor="w1")


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_an_earlier_request_that_completes_during_a_write_is_a_conflict(ask: Ask) -> None:
    """Hudi also compares with what was pending when w3 began, not only with what was requested after the newest commit.
    """
    play_run_42(ask)
    with pytest.raises(PeerRefused, match=CONFLICT):
        ask("commit", actor="w3")
    assert shown(ask) == [("k", "w1"), ("k", "w2")]


@pytest.mark.parametrize("ask", BY_FILE_ID, indirect=True, ids=["simple", "prefer-writer"])
def test_strategies_by_file_id_miss_two_first_writes_of_a_bucket(ask: Ask) -> None:
    """Each of the two writes begins a file group of its own, so their file ids differ. By default Hudi's strategy for a
    bucket index compares buckets.
    """
    play_run_42(ask)
    ask("commit", actor="w3")
    assert len({name for name in ask("look")["files"] if name.startswith("p0/")}) == 2
    assert completed(ask) == ["deltacommit"] * 3


@pytest.mark.parametrize("ask", BY_FILE_ID, indirect=True, ids=["simple", "prefer-writer"])
def test_strategies_by_file_id_see_the_conflict_in_a_file_group_that_exists(ask: Ask) -> None:
    write(ask, "w0", 0)
    play_run_42(ask)
    with pytest.raises(PeerRefused, match=CONFLICT):
        ask("commit", actor="w3")


@pytest.mark.parametrize(
    "ask",
    [
        {**NON_BLOCKING, "hoodie.table.type": "COPY_ON_WRITE"},
        {**NON_BLOCKING, "hoodie.index.type": "SIMPLE"},
        {**NON_BLOCKING, "hoodie.index.type": "BLOOM"},
        {**NON_BLOCKING, "hoodie.index.bucket.engine": "CONSISTENT_HASHING"},
        {**NON_BLOCKING, "hoodie.write.concurrency.mode": "SOME"},
    ],
    indirect=True,
    ids=["copy-on-write", "simple index", "bloom index", "consistent hashing", "no mode"],
)  # fmt: skip
def test_hudi_refuses_non_blocking_writers_of_other_tables(ask: Ask) -> None:
    with pytest.raises(PeerRefused):
        ask("configured", names=list(NON_BLOCKING))


@pytest.mark.parametrize("ask", [{"hoodie.write.table.version": "6"}], indirect=True)
def test_hudi_refuses_non_blocking_writers_before_version_8(ask: Ask) -> None:
    with pytest.raises(PeerRefused):
        begin(ask, "w1", "k")


@pytest.mark.parametrize("ask", [{**OCC, "hoodie.write.table.version": "6"}], indirect=True)
def test_before_version_8_a_log_is_named_by_the_base_instant_of_its_slice(ask: Ask) -> None:
    first = begin(ask, "w1", "k")
    ask("commit", actor="w1")
    later = begin(ask, "w2", "k")
    (log,) = (name for name in ask("look")["files"] if ".log." in name)
    assert f"_{first}.log." in log
    assert later not in log


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_what_completes_between_request_and_inflight_instant_is_not_compared(ask: Ask) -> None:
    """The row of the write that completed last is hidden: of equal ordering values Hudi shows the later request."""
    write(ask, "w0", 1)
    ask("start", actor="w1")
    write(ask, "w2", 2)
    put(ask, "w1", 2)
    ask("commit", actor="w1")
    assert completed(ask) == ["deltacommit"] * 3
    assert shown(ask) == [("k", "w2")]


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_the_first_optimistic_write_of_a_bucket_is_a_base_file(ask: Ask) -> None:
    """Non-blocking writers of Hudi put logs only, as every writer of the model does."""
    begin(ask, "w1", "k")
    assert [name.rpartition(".")[2] for name in ask("look")["files"]] == ["parquet"]


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_a_compaction_does_not_abort_an_optimistic_writer(ask: Ask) -> None:
    write(ask, "w0", 1)
    write(ask, "w1", 2)
    ask("start", actor="w2")
    put(ask, "w2", 3)
    compact(ask)
    ask("commit", actor="w2")
    assert shown(ask) == [("k", "w2")]


@pytest.mark.parametrize("ask", [{**OCC, "hoodie.write.table.version": "6"}], indirect=True)
def test_before_version_8_a_compaction_that_completes_first_aborts_an_optimistic_writer(ask: Ask) -> None:
    for actor, ts in (("w0", 1), ("w1", 2)):
        ask("start", actor=actor)
        put(ask, actor, ts)
        ask("commit", actor=actor)
    ask("start", actor="w2")
    put(ask, "w2", 3)
    compact(ask)
    with pytest.raises(PeerRefused, match=CONFLICT):
        ask("commit", actor="w2")
    assert shown(ask) == [("k", "w1")]


@pytest.mark.parametrize(
    "ask", [{**OCC, "hoodie.write.concurrency.early.conflict.detection.enable": "true"}], indirect=True
)
def test_with_early_detection_the_marker_of_a_pending_write_aborts_another(ask: Ask) -> None:
    """The pending write may never complete: here its writer dies."""
    write(ask, "w0", 1)
    ask("start", actor="w1")
    put(ask, "w1", 2)
    ask("crash", actor="w1")
    ask("start", actor="w2")
    with pytest.raises(PeerRefused, match="EarlyConflictDetectionException"):
        put(ask, "w2", 3)
    assert shown(ask) == [("k", "w0")]


@pytest.mark.parametrize("ask", [SINGLE], indirect=True)
def test_two_single_writers_that_clean_lazily_both_commit(ask: Ask) -> None:
    write(ask, "w0", 1)
    for actor, ts in (("w1", 2), ("w2", 3)):
        ask("start", actor=actor)
        put(ask, actor, ts)
    for actor in ("w2", "w1"):
        ask("commit", actor=actor)
    assert completed(ask) == ["deltacommit"] * 3
    assert shown(ask) == [("k", "w2")]


@pytest.mark.parametrize("ask", [{**SINGLE, **EAGER}], indirect=True)
def test_a_second_single_writer_that_cleans_eagerly_rolls_back_the_first_although_it_lives(ask: Ask) -> None:
    write(ask, "w0", 1)
    for actor, ts in (("w1", 2), ("w2", 3)):
        ask("start", actor=actor)
        put(ask, actor, ts)
    ask("commit", actor="w2")
    with pytest.raises(PeerRefused, match=r"deltacommit\.inflight does not exist"):
        ask("commit", actor="w1")
    assert sorted(completed(ask)) == ["deltacommit", "deltacommit", "rollback"]


@pytest.mark.parametrize(
    "ask", [{**OCC, **EAGER}, {**NON_BLOCKING, **EAGER}], indirect=True, ids=["optimistic", "non-blocking"]
)
def test_with_several_writers_hudi_turns_eager_cleaning_to_lazy(ask: Ask) -> None:
    assert ask("configured", names=list(EAGER)) == {"hoodie.clean.failed.writes.policy": "LAZY"}
    begin(ask, "w1", "k", "p0")
    begin(ask, "w2", "k", "p1")
    for actor in ("w2", "w1"):
        ask("commit", actor=actor)
    assert completed(ask) == ["deltacommit"] * 2


@MODES
def test_in_every_mode_a_compaction_forgets_deletes(ask: Ask) -> None:
    write(ask, "w0", 1)
    write(ask, "w1", 5, deleted=True)
    compact(ask)
    write(ask, "w2", 3)
    assert shown(ask) == [("k", "w2")]


@MODES
def test_in_every_mode_a_window_shows_no_deletes(ask: Ask) -> None:
    after = write(ask, "w0", 1)
    until = write(ask, "w1", 5, deleted=True)
    assert ask("read", kind="incremental", after=after, until=until) == []


@MODES
def test_in_every_mode_a_late_write_appears_in_an_old_as_of_read(ask: Ask) -> None:
    """A pending write refuses the read; once it completes, the read shows it."""
    write(ask, "w0", 1, key="z", part="p1")
    begin(ask, "w1", "a", "p0")
    then = write(ask, "w2", 1, key="y", part="p1")
    with pytest.raises(PeerRefused, match="HoodieTimeTravelException"):
        ask("read", kind="as_of", until=then)
    ask("commit", actor="w1")
    assert [row[0] for row in ask("read", kind="as_of", until=then)] == ["a", "y", "z"]
