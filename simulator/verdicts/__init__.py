"""The matrix of verdicts: protocols by promises, each cell with the bounds up to which it was searched."""

from __future__ import annotations

from ..explore.result_cache import ResultCache
from .bound import Bound, bound_of, exceeds
from .failed import FailedSearch, failed_searches, messages
from .judge import Cell, MatrixRow, depth_of, drawing, matrix, protocols, searches, to_json, within
from .kills import Kill, accepted, believable
from .markdown import page, page_path, sign
from .search_bounds import DEPTHS, Depth

__all__ = [
    "DEPTHS", "Bound", "Cell", "Depth", "FailedSearch", "Kill", "MatrixRow", "ResultCache", "accepted", "believable",
    "bound_of", "depth_of", "drawing", "exceeds", "failed_searches", "matrix", "messages", "page", "page_path",
    "protocols", "searches", "sign", "to_json", "within",
]  # fmt: skip
