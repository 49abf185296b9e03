"""Plots say what the page says, in the same colours, and nothing in them runs into anything else."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

mpl.use("agg")

import matplotlib.pyplot as plt
import pyarrow as pa
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import nbcc
from nbcc import BadInput, Table
from nbcc.engine.audit import inspect
from nbcc.engine.data.jobs import InProcessJobs
from nbcc.model import Protocol
from nbcc.simulator import specs
from nbcc.simulator.search.explore import explore
from nbcc.simulator.trace import Trace, save
from nbcc.simulator.view.drawing import outline_of
from nbcc.simulator.view.matplotlib_painter import path as painted
from nbcc.simulator.view.style import RED, VERDICTS, WRITERS
from nbcc.simulator.view.table_scene import shortened_times
from tests.builders.tables import SCHEMA, make_table, tick

from . import traces


@pytest.fixture(autouse=True)
def _close_figures(other_fonts: None) -> Iterator[None]:
    yield
    plt.close("all")


def busy() -> Trace:
    """Three writers, two compactions of four file groups, one of them pending."""
    return traces.trace_of(
        "w1*4 w2*9 w1*5 c1 w3*5 c1*8 w3*4 w1*9 w2*3 c2*1 w3*4 w2*6 c2*4", {}, "SNAP",
        buckets=4, writes_per_writer=2, compactions=2, actors={"writer": 3, "compactor": 2},
    )  # fmt: skip


class Held(InProcessJobs):
    """A writer whose data phase takes as long as one likes."""

    def __init__(self, table: Table) -> None:
        super().__init__(table.context.storage, table.context.names)
        self.written, self.go = threading.Event(), threading.Event()

    def write(self, data: Any, task: Any) -> Any:
        files = super().write(data, task)
        self.written.set()
        assert self.go.wait(30)
        return files


def begun(table: Table, rows: pa.Table) -> Callable[[], None]:
    """A write that has put its files; calling the answer publishes it."""
    jobs = Held(table)
    held = Table(replace(table.context, jobs=jobs), table.config)
    thread = threading.Thread(target=held.upsert, args=(rows,), daemon=True)
    thread.start()
    assert jobs.written.wait(30)

    def finish() -> None:
        jobs.go.set()
        thread.join()

    return finish


def rows(part: str) -> pa.Table:
    keys = [f"k{number}" for number in range(8)]
    return pa.table({"id": keys, "part": [part] * 8, "ts": [1] * 8, "a": ["x"] * 8}, schema=SCHEMA)


@pytest.fixture
def overlapping(tmp_path: Path) -> Iterator[Table]:
    """Writes that overlap, two compactions, and a write that is still going on. The clock ticks t1, t2, ..."""
    table = make_table(tmp_path / "orders", buckets=2)
    late = begun(table, rows("eu"))  # t1
    table.upsert(rows("us"))  # t2, t3
    table.schedule_compaction()  # t4
    other = begun(table, rows("eu"))  # t5
    late()  # t6
    table.run_compaction()  # t7
    other()  # t8
    pending = begun(table, rows("us"))  # t9
    table.compact()  # t10, t11
    yield table
    pending()


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def colours(ax: Axes) -> set[str]:
    """Of every line and area."""
    lines = {to_hex(line.get_color()) for line in ax.lines}
    return lines | {to_hex(part) for patch in ax.patches for part in (patch.get_facecolor(), patch.get_edgecolor())}


def overlaps(ax: Axes) -> list[tuple[str, str]]:
    """Texts that run into each other, and those that leave the axes (said of themselves)."""
    ax.figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent()) for text in ax.texts if text.get_text().strip()]
    inside = ax.get_window_extent().padded(1)
    out = [(word, word) for word, box in boxes if not all(inside.contains(*corner) for corner in box.corners())]
    slim = [(word, box.shrunk(0.96, 0.8)) for word, box in boxes]  # line boxes hold room for letters that are not there
    return out + [(one, two) for (one, a), (two, b) in combinations(slim, 2) if a.overlaps(b)]


DRAWN = {
    "lost": traces.lost_row,
    "crash": traces.half_a_write,
    "torn": traces.torn_snapshot,
    "busy": busy,
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("draw", [nbcc.draw_timeline, nbcc.draw_slices])
def test_no_text_of_a_trace_runs_into_another(name: str, draw: Callable[..., Axes]) -> None:
    assert overlaps(draw(DRAWN[name]())) == []


@pytest.mark.parametrize("draw", [nbcc.draw_timeline, nbcc.draw_slices])
def test_no_text_of_a_table_runs_into_another(overlapping: Table, draw: Callable[..., Axes]) -> None:
    assert overlaps(draw(overlapping)) == []


def test_overlapping_text_would_be_noticed() -> None:
    ax = nbcc.draw_timeline(traces.lost_row())
    ax.text(100, 100, "one")
    ax.text(103, 102, "two")
    ax.text(-90, 100, "outside")
    assert overlaps(ax) == [("outside", "outside"), ("one", "two")]


def test_a_picture_fits_into_axes_that_are_given() -> None:
    figure, (above, below) = plt.subplots(2, 1, figsize=(6, 5))
    assert nbcc.draw_timeline(traces.lost_row(), above) is above
    nbcc.draw_slices(busy(), ax=below)
    assert plt.get_fignums() == [figure.number]
    assert overlaps(above) == overlaps(below) == []


def test_the_timeline_of_a_trace_has_its_times_and_rows() -> None:
    drawn = words(nbcc.draw_timeline(traces.lost_row()))
    assert {"w1", "w2", "c1", "k1=A", "k1=B", "barrier t4", "completed, and lost", "18"} <= set(drawn)
    assert [word for word in drawn if word in {f"t{n}" for n in range(1, 7)}] == ["t1", "t5", "t2", "t3", "t4", "t6"]


def test_the_slices_of_a_trace_show_where_the_row_is_and_why_it_is_not_read() -> None:
    drawn = words(nbcc.draw_slices(traces.lost_row()))
    assert drawn[drawn.index("slice t4") :][:3] == ["slice t4", "k1=A", "base t4"]
    old = drawn[drawn.index("slice before any barrier") :]
    assert old[:10] == [
        "slice before any barrier", "replaced by base t4",
        "k1=B", "@t5", "t1.log.1", "requested t1 < barrier t4: skipped", "k1=A", "@t3", "t2.log.1", "in base t4",
    ]  # fmt: skip


def test_under_the_right_rule_the_chip_lies_in_the_new_slice() -> None:
    drawn = words(nbcc.draw_slices(replace(traces.lost_row(), protocol=Protocol(), verdict="")))
    new = drawn[drawn.index("slice t4") : drawn.index("slice before any barrier")]
    assert {"k1=B", "@t5", "t1.log.1"} <= set(new)


def test_red_is_the_lost_row_and_nothing_else() -> None:
    for draw in (nbcc.draw_timeline, nbcc.draw_slices):
        assert RED[0] in colours(draw(traces.lost_row()))
        assert RED[0] not in colours(draw(traces.lost_row(), step=13))
        assert RED[0] not in colours(draw(busy()))


def test_a_step_of_a_trace() -> None:
    early = nbcc.draw_slices(traces.lost_row(), step=8)
    assert "not completed" in words(early)
    assert "slice t4" not in words(early)
    assert words(nbcc.draw_slices(traces.lost_row(), step=0))[:1] == ["file group 0"]
    with pytest.raises(ValueError, match="step 19 of a trace with 18 steps"):
        nbcc.draw_timeline(traces.lost_row(), step=19)
    with pytest.raises(TypeError, match="as_of= is for tables"):
        nbcc.draw_timeline(traces.lost_row(), as_of="20260101000000000")


def test_a_trace_is_drawn_from_its_file(tmp_path: Path) -> None:
    path = save(traces.lost_row(), tmp_path)
    assert words(nbcc.draw_slices(path)) == words(nbcc.draw_slices(traces.lost_row()))


def test_a_crash_has_a_cross_and_a_word() -> None:
    died = traces.trace_of("w1*3 w2*6 w1!", {}, crashes=1)
    assert "its actor died" in words(nbcc.draw_timeline(died))
    assert "its actor died" not in words(nbcc.draw_timeline(died, step=8))


def test_the_timeline_of_a_table_names_its_times_by_the_clock(overlapping: Table) -> None:
    ax = nbcc.draw_timeline(overlapping)
    drawn = words(ax)
    assert [word for word in drawn if word.startswith("barrier t")] == ["barrier t4", "barrier t10"]
    assert drawn.count("writes") == 1
    assert drawn[0] == "clock"
    assert "UTC 2026-01-01 00:00; times in their order, at equal distances" in drawn
    assert {f"00.{number:03d}" for number in range(1, 12)} <= set(drawn)
    assert {"requested", "completed", "pending"} <= set(drawn)
    assert {WRITERS[0].light, WRITERS[1].light} <= colours(ax)


def test_the_slices_of_a_table_hold_each_log_where_the_engine_puts_it(overlapping: Table) -> None:
    drawn = words(nbcc.draw_slices(overlapping))
    assert drawn[0] == "part=eu, file group 0"
    eu = drawn[: drawn.index("part=eu, file group 1")]
    assert eu == [
        "part=eu, file group 0",
        "slice t10", "base t10", eu[3],
        "barrier t10",
        "slice before any barrier", "replaced by base t10",
        "t1.log.1", "@t6", "in base t10", "t5.log.1", "@t8", "in base t10",
    ]  # fmt: skip
    assert "t9.log.1" in drawn
    assert "not completed" in drawn


def test_a_table_as_it_was(overlapping: Table) -> None:
    drawn = words(nbcc.draw_slices(overlapping, as_of=tick(6)))
    assert "base t10" not in drawn
    assert {"base t4", "planned", "t1.log.1", "@t6", "t2.log.1", "@t3", "t5.log.1", "not completed"} <= set(drawn)
    assert "t9.log.1" not in drawn
    timeline = words(nbcc.draw_timeline(overlapping, as_of=tick(6)))
    assert "t6" in timeline
    assert "t8" not in timeline
    with pytest.raises(BadInput, match="newest completion"):
        nbcc.draw_timeline(overlapping, as_of="20991231000000000")
    with pytest.raises(TypeError, match="step= is for traces"):
        nbcc.draw_slices(overlapping, step=3)


def test_a_path_and_an_inventory_are_drawn_as_the_table(overlapping: Table, tmp_path: Path) -> None:
    expected = words(nbcc.draw_slices(overlapping))
    assert words(nbcc.draw_slices(tmp_path / "orders")) == expected
    assert words(nbcc.draw_slices(str(tmp_path / "orders"))) == expected
    assert words(nbcc.draw_slices(inspect(overlapping.context.storage))) == expected


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t", buckets=9)
    for number in range(26):
        table.upsert(rows("xy"[number % 2]))
    assert "2 earlier instants are not shown" in words(nbcc.draw_timeline(table))[-1]
    hidden = len({piece.group for piece in table.file_slices()}) - 8
    assert hidden > 1
    assert words(nbcc.draw_slices(table))[-1] == f"{hidden} file groups not shown"


def test_old_slices_are_counted_and_not_drawn(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for _ in range(5):
        table.upsert(rows("x"))
        table.compact()
    drawn = words(nbcc.draw_slices(table))
    assert len([word for word in drawn if word.startswith("slice")]) == 4
    assert len(table.file_slices()) == 6
    assert drawn[-1] == "2 older slices not shown"


def test_an_empty_table_is_drawn(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    assert "no files yet" in words(nbcc.draw_slices(table))
    assert words(nbcc.draw_timeline(table))[0] == "clock"


def test_verdicts_of_searches_are_drawn_with_the_length_of_their_traces() -> None:
    found = {}
    for protocol in ("default", "requested-time-slicing"):
        model = specs.system("demo", protocol)
        from nbcc.model.promises import PROMISES

        found[protocol] = explore(model, [PROMISES["SNAP"], PROMISES["INCR"]])
    ax = nbcc.draw_verdicts(found)
    assert overlaps(ax) == []
    drawn = words(ax)
    assert {"default", "requested-time-slicing", "SNAP", "INCR"} <= set(drawn)
    assert drawn.count("18") == 2
    promises = {name: result.to_json("demo", name)["promises"] for name, result in found.items()}
    as_json: dict[str, Any] = {"format": 1, "protocols": promises}
    assert words(nbcc.draw_verdicts(as_json)) == drawn


def test_verdicts_are_distinguishable_without_colour() -> None:
    shapes = {word: len(np.asarray(painted(outline_of(path)).vertices)) for word, (path, _) in VERDICTS.items()}
    assert len({shapes[word] for word in ("VIOLATED", "HOLDS", "UNDETERMINED")}) == 3
    drawn = words(nbcc.draw_verdicts({"a": {"SNAP": "HOLDS", "INCR": "NOT APPLICABLE", "ATOM": "odd"}}))
    assert {"undetermined", "not applicable"} <= set(drawn)
    with pytest.raises(ValueError, match="no verdicts"):
        nbcc.draw_verdicts({})


@pytest.mark.parametrize("path", [path for pair in VERDICTS.values() for path in pair])
def test_signs_keep_to_their_box(path: str) -> None:
    box = painted(outline_of(path)).get_extents()
    assert min(box.min) >= 0
    assert max(box.max) <= 20
    assert box.width + box.height > 4


def test_times_are_shortened_by_what_they_share() -> None:
    assert shortened_times([tick(1), tick(2)]) == ("2026-01-01 00:00", ["00.001", "00.002"])
    assert shortened_times([tick(1), tick(90_000_001)]) == ("", ["2026-01-01 00:00:00.001", "2026-01-02 01:00:00.001"])
    assert shortened_times([tick(1), tick(120_001)]) == ("2026-01-01", ["00:00:00.001", "00:02:00.001"])
    assert shortened_times([]) == ("", [])


def test_without_matplotlib_the_sentence_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "nbcc.simulator.view.matplotlib_painter", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    from nbcc.simulator.view.plot import draw_timeline

    with pytest.raises(ImportError, match=r"nbcc\[viz\]"):
        draw_timeline(traces.lost_row())
