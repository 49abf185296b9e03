"""Exit codes, and which of several outcomes a command reports."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Exit(enum.IntEnum):
    """How a command ended. The numbers are part of the interface and never change."""

    AGREES = 0
    VIOLATED = 1
    BAD_INPUT = 2
    UNDETERMINED = 3
    COULD_NOT_RUN = 4
    INTERRUPTED = 130


# A check that could not run says nothing about the others, so it is reported before a violation;
# "undetermined" is never green, so it comes before agreement.
_GRAVEST_FIRST = (
    Exit.INTERRUPTED,
    Exit.COULD_NOT_RUN,
    Exit.BAD_INPUT,
    Exit.VIOLATED,
    Exit.UNDETERMINED,
    Exit.AGREES,
)


def gravest(outcomes: Iterable[Exit]) -> Exit:
    """The outcome that decides the exit code; no outcome at all is UNDETERMINED."""
    seen = set(outcomes)
    return next((outcome for outcome in _GRAVEST_FIRST if outcome in seen), Exit.UNDETERMINED)


# Verdicts of the model and words of the cross-check, as exit codes.
OF_VERDICT = {
    "HOLDS": Exit.AGREES,
    "AGREED": Exit.AGREES,
    "NOT_APPLICABLE": Exit.AGREES,
    "VIOLATED": Exit.VIOLATED,
    "DISAGREED": Exit.VIOLATED,
    "UNDETERMINED": Exit.UNDETERMINED,
}
