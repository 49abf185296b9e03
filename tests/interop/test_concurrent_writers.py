"""Writers of Apache Hudi that conflict, stall and are rolled back: the promises that its client keeps and breaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from nbcc.simulator.lockstep.peers.process import PeerRefused
from tests.builders.hudi import OCC, Ask, ask, begin, completed, shown

__all__ = ["ask"]


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_of_two_optimistic_writers_of_one_bucket_the_second_is_refused_and_others_are_not(ask: Ask) -> None:
    """FIRST, as in the model: a writer conflicts by bucket with writes that completed since it began."""
    for actor, part in (("w1", "p0"), ("w2", "p0"), ("w3", "p1")):
        begin(ask, actor, "k", part)
    for actor in ("w1", "w3"):
        ask("commit", actor=actor)
    with pytest.raises(PeerRefused, match="HoodieWriteConflictException"):
        ask("commit", actor="w2")
    assert shown(ask) == [("k", "w1"), ("k", "w3")]
    ask("undo", actor="w2")
    assert completed(ask) == ["deltacommit", "deltacommit", "rollback"]


@pytest.mark.parametrize("ask", [OCC], indirect=True)
def test_an_optimistic_writer_that_began_later_sees_no_conflict(ask: Ask) -> None:
    for actor in ("w1", "w2"):
        begin(ask, actor, "k")
        ask("commit", actor=actor)
    assert completed(ask) == ["deltacommit"] * 2


def test_a_stalled_writer_is_rolled_back_and_its_commit_refused(ask: Ask) -> None:
    """REC: commit and rollback exclude each other, because the rollback removes the inflight instant."""
    begin(ask, "w1", "a")
    ask("stall", actor="w1")
    ask("clean")
    with pytest.raises(PeerRefused, match=r"deltacommit\.inflight does not exist"):
        ask("commit", actor="w1")
    assert completed(ask) == ["rollback"]
    assert ask("look")["files"] == []


def test_a_live_writer_is_left_alone(ask: Ask) -> None:
    begin(ask, "w1", "a")
    ask("clean")
    ask("commit", actor="w1")
    assert shown(ask) == [("a", "w1")]


def test_a_writer_that_was_not_rolled_back_commits_although_its_heartbeat_is_old(ask: Ask) -> None:
    """Hudi's client checks the beats that it remembers. A writer of nbcc would be refused."""
    begin(ask, "w1", "a")
    ask("stall", actor="w1")
    ask("commit", actor="w1")
    assert shown(ask) == [("a", "w1")]


def test_a_writer_that_wakes_after_its_rollback_cannot_put_its_inflight_instant(ask: Ask) -> None:
    """Hudi's client checks before it writes files that its request exists. nbcc checks before it publishes."""
    begin(ask, "w0", "z")
    ask("commit", actor="w0")
    ask("start", actor="w1")
    ask("stall", actor="w1")
    ask("clean")
    before = ask("look")
    with pytest.raises(PeerRefused, match=r"deltacommit\.requested does not exist"):
        ask("data", actor="w1", rows=[["a", "p0", 1, "w1", False]])
    assert ask("look") == before
    assert shown(ask) == [("z", "w0")]


def test_a_commit_between_plan_and_run_of_its_rollback_is_undone(ask: Ask) -> None:
    """A stalled writer publishes while a rollback of it is pending: the next clean takes the completed commit back."""
    begin(ask, "w1", "a")
    ask("stall", actor="w1")
    ask("plan_rollback", actor="roll1")
    ask("commit", actor="w1")
    assert (shown(ask), completed(ask)) == ([("a", "w1")], ["deltacommit"])
    ask("clean")
    assert (shown(ask), completed(ask)) == ([], ["rollback"])


@pytest.mark.parametrize("first", [True, False])
def test_a_write_that_woke_within_its_rollback_is_shown(ask: Ask, first: bool) -> None:
    """A rollback deletes what its plan lists: not the file of a writer that wakes between plan and run.

    Hudi shows that file if the write is older than the `first` commit of the table. Otherwise the file hides what other
    writers commit to its group.
    """
    if not first:
        begin(ask, "w0", "z", "p1")
        ask("commit", actor="w0")
    ask("start", actor="w1")
    ask("stall", actor="w1")
    planned = ask("plan_rollback", actor="b1")
    ask("data", actor="w1", rows=[["a", "p0", 1, "w1", False]])
    ask("run_rollback", actor="b1", instant=planned)
    with pytest.raises(PeerRefused, match=r"deltacommit\.inflight does not exist"):
        ask("commit", actor="w1")
    begin(ask, "w2", "b")
    ask("commit", actor="w2")
    expected = [("a", "w1"), ("b", "w2")] if first else [("z", "w0")]
    assert shown(ask) == expected
    ask("compact", actor="c1", instant=ask("plan", actor="c1"))
    ask("commit_compaction", actor="c1")
    assert shown(ask) == expected


@pytest.mark.parametrize(
    "ask", [{"hoodie.keep.min.commits": "2", "hoodie.keep.max.commits": "3", "hoodie.clean.commits.retained": "1"}],
    indirect=True,
)  # fmt: skip
def test_archiving_shows_what_a_woken_write_has_left_and_what_that_hid(ask: Ask) -> None:
    """The rolled back write is older than the timeline once archiving has moved its start."""
    begin(ask, "w0", "z", "p1")
    ask("commit", actor="w0")
    ask("start", actor="w1")
    ask("stall", actor="w1")
    planned = ask("plan_rollback", actor="b1")
    ask("data", actor="w1", rows=[["a", "p0", 1, "w1", False]])
    ask("run_rollback", actor="b1", instant=planned)
    for number in range(2, 9):
        begin(ask, f"w{number}", "b")
        ask("commit", actor=f"w{number}")
    assert shown(ask) == [("z", "w0")]
    ask("archive")
    assert shown(ask) == [("a", "w1"), ("b", "w8"), ("z", "w0")]


def leave_late_file(ask: Ask, table: Path) -> tuple[Path, bytes]:
    """w1 dies while its task writes. Returns the path and the content of the file that the task will put."""
    before = ask("look")["files"]
    begin(ask, "w1", "a")
    (late,) = (table / name for name in ask("look")["files"] if name not in before)
    kept = late.read_bytes()
    late.unlink()
    ask("crash", actor="w1")
    ask("stall", actor="w1")
    return late, kept


@pytest.mark.parametrize("landed", ["before its rollback is run", "after it"])
def test_the_file_of_a_dead_writers_task_goes_with_its_rollback_or_stays_and_is_not_shown(
    ask: Ask, tmp_path: Path, landed: str
) -> None:
    """The rollback plan names the file because its marker exists, although the file itself does not yet."""
    begin(ask, "w0", "z")
    ask("commit", actor="w0")
    late, kept = leave_late_file(ask, tmp_path)
    planned = ask("plan_rollback", actor="roll1")
    if landed == "before its rollback is run":
        late.write_bytes(kept)
    ask("run_rollback", actor="roll1", instant=planned)
    if landed == "after it":
        late.write_bytes(kept)
    assert late.exists() == (landed == "after it")
    assert shown(ask) == [("z", "w0")]


def test_a_late_file_is_shown_if_its_write_began_before_the_first_commit(ask: Ask, tmp_path: Path) -> None:
    """It is older than the start of the timeline, so Hudi takes it for archived. No compaction includes it."""
    late, kept = leave_late_file(ask, tmp_path)
    ask("run_rollback", actor="roll1", instant=ask("plan_rollback", actor="roll1"))
    late.write_bytes(kept)
    assert shown(ask) == []
    begin(ask, "w2", "b")
    ask("commit", actor="w2")
    assert (completed(ask), shown(ask)) == (["rollback", "deltacommit"], [("a", "w1"), ("b", "w2")])
    ask("compact", actor="c1", instant=ask("plan", actor="c1"))
    ask("commit_compaction", actor="c1")
    assert shown(ask) == [("a", "w1"), ("b", "w2")]
    late.unlink()
    assert shown(ask) == [("b", "w2")]


def test_a_commit_waits_for_the_lock_that_another_holds(ask: Ask) -> None:
    """With `waits` the peer reports a commit that does not wait."""
    begin(ask, "w1", "a")
    ask("commit", actor="w1", waits=True)
    assert shown(ask) == [("a", "w1")]


@pytest.mark.parametrize("ask", [{"hoodie.clean.commits.retained": "1"}], indirect=True)
def test_a_clean_keeps_what_was_read_since_the_last_commit_but_one(ask: Ask) -> None:
    """After three writes, each with a compaction, the clean deletes the oldest of three slices."""
    for writer in ("w1", "w2", "w3"):
        begin(ask, writer, "a")
        ask("commit", actor=writer)
        ask("compact", actor="c1", instant=ask("plan", actor="c1"))
        ask("commit_compaction", actor="c1")
    (oldest,) = (each for each in ask("look")["slices"] if each["base"] is None)
    before = set(ask("look")["files"])
    ask("clean")
    gone = {name.removeprefix("p0/") for name in before - set(ask("look")["files"])}
    assert gone > set(oldest["logs"])
    assert len(gone) == 3
    assert (shown(ask), completed(ask)[-1]) == ([("a", "w3")], "clean")
