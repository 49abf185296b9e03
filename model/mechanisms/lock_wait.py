"""Writers that wait for the lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class LockWait(Options):
    """Writers that wait for the lock."""

    lock_wait: Literal["patient", "times_out"] = choice(
        "patient",
        "a writer waits for the lock until it has it; or it gives up one day, and leaves what it has begun",
        by=("writer",),
    )


MECHANISM = Mechanism(options=LockWait)
