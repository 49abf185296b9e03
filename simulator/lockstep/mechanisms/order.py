"""The order in which the rows of a slice are merged."""

from __future__ import annotations

from nbcc.model.variants.order import Order

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    refuses={Order(merge_order="appended"): "each write puts its own log files"},
    pictures={
        Order(merge_order="requested"): Picture(
            "Merged by requested time, t{r} < t{o} of {other}, though it completed later.",
            "merged by completion time, t{c} comes last and wins",
        ),
    },
    explains={"merged": {"merge_order": 4}, "read": {"merge_order": 3}},
)
