"""What the operations of a table do, with others at work in the middle of them."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import pyarrow as pa
import pytest

from nbcc import BadInput, Conflict, Table
from nbcc.engine import actions
from nbcc.engine.timeline import load_plan
from tests.builders.tables import SCHEMA, batch, files, keys, make_table, paths, state, tick, window
from tools import every_method

from .hooked import during, watched

LOG = ".log."


def test_rows_are_inserted_updated_and_deleted_by_ordering_value(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a"), ("k2", 5, "b"), ("k3", 1, "c")))
    table.upsert(batch(("k1", 2, "new"), ("k2", 4, "stale")))
    table.delete(keys(("k3", 1), ("k2", 3)))
    assert state(table.snapshot()) == {("k1", 2, "new"), ("k2", 5, "b")}


def test_a_batch_may_hold_rows_and_deletes(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    rows = batch(("k1", 2, None), ("k2", 2, "new"))
    table.upsert(rows.append_column("_hoodie_is_deleted", [[True, False]]))
    assert state(table.snapshot()) == {("k2", 2, "new")}


def test_commit_time_ordering_lets_the_later_completion_win(tmp_path: Path) -> None:
    table = make_table(tmp_path, merge_mode="COMMIT_TIME_ORDERING")
    slow = during(table, LOG, lambda: table.upsert(batch(("k1", 9, "fast"))))
    slow.upsert(batch(("k1", 1, "slow")))
    assert state(table.snapshot()) == {("k1", 1, "slow")}


def test_a_write_under_way_does_not_stop_another_and_is_not_seen(table: Table) -> None:
    seen = []

    def meanwhile() -> None:
        table.upsert(batch(("k2", 1, "b")))
        seen.append(state(table.snapshot()))

    slow = during(table, LOG, meanwhile)
    instant = slow.upsert(batch(("k1", 1, "a")))
    assert seen == [{("k2", 1, "b")}]
    assert [i.requested for i in table.timeline()] == [tick(1), tick(2)]
    assert (instant.requested, instant.completed) == (tick(1), tick(4))
    assert state(table.snapshot()) == {("k1", 1, "a"), ("k2", 1, "b")}


def test_a_plan_takes_what_completed_before_it_and_a_late_log_goes_to_the_next_slice(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    late = during(table, LOG, table.schedule_compaction)
    late.upsert(batch(("k1", 2, "late")))
    (plan,) = (i for i in table.timeline() if i.action == "compaction")
    (operation,) = load_plan(table.context.storage, plan.requested).operations
    assert [re.findall(r"_(\d+)\.log", log) for log in operation.logs] == [[tick(1)]]
    assert [(piece.barrier, len(piece.logs)) for piece in table.file_slices()] == [(None, 1), (plan.requested, 1)]
    assert state(table.snapshot()) == {("k1", 2, "late")}
    done = table.run_compaction()
    assert done is not None
    assert (done.action, done.requested) == ("commit", plan.requested)
    assert state(table.read_optimized()) == {("k1", 1, "a")}
    assert state(table.snapshot()) == {("k1", 2, "late")}


def test_compaction_keeps_deletes_so_that_a_late_older_update_stays_hidden(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    table.delete(keys(("k1", 5)))
    late = during(table, LOG, table.compact)
    late.upsert(batch(("k1", 3, "late"), ("k2", 3, "new")))
    assert state(table.snapshot()) == {("k2", 3, "new")}
    (based,) = (piece for piece in table.file_slices() if piece.base)
    assert len(based.tombstones) == 1
    table.compact()
    table.upsert(batch(("k1", 4, "still older")))
    assert state(table.snapshot()) == {("k2", 3, "new")}
    assert state(table.as_of(table.timeline()[0])) == {("k1", 1, "a"), ("k2", 1, "b")}


def test_commit_time_ordering_keeps_no_deletes_in_compaction(tmp_path: Path) -> None:
    table = make_table(tmp_path, merge_mode="COMMIT_TIME_ORDERING")
    table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    table.delete(keys(("k1", 1)))
    table.compact()
    assert [piece.tombstones for piece in table.file_slices()] == [(), ()]
    table.upsert(batch(("k1", 0, "back")))
    assert state(table.snapshot()) == {("k1", 0, "back"), ("k2", 1, "b")}


def test_there_may_be_nothing_to_compact(table: Table) -> None:
    assert table.compact() is None
    table.upsert(batch(("k1", 1, "a")))
    assert table.schedule_compaction() is not None
    before = files(table)
    assert table.schedule_compaction() is None
    assert files(table) == before
    assert table.run_compaction() is not None
    assert table.compact() is None
    assert table.run_compaction() is None


def test_groups_without_pending_plan_can_be_planned(tmp_path: Path) -> None:
    table = make_table(tmp_path, buckets=4)
    table.upsert(batch(("k1", 1, "a")))
    first = table.schedule_compaction()
    table.upsert(batch(*((f"k{n}", 2, "b") for n in range(9))))
    second = table.schedule_compaction()
    assert first is not None
    assert second is not None
    groups = [load_plan(table.context.storage, plan.requested).groups for plan in (first, second)]
    assert len(groups[0]) == 1
    assert len(groups[1]) == 3
    assert not groups[0] & groups[1]
    for plan in (second, first.requested):
        compacted = table.run_compaction(plan)
        assert compacted is not None
        assert compacted.completed
    assert state(table.snapshot()) == {(f"k{n}", 2, "b") for n in range(9)}


def test_a_plan_that_another_process_began_is_resumed_and_its_files_are_removed(table: Table) -> None:
    class Crash(BaseException):
        """Not an error: nothing tidies up."""

    def crash() -> None:
        raise Crash

    table.upsert(batch(("k1", 1, "a")))
    table.delete(keys(("k1", 2)))
    plan = table.schedule_compaction()
    assert plan is not None
    with pytest.raises(Crash):
        during(table, LOG, crash).run_compaction()
    (left,) = (path for path in files(table) if path.endswith(".parquet"))
    instant = table.run_compaction()
    assert instant is not None
    assert instant.requested == plan.requested
    assert left not in files(table)
    assert [path for path in files(table) if path.endswith(".parquet")] == paths(
        piece.base for piece in table.file_slices() if piece.base
    )
    assert not [path for path in files(table) if path.startswith(".hoodie/.temp")]


def test_a_runner_that_is_too_slow_removes_its_files_and_returns_the_others_instant(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    table.schedule_compaction()
    done = []
    slow = during(table, ".parquet", lambda: done.append(table.run_compaction()))
    assert slow.run_compaction() == done[0]
    (base,) = (path for path in files(table) if path.endswith(".parquet"))
    assert [base] == paths(piece.base for piece in table.file_slices() if piece.base)
    assert state(table.snapshot()) == {("k1", 1, "a")}


def test_a_runner_whose_files_another_removed_before_dying_does_not_publish_them(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    table.delete(keys(("k1", 2)))
    plan = table.schedule_compaction()
    assert plan is not None

    def remove() -> None:
        for path in files(table):
            if path.endswith((".parquet", ".parquet.marker.CREATE")):
                table.context.storage.delete(path)

    with pytest.raises(Conflict, match="has removed 1 of the files"):
        during(table, LOG, remove).run_compaction()
    assert table.run_compaction() is not None


def test_files_of_late_attempts_are_gone_before_a_write_is_published(table: Table) -> None:
    late = "part=p/.00000000-0000-0000-0000-000000000000-0_20260101000000001.log.1_9-9-9"

    def another_attempt() -> None:
        storage = table.context.storage
        storage.put_if_absent(f".hoodie/.temp/{tick(1)}/{late}.marker.CREATE", b"")
        storage.put_if_absent(late, b"half a fi")

    during(table, LOG, another_attempt).upsert(batch(("k1", 1, "a")))
    assert late not in files(table)
    assert not [path for path in files(table) if path.startswith(".hoodie/.temp")]


def test_a_write_that_fails_half_way_leaves_nothing_of_itself(table: Table) -> None:
    def fail() -> None:
        raise OSError("disk full")

    table.upsert(batch(("k0", 1, "z")))
    before = files(table)
    with pytest.raises(OSError, match="disk full"):
        during(table, "part=q/.0", fail).upsert(batch(("k1", 1, "a")).set_column(1, "part", [["q"]]))
    assert [path for path in files(table) if path not in before] == ["part=q/.hoodie_partition_metadata"]


def test_a_write_that_fails_while_it_publishes_is_left_as_it_is(table: Table) -> None:
    def fail() -> None:
        raise OSError("no answer")

    with pytest.raises(OSError, match="no answer"):
        during(table, f"{tick(1)}_{tick(2)}", fail).upsert(batch(("k1", 1, "a")))
    assert [(i.requested, i.state) for i in table.timeline()] == [(tick(1), "inflight")]
    assert [path for path in files(table) if LOG in path and "marker" not in path]
    assert state(table.snapshot()) == set()
    table.upsert(batch(("k2", 1, "b")))
    assert state(table.snapshot()) == {("k2", 1, "b")}


def test_windows_hold_exactly_what_completed_in_them(table: Table) -> None:
    first = table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b")))
    late = during(table, LOG, lambda: table.upsert(batch(("k3", 1, "fast"))))
    last = late.upsert(batch(("k1", 2, "late")))
    assert first.completed
    assert last.completed
    fast = next(i for i in table.timeline() if i.completed and first.completed < i.completed < last.completed)
    gone = table.delete(keys(("k2", 3)))
    table.compact()
    assert window(table.incremental(tick(0), first)) == {("k1", 1, "a", False), ("k2", 1, "b", False)}
    assert window(table.incremental(first, fast)) == {("k3", 1, "fast", False)}
    assert window(table.incremental(fast, last)) == {("k1", 2, "late", False)}
    assert window(table.incremental(last)) == {("k2", 3, None, True)}
    assert window(table.incremental(gone)) == set()
    settled = table.settled()
    assert settled is not None
    assert window(table.incremental(settled)) == set()


def test_changes_are_the_difference_of_two_snapshots(table: Table) -> None:
    first = table.upsert(batch(("k1", 1, "a"), ("k2", 1, "b"), ("k3", 1, "c")))
    table.upsert(batch(("k1", 2, "new"), ("k3", 0, "stale")))
    table.compact()
    last = table.delete(keys(("k2", 3)))
    found = {
        (row["op"], row["completed"], (row["before"] or {}).get("a"), (row["after"] or {}).get("a"))
        for row in table.changes(first).to_pylist()
    }
    assert found == {("u", tick(4), "a", "new"), ("d", last.completed, "b", None)}
    assert table.changes(last).num_rows == 0


def test_an_open_window_may_start_after_the_newest_completion(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    now = table.context.clock.take()
    assert window(table.incremental(now)) == set()
    table.upsert(batch(("k2", 1, "b")))
    assert window(table.incremental(now)) == {("k2", 1, "b", False)}


def test_a_read_of_the_past_takes_a_time_only_if_it_must(table: Table) -> None:
    instant = table.upsert(batch(("k1", 1, "a")))
    reader, calls = watched(table)
    reader.as_of(instant)
    assert not {"acquire", "take"} & set(calls)
    now = table.context.clock.take()
    assert state(reader.as_of(now)) == {("k1", 1, "a")}
    assert [call for call in calls if not call.startswith(("get", "list"))] == [
        "acquire",
        "not_before",
        "take",
        "release",
    ]


def test_what_completed_instants_say_is_read_once(table: Table) -> None:
    table.upsert(batch(("k1", 1, "a")))
    table.upsert(batch(("k1", 2, "b")))
    reader, calls = watched(table)
    reader.snapshot()
    reader.snapshot()
    read = [call for call in calls if call.startswith("get .hoodie/timeline/2")]
    assert len(read) == len(set(read)) == 2


def test_an_action_is_found_where_the_path_is_extended_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "actions").mkdir()
    (tmp_path / "actions" / "count.py").write_text(
        '"""How many rows there are."""\n\n\ndef run(context, config):\n'
        "    from nbcc.engine.actions import snapshot\n    return snapshot.run(context, config).num_rows\n"
    )
    monkeypatch.setattr(actions, "__path__", [*actions.__path__, str(tmp_path / "actions")])
    table = make_table(tmp_path / "t")
    table.upsert(batch(("k1", 1, "a")))
    assert actions.operations()["count"].__doc__ == "How many rows there are."
    assert table.run("count") == 1


def test_every_method_is_called_with_all_of_its_arguments(tmp_path: Path) -> None:
    """So that mypy sees a renamed argument of an operation, although the method is derived from it."""
    calls = [node for node in ast.walk(ast.parse(inspect.getsource(every_method))) if isinstance(node, ast.Call)]
    words = [(each.func, word.arg) for each in calls for word in each.keywords]
    given = {(method.attr, word) for method, word in words if isinstance(method, ast.Attribute)}
    methods = {name: inspect.signature(getattr(Table, name)) for name in actions.operations() if hasattr(Table, name)}
    assert given >= {(name, word) for name, method in methods.items() for word in [*method.parameters][1:]}
    table = Table.open(None, str(make_table(tmp_path).context.storage.url))
    wider = SCHEMA.append(pa.field("b", pa.string()))
    assert len([*every_method.every_method(table, batch(("k1", 1, "a")), keys(("k1", 1)), "part=p", wider)]) > 20


def test_a_call_that_does_not_fit_names_the_method(table: Table) -> None:
    with pytest.raises(TypeError, match=r"^Table\.upsert\(\) got an unexpected keyword argument 'retry'$"):
        table.upsert(batch(("k1", 1, "a")), retry=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"^TableReads\.as_of\(\) missing a required argument: 'time'$"):
        table.as_of()  # type: ignore[call-arg]


def test_every_operation_says_what_it_is_for() -> None:
    assert set(actions.operations()) >= {"upsert", "delete", "schedule_compaction", "run_compaction", "snapshot"}
    assert all(operation.__doc__.partition("\n")[0].endswith(".") for operation in actions.operations().values())


def test_a_snapshot_of_a_few_columns_is_the_snapshot_without_the_others(tmp_path: Path) -> None:
    table = make_table(tmp_path, buckets=2, options={"hoodie.logfile.data.block.format": "parquet"})
    table.upsert(batch(*((f"k{n}", 1, f"{n}") for n in range(6))))
    table.compact()
    for _ in range(2):  # base files alone, then under logs
        assert table.snapshot(["a", "id"]).equals(table.snapshot().select(["a", "id"]))
        assert table.snapshot(["_hoodie_record_key"]).equals(table.snapshot().select(["_hoodie_record_key"]))
        table.upsert(batch(("k1", 2, "new"), ("k2", 0, "stale")))
        table.delete(keys(("k3", 5)))
    with pytest.raises(BadInput, match="did you mean 'id'"):
        table.snapshot(["idd"])
