"""Pictures of real tables that were once wrong, and the fonts of plots."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.font_manager import findfont

import nbcc
from tests.builders.tables import SCHEMA, make_table

from . import traces

mpl.use("agg")


def rows(*parts: str) -> pa.Table:
    count = len(parts)
    keys = [f"k{number}" for number in range(count)]
    return pa.table({"id": keys, "part": parts, "ts": [1] * count, "a": ["x"] * count}, schema=SCHEMA)


def words(ax: Axes) -> list[str]:
    texts = [text.get_text() for text in ax.texts if text.get_text()]
    plt.close("all")
    return texts


def test_logs_that_a_log_compaction_replaced_stay_in_their_slice(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(rows("x"))  # t1, t2
    table.upsert(rows("x"))  # t3, t4
    table.log_compact()  # t5, t6
    table.compact()  # t7, t8
    table.upsert(rows("x"))  # t9, t10

    drawn = words(nbcc.draw_slices(table))

    newest, old = drawn[: drawn.index("barrier t7")], drawn[drawn.index("slice before any barrier") :]
    assert "t9.log.1" in newest
    assert not {"t1.log.1", "t3.log.1", "counted by no read"} & set(newest)
    assert {"t1.log.1", "t3.log.1", "t5.log.1"} <= set(old)


def test_partitions_are_sorted_by_the_numbers_in_them(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    table.upsert(rows("1", "11", "2", "10"))

    labels = [word.split(",")[0] for word in words(nbcc.draw_slices(table)) if word.startswith("part=")]

    assert labels == ["part=1", "part=2", "part=10", "part=11"]


def test_the_times_of_a_short_compaction_stay_apart(tmp_path: Path) -> None:
    table = make_table(tmp_path / "t")
    for _ in range(24):
        table.upsert(rows("x"))
    table.compact()  # t49, t50

    ax = nbcc.draw_timeline(table)
    ax.figure.canvas.draw()
    start, end = (next(t.get_window_extent() for t in ax.texts if t.get_text() == name) for name in ("t49", "t50"))

    plt.close("all")
    assert start.x1 < end.x0


mpl.use("agg")


def test_pictures_use_the_fonts_that_matplotlib_ships(other_fonts: None) -> None:
    shipped = Path(mpl.get_data_path(), "fonts", "ttf").resolve()
    drawn = [draw(traces.lost_row()) for draw in (nbcc.draw_timeline, nbcc.draw_slices)]
    drawn.append(nbcc.draw_verdicts({"default": {"SNAP": "HOLDS"}}))
    files = {Path(findfont(text.get_fontproperties())).resolve() for ax in drawn for text in ax.texts}
    names = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold")
    assert files == {shipped / f"{name}.ttf" for name in names}
    plt.close("all")
