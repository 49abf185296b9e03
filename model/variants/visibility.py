"""Readers that show more, or less, than completed instants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility(Options):
    """Readers that show more, or less, than completed instants."""

    visibility: Literal["completed", "any", "all_earlier", "unless_pending"] = choice(
        "completed",
        "whether a reader asks if a log's instant is completed; all_earlier: and every one requested before; "
        "unless_pending: it asks if it is pending (what has left the timeline counts as archived)",
    )


MECHANISM = Mechanism(options=Visibility)
