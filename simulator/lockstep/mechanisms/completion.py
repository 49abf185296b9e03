"""When a completion time is taken."""

from __future__ import annotations

from nbcc.model.variants.completion import Completion

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    pictures={
        Completion(completion_time="outside_lock"): Picture(
            "Its completion time t{c} was taken before the lock, and later times were published first.",
            "completion time and publication share one lock, so no earlier completion appears after a read",
        ),
    },
    explains={"hidden": {"completion_time": 7}, "pending": {"completion_time": 3}, "read": {"completion_time": 4}},
)
