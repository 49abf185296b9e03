"""Which logs a compaction plan takes, and when it is made."""

from __future__ import annotations

from nbcc.model.variants.scheduling import Scheduling

from ..mechanism import Lockstep, Picture

LOCKSTEP = Lockstep(
    pictures={
        Scheduling(plan_takes="any_log"): Picture(
            "Plan t{b} took the log although its write had not completed.",
            "a plan takes only writes that completed before its barrier",
        ),
        Scheduling(scheduling="serial"): Picture(
            "The plan waited until no write was pending.", "a plan never waits for writers"
        ),
    },
    explains={"hidden": {"plan_takes": 8}, "merged": {"plan_takes": 3}, "pending": {"plan_takes": 2}},
)
