"""Generated mutants of the model: each changes one comparison, conjunct, time, guard or effect.

A mutant that survives every search is equivalent to the model in these searches, or shows that a check is missing.
"""

from __future__ import annotations

from .generated import Generated
from .hunt import Fate, hunt
from .source import source_mutants
from .transitions import transition_mutants


def generated() -> tuple[Generated, ...]:
    """Return every mutant of the present model, by name."""
    return tuple(sorted((*source_mutants(), *transition_mutants()), key=lambda mutant: mutant.name))


__all__ = ["Fate", "Generated", "generated", "hunt"]
