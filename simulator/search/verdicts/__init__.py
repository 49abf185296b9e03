"""The matrix of verdicts, with a row for each protocol and a column for each promise. Each cell of the matrix contains
a verdict and the bounds of the searches.
"""

from __future__ import annotations

from ..jobs import ResultCache
from .bound import Bound, bound_of, exceeds
from .data import data_path, facts, load, merged, row_data, to_data, to_text
from .failed import FailedSearch, failed_searches, messages
from .judge import Cell, MatrixRow, chosen, depth_of, matrix, protocols, searches, sign, to_json, within
from .kills import Kill, accepted, believable
from .lock_data import load_locks, locks_data, locks_facts, locks_json, locks_path, locks_text, up_to, with_accepted
from .locks import LockVerdicts, judge_locks
from .search_bounds import DEPTHS, Depth

__all__ = [
    "DEPTHS", "Bound", "Cell", "Depth", "FailedSearch", "Kill", "LockVerdicts", "MatrixRow", "ResultCache", "accepted",
    "believable", "bound_of", "chosen", "data_path", "depth_of", "exceeds", "facts", "failed_searches", "judge_locks",
    "load", "load_locks", "locks_data", "locks_facts", "locks_json", "locks_path", "locks_text", "matrix", "merged",
    "messages", "protocols", "row_data", "searches", "sign", "to_data", "to_json", "to_text", "up_to", "with_accepted",
    "within",
]  # fmt: skip
