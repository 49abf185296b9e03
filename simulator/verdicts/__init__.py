"""The matrix of verdicts: settings by promises, each cell with the bounds up to which it was searched."""

from __future__ import annotations

from .bound import Bound, bound_of, exceeds
from .judge import Cell, Row, depth_of, drawing, matrix, searches, settings, to_json, within
from .kept import Kept
from .kills import Kill, accepted, believable, kill_all, still_good, subjects
from .ladder import DEPTHS, Depth
from .markdown import page, page_path, sign
from .missing import Missing, missing, told
from .museum import write_kills

__all__ = [
    "DEPTHS", "Bound", "Cell", "Depth", "Kept", "Kill", "Missing", "Row", "accepted", "believable", "bound_of",
    "depth_of", "drawing", "exceeds", "kill_all", "matrix", "missing", "page", "page_path", "searches", "settings",
    "sign", "still_good", "subjects", "to_json", "told", "within", "write_kills",
]  # fmt: skip
