"""How instants, timelines, slices and tables look in a line and in a notebook."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from nbcc.engine import html
from nbcc.engine.files.group_files import BaseFile, LogFile
from nbcc.engine.files.slices import FileSlice
from nbcc.engine.timeline import Instant, Timeline
from tests.builders.tables import SCHEMA, make_table, tick

HOSTILE = "<script>alert('&')</script>"


def cells(shown: str) -> list[str]:
    return [part.partition("</td>")[0] for part in shown.split("<td>")[1:]]


def test_an_instant_says_its_action_and_its_two_times() -> None:
    assert str(Instant("1", "deltacommit", "completed", "2")) == "deltacommit requested 1, completed 2"
    assert str(Instant("1", "deltacommit", "inflight")) == "deltacommit requested 1, inflight"
    assert str(Instant("1", "compaction", "requested")) == "compaction requested 1"
    assert cells(Instant("1", "clean", "inflight")._repr_html_()) == ["clean", "inflight", "1", "–"]


def test_a_timeline_counts_and_lists_its_instants() -> None:
    timeline = Timeline.of([Instant("1", "deltacommit", "completed", "3"), Instant("2", "compaction", "requested")])
    assert str(timeline) == "timeline of 2 instants, 1 of them pending, newest completion 3"
    assert str(Timeline()) == "timeline of 0 instants, newest completion none"
    assert cells(timeline._repr_html_())[:6] == ["deltacommit", "completed", "1", "3", "compaction", "requested"]


def test_a_slice_says_where_it_is_and_what_it_holds() -> None:
    base = BaseFile("eu", "f1", "4", "6", "eu/base", 10)
    log = LogFile("eu", "f1", "1", "5", 1, "0", "1", "eu/log", 3)
    kept = log._replace(requested="4", completed="6", path="eu/kept")
    full = FileSlice("eu", "f1", "4", base, (kept,), (log,))
    assert str(full) == "eu/f1: slice 4, base file and 1 log"
    assert str(FileSlice("", "f1", None, logs=(log, log))) == "f1: slice before every barrier, no base file and 2 logs"
    assert str(FileSlice("", "f1", "4")) == "f1: slice 4, base file planned and 0 logs"
    shown = cells(full._repr_html_())
    assert shown[::5] == ["base", "kept", "log"]
    assert shown[1::5] == ["eu/base", "eu/kept", "eu/log"]


def test_a_table_looks_nothing_up_to_be_shown(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(pa.table({"id": ["a"], "part": ["x"], "ts": [1], "a": ["A"]}, schema=SCHEMA))
    (text,) = {str(instant) for instant in table.timeline()}
    assert text == f"deltacommit requested {tick(1)}, completed {tick(2)}"

    (tmp_path / "t" / ".hoodie").rename(tmp_path / "gone")
    assert str(table) == "table t: MERGE_ON_READ, EVENT_TIME_ORDERING by ts, partitioned by part"
    assert cells(table._repr_html_())[:6] == ["type", "MERGE_ON_READ", "merge mode", "EVENT_TIME_ORDERING", "key", "id"]


def test_nothing_in_a_name_is_markup() -> None:
    shown = (
        html.table([HOSTILE], [[HOSTILE]], HOSTILE),
        Instant(HOSTILE, HOSTILE, "completed", HOSTILE)._repr_html_(),
        FileSlice(HOSTILE, HOSTILE, HOSTILE, BaseFile(HOSTILE, "f", "1", "2", HOSTILE, 1))._repr_html_(),
    )
    for each in shown:
        assert "<script>" not in each
        assert "&lt;script&gt;" in each
