"""Other readings of the merge of a base file with logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging(Options):
    """Other readings of the merge of a base file with logs."""

    tombstones: Literal["keep", "drop"] = choice(
        "keep",
        "whether compaction keeps deletes (event time only: commit time never needs them)",
    )
    fold: Literal["rank", "logs_first"] = choice(
        "rank",
        "rank: base first, then logs; logs_first: logs among themselves (a compaction's tombstones are one of "
        "them), the survivor meets the base once",
    )


MECHANISM = Mechanism(options=Merging)
