"""The option that selects the merge order of the logs in a file slice."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ..kernel.table import Log, Table, Write
from ..machine.mechanism import Mechanism
from ..machine.options import Options, option
from ..rules import Rules

if TYPE_CHECKING:
    from ..protocol import Protocol


class Order(Options):
    """The option that selects the order in which the logs of a file slice merge."""

    merge_order: Literal["completion", "requested", "appended"] = option(
        "completion",
        "The order of the logs in a slice, which decides between equal ordering values: by completion time, or by "
        "requested time. appended: the order of their blocks in a shared log.",
    )


def refine(rules: Rules, protocol: Protocol) -> Rules:
    """Return the rules for the option `merge_order`; its value `appended` is implemented by the mechanism
    `shared_logs`.
    """
    if protocol[Order].merge_order != "requested":
        return rules
    return replace(rules, in_order=in_order_of_request, log_time=request_of)


def in_order_of_request(writes: Iterable[Write], group: int) -> tuple[Write, ...]:
    return tuple(sorted(writes, key=lambda write: write.requested))


def request_of(rules: Rules, table: Table, group: int, log: Log) -> float:
    return log[0]


MECHANISM = Mechanism(options=Order, rules=refine)
