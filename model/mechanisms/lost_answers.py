"""Answers of the store that are lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAnswers(Options):
    """Answers of the store that are lost."""

    lost_answer: Literal["recognised", "reported_failed"] = choice(
        "recognised",
        "a writer that is told that its completed instant exists reads it, or reports a failure",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers(Limits):
    """Limits: answers of the store that are lost."""

    lost_answers: int = limit(0, "how often the answer to a put of a completed instant is lost")


MECHANISM = Mechanism(options=LostAnswers, limits=Answers)
