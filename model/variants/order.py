"""The order in which the logs of a file slice merge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..machine.mechanism import Mechanism
from ..machine.options import Options, choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Order(Options):
    """The order in which the logs of a file slice merge."""

    merge_order: Literal["completion", "requested", "appended"] = choice(
        "completion",
        "the order of logs inside a slice, which decides between equal ordering values; appended: as their "
        "blocks stand in the shared log",
    )


MECHANISM = Mechanism(options=Order)
