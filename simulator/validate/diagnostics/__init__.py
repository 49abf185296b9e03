"""Named rules that detect faults of a table from its files."""

from __future__ import annotations

from typing import Final

from .diagnostic import Case, Diagnostic, Rule, diagnostics_of
from .files import RULES as FILES
from .slices import RULES as SLICES
from .timeline import RULES as TIMELINE
from .times import RULES as TIMES

RULES: Final[tuple[Rule, ...]] = (*TIMELINE, *TIMES, *SLICES, *FILES)

__all__ = ["RULES", "Case", "Diagnostic", "Rule", "diagnostics_of"]
