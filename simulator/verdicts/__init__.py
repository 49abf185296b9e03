"""The matrix of verdicts: settings by promises, each cell with the bounds up to which it was searched."""

from __future__ import annotations

from .bound import Bound, bound_of, exceeds
from .judge import Cell, Row, depth_of, draw, matrix, settings, to_json, worlds_of
from .ladder import DEPTHS, Depth
from .markdown import page, page_path, sign

__all__ = [
    "DEPTHS", "Bound", "Cell", "Depth", "Row", "bound_of", "depth_of", "draw", "exceeds", "matrix", "page",
    "page_path", "settings", "sign", "to_json", "worlds_of",
]  # fmt: skip
