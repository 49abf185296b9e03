"""Other readings of time travel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class AsOf(Options):
    """Other readings of time travel."""

    as_of_axis: Literal["completion", "requested", "requested_slices"] = choice(
        "completion",
        "the time by which an as-of read keeps instants; requested_slices: and a pending plan that was made "
        "later is a barrier as well, so that the slices that begin later hold late logs",
    )
    as_of_bound: Literal["at_or_before", "before"] = choice(
        "at_or_before",
        "as of T is what completed at or before T, or strictly before it (RFC-66, time travel)",
    )
    as_of_pending: Literal["answered", "refused"] = choice(
        "answered",
        "whether an as-of read at or after the request of a pending write is answered",
    )


MECHANISM = Mechanism(options=AsOf)
