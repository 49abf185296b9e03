"""Replacing writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacing(Options):
    """Replacing writes."""

    replacing: Literal["plan", "file_ids"] = choice(
        "plan",
        "an overwrite hides what was before by a barrier at its request, or by the ids of the file groups "
        "that it replaces, which hide what is written to them later as well (Hudi's replacecommit)",
    )


MECHANISM = Mechanism(options=Replacing)
