"""Plots use the fonts that matplotlib ships, whatever the machine has."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
from matplotlib.font_manager import findfont

import nbcc

from . import traces


def test_pictures_use_the_fonts_that_matplotlib_ships(other_fonts: None) -> None:
    shipped = Path(mpl.get_data_path(), "fonts", "ttf").resolve()
    drawn = [draw(traces.lost_row()) for draw in (nbcc.draw_timeline, nbcc.draw_slices)]
    drawn.append(nbcc.draw_verdicts({"default": {"SNAP": "HOLDS"}}))
    files = {Path(findfont(text.get_fontproperties())).resolve() for ax in drawn for text in ax.texts}
    names = ("DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono", "DejaVuSansMono-Bold")
    assert files == {shipped / f"{name}.ttf" for name in names}
    plt.close("all")
