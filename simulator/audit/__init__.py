"""Validates the files of a Hudi table, regardless of which program wrote them. The report states whether the table's
history is possible, and which files are damaged or at risk.
"""

from __future__ import annotations

from .diagnostics import RULES, Diagnostic, Rule
from .history_check import HistoryCheck, RefusedHistory
from .report import Report
from .validate import validate

__all__ = ["RULES", "Diagnostic", "HistoryCheck", "RefusedHistory", "Report", "Rule", "validate"]
