"""The streaming source without Spark: offsets, windows, limits, and the progress of a named consumer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles

from nbcc import Table
from nbcc.engine.data_source import NbccSource
from nbcc.engine.data_source.options import FORMAT, QUERY
from nbcc.engine.data_source.stream_options import CONSUMER, MAX_BYTES, MAX_FILES
from nbcc.engine.errors import BadInput, Cleaned, Unsupported
from nbcc.engine.services.consumers import FOLDER, progress_of_consumers
from nbcc.engine.stream_source import START
from tests.builders.tables import TickClock, batch, keys, make_table

BEGINNING = "0" * 17
ROWS = {QUERY: "incremental"}
ALL = ReadAllAvailable()


def reader_of(table: Table, **options: str) -> Any:
    """A reader as Spark creates it, with the columns that the source has at `load`."""
    source = NbccSource({"path": table.context.storage.url, **options})
    return source.streamReader(source.schema())


def rows_of(reader: Any, start: dict[str, str], end: dict[str, str]) -> list[dict[str, Any]]:
    batches: Iterator[pa.RecordBatch] = (
        batch for partition in reader.partitions(start, end) for batch in reader.read(partition)
    )
    return [row for batch in batches for row in batch.to_pylist()]


def ids(reader: Any, start: dict[str, str], end: dict[str, str]) -> list[str]:
    return sorted(row["id"] for row in rows_of(reader, start, end))


def put(table: Table, *names: str) -> str:
    completed = table.upsert(batch(*((name, 1, "x") for name in names))).completed
    assert completed is not None
    return completed


def test_consecutive_triggers_deliver_each_write_once(table: Table) -> None:
    reader = reader_of(table)
    start = reader.initialOffset()
    assert start == {"completed": BEGINNING, "start": BEGINNING}
    assert reader.latestOffset(start, ALL) == start, "an empty table"
    first = put(table, "a", "b")
    middle = reader.latestOffset(start, ALL)
    assert middle == {"completed": first, "start": BEGINNING}
    put(table, "c")
    end = reader.latestOffset(middle, ALL)
    assert ids(reader, start, middle) == ["a", "b"], "a window does not change with later writes"
    assert ids(reader, middle, end) == ["c"]
    assert reader.latestOffset(end, ALL) == end


def test_a_trigger_without_writes_moves_nothing(table: Table) -> None:
    """Neither a service nor a pending write moves the offset: the write may complete in the next window."""
    put(table, "a")
    reader = reader_of(table)
    offset = reader.latestOffset(reader.initialOffset(), ALL)
    table.compact()
    assert reader.latestOffset(offset, ALL) == offset
    assert reader.partitions(offset, offset) == []


def test_deletes_are_marked(table: Table) -> None:
    put(table, "a")
    reader = reader_of(table, **ROWS)
    middle = reader.latestOffset(reader.initialOffset(), ALL)
    table.delete(keys(("a", 2)))
    (row,) = rows_of(reader, middle, reader.latestOffset(middle, ALL))
    assert (row["id"], row["_hoodie_is_deleted"]) == ("a", True)
    plain = reader_of(table)
    with pytest.raises(Unsupported, match=r"a row was deleted.*query\.type=incremental"):
        rows_of(plain, middle, plain.latestOffset(middle, ALL))


def test_a_change_log_has_the_row_before_and_after(table: Table) -> None:
    put(table, "a")
    reader = reader_of(table, **ROWS, **{FORMAT: "cdc"})
    middle = reader.latestOffset(reader.initialOffset(), ALL)
    table.upsert(batch(("a", 2, "y")))
    (row,) = rows_of(reader, middle, reader.latestOffset(middle, ALL))
    assert (row["op"], row["before"]["a"], row["after"]["a"]) == ("u", "x", "y")


def test_a_replaced_partition_is_delivered_by_the_change_log_alone(table: Table) -> None:
    put(table, "a", "b")
    log, rows = (reader_of(table, **ROWS, **{FORMAT: form}) for form in ("cdc", "latest_state"))
    middle = log.latestOffset(log.initialOffset(), ALL)
    table.insert_overwrite(batch(("b", 1, "x")))
    end = log.latestOffset(middle, ALL)
    assert [(row["op"], row["before"]["id"]) for row in rows_of(log, middle, end)] == [("d", "a")]
    with pytest.raises(Unsupported, match=r"replaced the partition.*format=cdc"):
        rows.partitions(middle, end)


@pytest.mark.parametrize("name", [MAX_FILES, MAX_BYTES])
def test_a_limit_ends_a_window_before_the_write_that_exceeds_it(table: Table, name: str) -> None:
    times = [put(table, each) for each in ("a", "b", "c")]
    size = max(entry.size for entry in table.context.storage.list("") if ".log." in entry.path)
    limit = 2 if name == MAX_FILES else 2 * size
    reader = reader_of(table, **{name: str(limit)})
    default = reader.getDefaultReadLimit()
    assert default == (ReadMaxFiles if name == MAX_FILES else ReadMaxBytes)(limit)
    offset = reader.initialOffset()
    ends = [(offset := reader.latestOffset(offset, default))["completed"] for _ in range(3)]
    assert ends == [times[1], times[2], times[2]]
    assert reader.latestOffset(reader.initialOffset(), ALL)["completed"] == times[2], "Trigger.AvailableNow"


def test_a_write_above_the_limit_is_a_window_of_its_own(table: Table) -> None:
    times = [put(table, name) for name in ("a", "b")]
    reader = reader_of(table, **{MAX_BYTES: "1"})
    assert reader.latestOffset(reader.initialOffset(), reader.getDefaultReadLimit())["completed"] == times[0]


def test_a_stream_begins_after_an_instant_or_now(table: Table) -> None:
    times = [put(table, name) for name in ("a", "b")]
    after = reader_of(table, **{START: times[0]})
    assert ids(after, after.initialOffset(), after.latestOffset(after.initialOffset(), ALL)) == ["b"]
    now = reader_of(table, **{START: "latest"})
    assert now.initialOffset()["completed"] == times[1]
    put(table, "c")
    assert now.initialOffset()["completed"] == times[1], "Spark asks again before it plans the first batch"


def test_a_stream_that_begins_now_keeps_its_beginning_over_a_restart(table: Table) -> None:
    """Spark logged the end of the first batch and stopped before the batch was complete."""
    put(table, "a")
    now = reader_of(table, **{START: "latest"})
    start = now.initialOffset()
    put(table, "b")
    end = json.loads(json.dumps(now.latestOffset(start, ALL)))
    put(table, "c")
    restarted = reader_of(table, **{START: "latest"})
    assert ids(restarted, restarted.initialOffset(), end) == ["b"]


def test_a_stream_behind_the_horizon_says_what_to_do(table: Table) -> None:
    cleaned_past(table)
    reader = reader_of(table)
    with pytest.raises(Cleaned, match=r"use \d+ or later as hoodie.*startOffset of a new query.*Table\.as_of"):
        reader.latestOffset(reader.initialOffset(), ALL)


def cleaned_past(table: Table) -> None:
    """Three writes, each compacted, and a clean that retains the last."""
    for name in ("a", "b", "c"):
        put(table, name)
        table.compact()
    table.clean(retained=1)


def test_a_consumer_that_reached_the_end_has_published_it_without_a_next_batch(table: Table) -> None:
    """Spark commits a batch when it plans the next one. A query that ends only asks once more for a next batch."""
    reader = reader_of(table, **{CONSUMER: "copy"})
    start = reader.initialOffset()
    put(table, "a")
    reader.prepareForTriggerAvailableNow()
    end = reader.latestOffset(start, ALL)
    assert table.consumers() == {"copy": BEGINNING}
    assert reader.latestOffset(end, ALL) == end
    assert table.consumers() == {"copy": end["completed"]}


def test_cleaning_waits_for_a_named_consumer(table: Table) -> None:
    reader = reader_of(table, **{CONSUMER: "copy"})
    start = reader.initialOffset()
    cleaned_past(table)
    end = reader.latestOffset(start, ALL)
    assert ids(reader, start, end) == ["a", "b", "c"]
    assert progress_of_consumers(table.context) == {"copy": BEGINNING}, "it is published when Spark has committed"
    reader.commit(end)
    assert progress_of_consumers(table.context) == {"copy": end["completed"]}
    assert table.consumers() == {"copy": end["completed"]}
    assert table.clean(retained=1) is not None
    with pytest.raises(Cleaned):
        reader.latestOffset(start, ALL)


def test_cleaning_waits_up_to_an_age(tmp_path: Path) -> None:
    """The age of the oldest write that the consumer has not processed: of none, if nothing was written."""
    hour = 3_600_000
    clock = TickClock()
    table = make_table(tmp_path, clock=clock, options={"nbcc.consumer.hours": "2"})
    reader = reader_of(table, **{CONSUMER: "copy"})
    start = reader.initialOffset()
    clock.now += 100 * hour
    cleaned_past(table)
    assert reader.latestOffset(start, ALL) != start, "it is idle for long, and its first write is new"
    clock.now += 3 * hour
    put(table, "d")
    table.compact()
    table.clean(retained=1)
    with pytest.raises(Cleaned):
        reader.latestOffset(start, ALL)


def test_an_unnamed_reader_writes_nothing_to_the_table(table: Table) -> None:
    reader = reader_of(table)
    reader.commit(reader.initialOffset())
    assert table.context.storage.list(FOLDER) == []


def test_columns_that_change_in_mid_stream_are_refused(table: Table) -> None:
    put(table, "a")
    reader = reader_of(table, **ROWS)
    start = reader.initialOffset()
    end = reader.latestOffset(start, ALL)
    table.alter_schema(table.config.schema.append(pa.field("z", pa.int32())))
    with pytest.raises(BadInput, match="stop the query and start it again with the same checkpoint"):
        reader.partitions(start, end)
    assert ids(reader_of(table, **ROWS), start, end) == ["a"]


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({MAX_FILES: "0"}, "a whole number from 1 on"),
        ({MAX_BYTES: "many"}, "a whole number from 1 on"),
        ({CONSUMER: "../x"}, "at most 100 letters"),
        ({QUERY: "snapshot", START: "earliest"}, "use incremental"),
        ({"as.of.instant": "1", START: "earliest"}, "no such option"),
        ({START: "yesterday"}, "a time is an Instant"),
    ],
)
def test_options_that_are_none_are_refused(table: Table, options: dict[str, str], needed: str) -> None:
    with pytest.raises(BadInput, match=needed):
        reader_of(table, **options).initialOffset()
