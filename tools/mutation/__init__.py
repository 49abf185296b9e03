"""Generated mutants of the model: every comparison, conjunct, look-up of a time, guard and effect, one at a time.

A mutant that nothing sees is either redundant code or a hole in what is checked: `specs/survivors.toml` says which.
"""

from __future__ import annotations

from .generated import Generated
from .hunt import Fate, hunt
from .rows import of_rows
from .source import of_source


def generated() -> tuple[Generated, ...]:
    """Every mutant that can be made of the model as it is now, by name."""
    return tuple(sorted((*of_source(), *of_rows()), key=lambda mutant: mutant.name))


__all__ = ["Fate", "Generated", "generated", "hunt"]
