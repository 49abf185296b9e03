"""Defines the four verdicts, and finds the worst of several verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The verdict on a promise. HOLDS means that every behaviour up to the printed bound keeps the promise."""

    VIOLATED = "VIOLATED"
    UNDETERMINED = "UNDETERMINED"
    HOLDS = "HOLDS"
    NOT_APPLICABLE = "NOT_APPLICABLE"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of the verdicts. VIOLATED is worse than UNDETERMINED, and UNDETERMINED is worse than HOLDS."""
    priority = list(Verdict)
    return min(verdicts, key=priority.index, default=Verdict.NOT_APPLICABLE)
