"""Judging the table that somebody wrote by what it says of itself: possible, broken, at risk."""

from __future__ import annotations

from .complaints import RULES, Complaint, Rule
from .possible import Possible, Refusal
from .report import Report
from .validate import validate

__all__ = ["RULES", "Complaint", "Possible", "Refusal", "Report", "Rule", "validate"]
