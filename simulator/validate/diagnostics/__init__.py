"""What can be wrong with a table: named rules, each told by the table's own files."""

from __future__ import annotations

from typing import Final

from .diagnostic import Diagnostic, Found, Rule, diagnostics_of
from .files import RULES as FILES
from .slices import RULES as SLICES
from .timeline import RULES as TIMELINE
from .times import RULES as TIMES

RULES: Final[tuple[Rule, ...]] = (*TIMELINE, *TIMES, *SLICES, *FILES)

__all__ = ["RULES", "Diagnostic", "Found", "Rule", "diagnostics_of"]
