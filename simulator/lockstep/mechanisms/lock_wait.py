"""Writers that stop waiting for the lock."""

from __future__ import annotations

from ..mechanism import Feature, Lockstep, MappingRow

LOCKSTEP = Lockstep(
    features=(
        Feature("lock-wait",
            about="A writer that does not get the lock in time raises a typed error and publishes nothing; its instant"
                  " is rolled back later.",
            source="hoodie.write.lock.wait_time_ms; docs/contract.md, FREE",
            engine=("writes.commit_protocol:lock_or_leave", "errors:LockTimeout"),
            hudi_impossible="a commit of this peer waits for Hudi's lock inside its call, and gets it: no client holds"
                            " the lock between two calls",
            mutants=("lock-not-waited-for",), verdicts=("lock-wait-times-out",), promises=("FREE",),
            trace="34-lock-wait", boundary="**wait for the lock**"),
    ),
    rows=(MappingRow("writer_stops_waiting", "upsert", raises="LockTimeout"),),
    hudi_cannot="a commit waits for the lock inside its call and gets it",
    traceless="a writer that stops waiting is a failed write, and no segment has one",
    examples=(("lock-wait-times-out", "demo"),),
)  # fmt: skip
