"""Requests without the lock."""

from __future__ import annotations

from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms.requests.mechanism import Requests

from ..mechanism import Feature, Lockstep, MappingRow
from .archiving import retained

LOCKSTEP = Lockstep(
    features=(
        Feature("requests",
            about="A non-blocking writer requests its instant without the lock: it claims a time of its own clock by a "
                  "put if absent.",
            source="RFC-66, 'Assumption On Locks'; docs/locks.md",
            options=(*names_of(Requests),),
            engine=("writes.unlocked_request:begin_write", "writes.unlocked_request:raise_floor",
                    "writes.claims:claimed_time", "writes.commit_protocol:older_than_restore"),
            hudi_impossible="its client takes every time under its lock",
            mutants=("request-claims-nothing", "request-takes-any-time", "floor-stays-down",
                     "late-request-outlives-restore", "request-claim-ignored", "archiver-raises-no-floor",
                     "request-of-before-restore"),
            verdicts=("unlocked-requests",), promises=("MONO", "ARCH", "REC"),
            boundary="**Requests without the lock**"),
    ),
    rows=(
        MappingRow("writer_reads_own_clock", "upsert", ends_after="clock.read", starts=True),
        MappingRow("writer_claims_time", "upsert", ends_after="put claim"),
        MappingRow("writer_finds_time_claimed", "upsert", ends_after="clock.read"),
        MappingRow("writer_puts_request_if_absent", "upsert", ends_after="put deltacommit.requested",
                   also=("put batch",)),
        MappingRow("writer_reads_floor", "upsert", ends_after="get floor"),
        # The claim of the next time follows.
        MappingRow("writer_withdraws_request", "upsert", ends_after="clock.read"),
        MappingRow("archiver_raises_floor", "archive", ends_after="put floor", starts=True,
                   arguments=(("retained", retained),)),
        MappingRow("archiver_archives_above_floor", "archive", ends_after="lock.release"),
        MappingRow("archiver_finds_request", "archive"),
    ),
    hudi_cannot="Hudi's client takes every time under its lock",
)  # fmt: skip
