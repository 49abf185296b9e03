"""The four verdicts and how several of them make one."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The result of putting a promise to the test. HOLDS means: in every behaviour up to the printed bound."""

    VIOLATED = "VIOLATED"
    UNDETERMINED = "UNDETERMINED"
    HOLDS = "HOLDS"
    NOT_APPLICABLE = "NOT_APPLICABLE"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """One verdict for many: a violation beats not knowing, and not knowing beats holding."""
    priority = list(Verdict)
    return min(verdicts, key=priority.index, default=Verdict.NOT_APPLICABLE)
