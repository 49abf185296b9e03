"""Rows merged by a user's function: its laws are tried first, and no service changes what it makes, whenever it ran."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbcc import MaintenancePolicy, Table
from nbcc.engine import Context, create_table
from nbcc.engine.config import TableConfig
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.engine.definition.creation import table_config
from nbcc.engine.errors import BadInput, Unsupported
from nbcc.engine.lock import InProcessLock
from nbcc.engine.names import RandomNames
from nbcc.model.mechanisms.merge_function import value_of
from nbcc.simulator.lockstep.control.storage import MemoryStorage
from tests.builders.tables import TickClock, make_table

SCHEMA = pa.schema([("id", pa.string()), ("low", pa.int64()), ("tags", pa.string())])
NUMBERED: Iterator[int] = count()
Row = dict[str, Any]
POLICY = MaintenancePolicy(compact_commits=1)


def widest(one: Row, other: Row) -> Row:
    """All letters as well, in order."""
    tags = "".join(sorted({*(one["tags"] or ""), *(other["tags"] or "")}))
    return {**normal(one, other), "tags": tags or None}


def normal(one: Row, other: Row) -> Row:
    """The greatest number there is."""
    return {"low": max((row["low"] for row in (one, other) if row["low"] is not None), default=None)}


def total(one: Row, other: Row) -> Row:
    return {"low": (one["low"] or 0) + (other["low"] or 0)}


def newest(one: Row, other: Row) -> Row:
    return other


def middle(one: Row, other: Row) -> Row:
    return {"low": None if one != other else one["low"]} if None not in (one["low"], other["low"]) else {"low": 7}


def half(one: Row, other: Row) -> Row:
    return {}


def plain(one: Row, other: Row) -> Row:
    """Forgets that there are nulls."""
    return {"low": max(one["low"], other["low"])}


def named(function: Any) -> str:
    return f"{__name__}:{function.__name__}"


def config_of(function: str, schema: pa.Schema = SCHEMA, **arguments: Any) -> TableConfig:
    given: dict[str, Any] = {"merge_mode": "COMMIT_TIME_ORDERING", "ordering_fields": None}
    given |= {"table_type": "MERGE_ON_READ"}
    options = {"nbcc.merge.function": function, **arguments.pop("options", {})}
    return table_config(
        "t", schema, record_key="id", partition_by=None, buckets=1, concurrency_mode=None, options=options,
        **(given | arguments),
    )  # fmt: skip


def table_in_memory(config: TableConfig) -> Table:
    storage, names = MemoryStorage(), RandomNames()
    lock = InProcessLock(f"function-{next(NUMBERED)}")
    return create_table(Context(storage, lock, TickClock(), names, InProcessJobs(storage, names)), config)


NUMBERS = pa.schema([("id", pa.string()), ("low", pa.int64())])


def create_table_at(path: Path) -> Table:
    given = {"schema": NUMBERS, "partition_by": None, "ordering_fields": None, "merge_mode": "COMMIT_TIME_ORDERING"}
    return make_table(path, options={"nbcc.merge.function": named(normal)}, **given)


OF_NUMBERS = config_of(named(normal), NUMBERS)
RECORDS = st.dictionaries(st.sampled_from("kkl"), st.one_of(st.none(), st.integers(0, 5)), min_size=1)
PLANS = ["schedule_compaction", "run_compaction", "schedule_log_compaction", "run_log_compaction"]
SERVICES = st.sampled_from(["compact", "log_compact", *PLANS])


@given(steps=st.lists(st.one_of(RECORDS, RECORDS, SERVICES), min_size=4, max_size=9))
@settings(deadline=None, max_examples=30)
def test_a_key_has_the_merged_row_under_every_order_of_operations(steps: list[Any]) -> None:
    table, written, states = table_in_memory(OF_NUMBERS), dict[str, list[Row | None]](), dict[str, Any]()
    for step in steps:
        if isinstance(step, str):
            getattr(table, step)()
        else:
            for key, low in step.items():
                written.setdefault(key, []).append(None if low is None else {"low": low})
            rows = [{"id": key, "low": low, "_hoodie_is_deleted": low is None} for key, low in step.items()]
            table.upsert(pa.Table.from_pylist(rows, NUMBERS.append(pa.field("_hoodie_is_deleted", pa.bool_()))))
        now = {key: value["low"] for key, all_ in written.items() if (value := value_of(all_, normal)) is not None}
        assert {row["id"]: row["low"] for row in table.snapshot().to_pylist()} == now, f"after {step}"
        if done := table.settled():
            states[done] = now
    for time, then in states.items():
        assert {row["id"]: row["low"] for row in table.as_of(time).to_pylist()} == then


def test_a_window_has_the_delete_and_what_came_after_it() -> None:
    table = table_in_memory(OF_NUMBERS)
    table.upsert(pa.table({"id": ["k"], "low": [9]}, NUMBERS))
    start = table.settled()
    table.delete(pa.table({"id": ["k"]}))
    table.upsert(pa.table({"id": ["k"], "low": [2]}, NUMBERS))
    table.upsert(pa.table({"id": ["k"], "low": [1]}, NUMBERS))
    found = [(row["low"], row["_hoodie_is_deleted"]) for row in table.incremental(start or "").to_pylist()]
    assert found == [(2, False), (None, True)]
    assert [row["after"]["low"] for row in table.changes(start or "").to_pylist()] == [2]


def test_a_delete_goes_into_a_compacted_log() -> None:
    table = table_in_memory(OF_NUMBERS)
    table.upsert(pa.table({"id": ["k"], "low": [9]}, NUMBERS))
    plan = table.schedule_compaction()
    table.delete(pa.table({"id": ["k"]}))
    table.upsert(pa.table({"id": ["k"], "low": [1]}, NUMBERS))
    table.log_compact()
    assert plan is not None
    assert [row["low"] for row in table.snapshot().to_pylist()] == [1], "not 9, which lies below the delete"


def test_hudi_rs_refuses_it_and_reads_what_is_compacted(tmp_path: Path) -> None:
    """It has no merger of that name: no wrong row is shown."""
    hudi = pytest.importorskip("hudi")
    table = create_table_at(tmp_path)
    for low in (3, 2):
        table.upsert(pa.table({"id": ["k"], "low": [low]}, NUMBERS))
    with pytest.raises(Exception, match="CUSTOM record merge mode needs its own merger"):
        hudi.HudiTable(str(tmp_path)).read(hudi.HudiReadOptions())
    table.compact()
    rows = pa.Table.from_batches(hudi.HudiTable(str(tmp_path)).read(hudi.HudiReadOptions()))
    assert rows["low"].to_pylist() == [3]


ALLOWED = {"nbcc.merge.function": named(normal)}


def test_it_is_remembered_with_the_table(tmp_path: Path) -> None:
    create_table_at(tmp_path).upsert(pa.table({"id": ["k"], "low": [3]}, NUMBERS))
    table = Table.open(None, tmp_path, options=ALLOWED)
    table.upsert(pa.table({"id": ["k"], "low": [2]}, NUMBERS))
    assert table.snapshot().to_pylist()[0]["low"] == 3
    assert table.config.merge_function == named(normal)


def test_a_function_of_a_strangers_table_is_neither_imported_nor_called(tmp_path: Path) -> None:
    """The checksum of the properties does not authenticate them: any writer of the file can name a function."""
    made = create_table_at(tmp_path / "t")
    for low in (3, 2):
        made.upsert(pa.table({"id": ["k"], "low": [low]}, NUMBERS))
    path = tmp_path / "t/.hoodie/hoodie.properties"
    path.write_text(path.read_text().replace(__name__, "evil_module"))
    (tmp_path / "evil_module.py").write_text("raise SystemExit('imported')")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(tmp_path))
        table = Table.open(None, tmp_path / "t")
        start = "0" * 17
        operations: list[Callable[[], Any]] = [
            table.snapshot, table.read_optimized, lambda: table.cluster(["low"]),
            table.compact, table.schedule_compaction, table.log_compact,
            lambda: table.as_of(made.settled() or ""), lambda: table.incremental(start), lambda: table.changes(start),
            lambda: table.upsert(pa.table({"id": ["k"], "low": [1]}, NUMBERS)), lambda: table.maintain(POLICY),
        ]  # fmt: skip
        for operation in operations:
            with pytest.raises(Unsupported, match=r"'evil_module:normal', which nbcc would .* name it in the option"):
                operation()
    assert "evil_module" not in sys.modules
    assert len(table.timeline()) == 2, "nothing was planned"


def test_an_allowed_function_is_that_of_the_table(tmp_path: Path) -> None:
    create_table_at(tmp_path)
    with pytest.raises(BadInput, match=r"with nbcc.merge.function=a:b, but its rows are merged by '.*normal'"):
        Table.open(None, tmp_path, options={"nbcc.merge.function": "a:b"})
    make_table(tmp_path / "plain")
    with pytest.raises(BadInput, match="it has no merge function"):
        Table.open(None, tmp_path / "plain", options=ALLOWED)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (total, r"it is not idempotent: merging {'low': None} with itself returned {'low': 0}"),
        (
            newest,
            r"it is not commutative: merging {'low': None} and {'low': 0} returned {'low': 0}, and {'low': None}",
        ),
        (middle, r"it is not (idempotent|associative): merging {'low': "),
        (half, r"it is not a function on rows: .* returned {}"),
        (plain, r"it is not a function on all rows: merging {'low': None} and .* raised TypeError \("),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_function_that_breaks_a_law_is_refused_with_the_rows(function: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        config_of(named(function), NUMBERS)


def test_what_it_takes_for_equal_must_be_equal() -> None:
    """`widest` sorts what it is given: "ba" and itself are "ab", another text."""
    with pytest.raises(BadInput, match="it is not idempotent"):
        config_of(named(widest))


@pytest.mark.parametrize(
    ("name", "message"),
    [("no_such_module:f", "No module named 'no_such_module'"), (f"{__name__}:nothing", "has no attribute 'nothing'"),
     (f"{__name__}:SCHEMA", "that is a Schema")],
)  # fmt: skip
def test_a_name_that_is_no_function_is_refused(name: str, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        config_of(name, NUMBERS)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"merge_mode": "EVENT_TIME_ORDERING", "ordering_fields": "low"}, "use merge_mode='COMMIT_TIME_ORDERING'"),
        ({"ordering_fields": "low"}, "leave ordering_fields out"),
        ({"table_type": "COPY_ON_WRITE"}, "use MERGE_ON_READ"),
        ({"options": {"nbcc.partial.update.mode": "SET_COLUMNS"}}, "a function merges whole rows"),
        ({"options": {"hoodie.write.table.version": "8"}}, "use version 9"),
        ({"schema": pa.schema([("id", pa.string()), ("d", pa.binary())])}, "cannot be tested with the type binary"),
    ],
)
def test_what_cannot_be(arguments: dict[str, Any], message: str) -> None:
    given = {"schema": NUMBERS, **arguments}
    with pytest.raises(Unsupported, match=message):
        config_of(named(normal), **given)
