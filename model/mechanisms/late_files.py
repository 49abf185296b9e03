"""Files that land after their writer has died."""

from __future__ import annotations

from dataclasses import dataclass

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class LateFiles(Limits):
    """Limits: files that land after their writer has died."""

    late_files: int = limit(0, "how often a task of a dead writer puts the next file of its write")


MECHANISM = Mechanism(limits=LateFiles)
