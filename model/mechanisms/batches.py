"""Batches with an id that commit at most once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Limits, Options, choice, limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches(Options):
    """Batches with an id that commit at most once."""

    batch_ids: Literal["checked", "at_request", "ignored"] = choice(
        "checked",
        "a batch that was sent again is looked for when its write is requested and before it is published; "
        "when it is requested; or never",
        by=("writer",),
    )
    replay_difference: Literal["refuse", "keep"] = choice(
        "refuse",
        "a batch whose id has committed other rows is refused; or the committed rows are kept, and the batch "
        "counts as written",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Resends(Limits):
    """Limits: batches with an id that commit at most once."""

    resends: int = limit(
        0, "how many other writers send the batches of the first writer again: the n-th write of each is the same batch"
    )
    other_rows: int = limit(0, "how many of the resending writers, the last ones, send other rows under the same ids")


MECHANISM = Mechanism(options=Batches, limits=Resends)
