"""Other readings of RFC-66, "Time travel query": what a read as of a time shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..kernel.timeline import VISIBLE_WRITES
from ..machine.composition import Composition
from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice
from .slicing import all_unpublished


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf(Options):
    """What a read as of a time shows."""

    as_of_axis: Literal["completion", "requested", "requested_slices"] = choice(
        "completion",
        "which time of an instant a read as of a time compares. completion, requested: that time; requested_slices: "
        "the requested time, and a pending plan that was made later is a barrier too, so that late logs belong to "
        "slices that begin later",
    )
    as_of_bound: Literal["at_or_before", "before"] = choice(
        "at_or_before",
        "whether a read as of T shows what completed at or before T, or strictly before T (RFC-66, time travel)",
    )
    as_of_pending: Literal["answered", "refused"] = choice(
        "answered",
        "whether a read as of a time at or after the request of a pending write is answered",
    )


def compose(composition: Composition) -> None:
    """Show pending writes to a reader that refuses a read because of them."""
    if composition.protocol[AsOf].as_of_pending == "refused":
        composition.map_view(VISIBLE_WRITES, all_unpublished)


MECHANISM = Mechanism(compose=compose, options=AsOf)
