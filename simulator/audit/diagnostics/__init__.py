"""Named rules that detect faults of a table from its files."""

from __future__ import annotations

from typing import Final

from .diagnostic import Diagnostic, Rule, Spot, diagnostics_of, filled
from .files import RULES as FILES
from .properties import RULES as PROPERTIES
from .slices import RULES as SLICES
from .timeline import RULES as TIMELINE
from .times import RULES as TIMES

RULES: Final[tuple[Rule, ...]] = (*PROPERTIES, *TIMELINE, *TIMES, *SLICES, *FILES)

OF_TIMES: Final = frozenset(rule.name for rule in TIMES)
"""The rules about the times of instants. Under a wrong time no order of events is certain."""

__all__ = ["OF_TIMES", "RULES", "Diagnostic", "Rule", "Spot", "diagnostics_of", "filled"]
