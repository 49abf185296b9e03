"""Defines the four verdicts of a search, and selects the worst of several verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """The verdict of a search on a promise. HOLDS means that no behaviour within the printed bound violates the
    promise.
    """

    VIOLATED = "VIOLATED"
    UNDETERMINED = "UNDETERMINED"
    HOLDS = "HOLDS"
    NOT_APPLICABLE = "NOT_APPLICABLE"


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts. VIOLATED is worse than UNDETERMINED, and UNDETERMINED is worse than HOLDS.
    """
    # The order of the definition is that from the worst to the best.
    priority = list(Verdict)
    return min(verdicts, key=priority.index, default=Verdict.NOT_APPLICABLE)
