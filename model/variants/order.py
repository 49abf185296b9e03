"""The option that selects the merge order of the logs in a file slice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ..kernel.table import Log, Table, Write
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..protocol import Protocol
from ..rules import Rules


class Order(Options):
    """The option that selects the order in which the logs of a file slice merge."""

    merge_order: Literal["completion", "requested", "appended"] = option(
        "completion",
        "The order of the logs in a slice, which decides between equal ordering values: by completion time, or by "
        "requested time. appended: the order of their blocks in a shared log.",
    )


def refine(protocol: Protocol) -> tuple[type[Rules], ...]:
    """Return the rules for the option `merge_order`; its value `appended` is implemented by the mechanism
    `shared_logs`.
    """
    return (OrderOfRequest,) if protocol[Order].merge_order == "requested" else ()


class OrderOfRequest(Rules):
    """The logs of a slice merge by requested time."""

    def in_order(self, writes: Iterable[Write], group: int) -> tuple[Write, ...]:
        return tuple(sorted(writes, key=lambda write: write.requested))

    def log_time(self, table: Table, group: int, log: Log) -> float:
        return log[0]


MECHANISM = Mechanism(options=Order, rules=refine)
