"""A completion time that is taken before the lock."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion(Options):
    """A completion time that is taken before the lock."""

    completion_time: Literal["under_lock", "outside_lock"] = choice(
        "under_lock",
        "taken under the lock that also covers publishing, or before that lock is taken",
        by=(
            "alterer", "writer", "cleaner", "clusterer", "compactor",
            "loader", "log_compactor", "replacer", "restorer", "rollbacker",
        ),
    )


MECHANISM = Mechanism(options=Completion)
