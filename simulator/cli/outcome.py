"""The exit codes of nbcc, and the rule for commands with several outcomes."""

from __future__ import annotations

import enum
from collections.abc import Iterable


class Exit(enum.IntEnum):
    """The outcome of a command, as an exit code. The exit codes are part of the interface and do not change."""

    AGREES = 0
    VIOLATED = 1
    BAD_INPUT = 2
    UNDETERMINED = 3
    COULD_NOT_RUN = 4
    INTERRUPTED = 130


# A check that could not run comes before a violation, because the answer is incomplete.
# "Undetermined" must not look like success, so it comes before agreement.
_GRAVEST_FIRST = (
    Exit.INTERRUPTED,
    Exit.COULD_NOT_RUN,
    Exit.BAD_INPUT,
    Exit.VIOLATED,
    Exit.UNDETERMINED,
    Exit.AGREES,
)


def gravest(outcomes: Iterable[Exit]) -> Exit:
    """Return the gravest of the outcomes, which determines the exit code; UNDETERMINED if there are no outcomes."""
    seen = set(outcomes)
    return next((outcome for outcome in _GRAVEST_FIRST if outcome in seen), Exit.UNDETERMINED)


# The exit code of each verdict of a search or cross-check.
OF_VERDICT = {
    "HOLDS": Exit.AGREES,
    "AGREED": Exit.AGREES,
    "NOT_APPLICABLE": Exit.AGREES,
    "VIOLATED": Exit.VIOLATED,
    "DISAGREED": Exit.VIOLATED,
    "UNDETERMINED": Exit.UNDETERMINED,
}
