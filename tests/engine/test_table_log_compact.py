"""Log compaction: one log takes the place of several, and no read changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from nbcc import Table
from nbcc.engine.audit.why import why
from nbcc.engine.errors import BadInput
from nbcc.engine.files.log_block import Header, read_blocks
from tests.builders.hudi import same
from tests.builders.tables import batch, files, keys, make_table, state, tick, window

from .hooked import during

MODES = ("EVENT_TIME_ORDERING", "COMMIT_TIME_ORDERING")


def three_writes(folder: Path, **changes: Any) -> Table:
    """A tie, a delete that wins, one that a newer row outranks, one of nothing, and a row that comes after a delete."""
    table = make_table(folder, **changes)
    table.upsert(batch(("tie", 5, "old"), ("gone", 1, "x"), ("kept", 9, "x"), ("again", 5, "x")))
    table.delete(keys(("gone", 2), ("kept", 3), ("late", 7)))
    table.delete(keys(("again", 5)))
    table.upsert(batch(("tie", 5, "new"), ("again", 5, "y"), ("other", 1, "z")))
    return table


def reads(table: Table) -> dict[str, set[Any]]:
    """Every kind of read at every completion time so far."""
    times = sorted(instant.completed for instant in table.timeline() if instant.completed)
    answers: dict[str, set[Any]] = {"snapshot": state(table.snapshot())}
    for start, time in zip([tick(0), *times], times, strict=False):
        answers[f"as of {time}"] = state(table.as_of(time))
        answers[f"window {time}"] = window(table.incremental(start, time))
        answers[f"all {time}"] = window(table.incremental(tick(0), time))
        answers[f"changes {time}"] = {str(row) for row in table.changes(start, time).to_pylist()}
    return answers


def stamped(rows: pa.Table) -> dict[str, str]:
    return dict(zip(rows["id"].to_pylist(), rows["_hoodie_commit_time"].to_pylist(), strict=True))


@pytest.mark.parametrize("changes", [{"merge_mode": mode} for mode in MODES] + [
    {"options": {"hoodie.logfile.data.block.format": "avro"}}, {"partition_by": None}, {"buckets": 3},
])  # fmt: skip
def test_no_answer_changes(changes: dict[str, Any], tmp_path: Path) -> None:
    table = three_writes(tmp_path, **changes)
    before, stamps = reads(table), stamped(table.snapshot())

    done = table.log_compact()

    assert done is not None
    assert (done.action, done.state) == ("deltacommit", "completed")
    assert {len(piece.logs) for piece in table.file_slices()} == {1}
    assert {name: rows for name, rows in reads(table).items() if name in before} == before
    assert stamped(table.snapshot()) == stamps
    assert window(table.incremental(done.requested)) == set(), "it has written nothing that a reader waits for"
    assert table.log_compact() is None, "one log is not enough"
    assert same(table)


def test_what_comes_later_ranks_after_it(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    plan = table.schedule_log_compaction()
    table.upsert(batch(("tie", 5, "newest")))
    table.delete(keys(("other", 1)))

    table.run_log_compaction(plan)

    assert state(table.snapshot()) == {("tie", 5, "newest"), ("kept", 9, "x"), ("again", 5, "y")}
    (piece,) = table.file_slices()
    assert [len(log.covers) for log in piece.logs] == [4, 0, 0]


def test_its_tombstones_still_win_when_compacted(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    table.log_compact()
    table.compact()
    table.upsert(batch(("gone", 1, "late"), ("late", 6, "late"), ("again", 4, "late")))

    assert state(table.snapshot()) == {("tie", 5, "new"), ("kept", 9, "x"), ("again", 5, "y"), ("other", 1, "z")}
    assert same(table)


def test_logs_of_logs(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    first = table.log_compact()
    table.upsert(batch(("tie", 6, "more")))
    before = reads(table)

    second = table.log_compact()

    assert first is not None
    assert second is not None
    ((log,),) = (piece.logs for piece in table.file_slices())
    assert [made.requested for made in log.files if made.covers] == [second.requested, first.requested]
    assert {name: rows for name, rows in reads(table).items() if name in before} == before
    assert same(table)


def test_a_pending_one_keeps_a_compaction_away(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    plan = table.schedule_log_compaction()

    assert table.schedule_compaction() is None
    assert table.schedule_log_compaction() is None

    table.run_log_compaction(plan)
    assert table.compact() is not None
    ((piece,),) = ([s for s in table.file_slices() if s.base],)
    assert piece.logs == ()


def test_it_completes_across_a_barrier(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    barrier = table.schedule_compaction()
    table.upsert(batch(("new", 1, "a")))
    table.upsert(batch(("new", 1, "b")))
    plan = table.schedule_log_compaction()
    table.run_compaction(barrier)
    before = reads(table)

    table.run_log_compaction(plan)

    assert {name: rows for name, rows in reads(table).items() if name in before} == before
    assert same(table)


def test_two_runners_make_one(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    plan = table.schedule_log_compaction()
    assert plan is not None
    other: list[Any] = []
    watched = during(table, "logcompaction.inflight", lambda: other.append(table.run_log_compaction(plan)))
    assert watched.run_log_compaction(plan) == other[0]
    assert len([path for path in files(table) if plan.requested in path and path.startswith("part=p/.")]) == 1


def test_a_clean_takes_what_was_replaced_with_its_slice(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    table.log_compact()
    table.compact()
    table.upsert(batch(("k", 1, "k")))

    table.clean(retained=1)

    there = {path for path in files(table) if ".log." in path or path.endswith(".parquet")}
    assert there == {f.path for s in table.file_slices() for f in (s.base, *s.tombstones, *s.logs) if f}
    assert same(table)


def test_asked_why_it_says_what_stands_for_a_log(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    done = table.log_compact()
    assert done is not None
    (group,) = why(table.context.storage, "tie").groups
    hidden = {line.because for line in group.lines if line.status == "hidden"}
    assert hidden == {f"the log of the log compaction {done.requested} replaces it"}


def test_its_blocks_say_what_they_stand_for(tmp_path: Path) -> None:
    table = three_writes(tmp_path)
    writes = [instant.requested for instant in table.timeline()]
    done = table.log_compact()
    assert done is not None
    ((log,),) = (piece.logs for piece in table.file_slices())

    blocks = list(read_blocks(table.context.storage.get(log.path)))

    assert {block.headers[Header.COMPACTED_INSTANTS] for block in blocks} == {",".join(writes)}
    assert {block.instant for block in blocks} == {done.requested}


def test_nothing_to_do_and_nothing_of_that_name(tmp_path: Path) -> None:
    table = make_table(tmp_path)
    assert table.log_compact() is None
    assert table.run_log_compaction() is None
    with pytest.raises(BadInput, match=r"the timeline has no .* with that requested time"):
        table.run_log_compaction(tick(1))
