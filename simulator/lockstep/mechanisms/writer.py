"""Writers."""

from __future__ import annotations

from nbcc.model.kernel.writer import WRITER
from nbcc.model.machine.options import names_of
from nbcc.model.variants.completion import Completion

from ..mechanism import Feature, Lockstep, MappingRow, Runs, calls, no_call

READS_MAPPING = ("list.begin timeline", "list.end timeline", "get replacecommit")
"""The calls by which a writer to a resized table finds out which file groups hold its keys."""

COMMITS = "`commit` takes the lock, the time, and publishes"

LOCKSTEP = Lockstep(
    features=(
        Feature("upsert",
            about="A writer takes a requested time, puts log files under its own name, and publishes; it never waits "
                  "for another writer's data.",
            source="RFC-66, non-blocking concurrency control",
            options=(*names_of(Completion), "world.log_versions", "world.writes_per_writer"),
            engine=("upsert", "delete"), hudi=("start", "data", "commit"),
            mutants=("time-outside-lock",), verdicts=("completion-outside-lock",),
            promises=("SNAP", "ATOM", "MONO"), trace="02-two-writers", boundary="**Upsert and delete**"),
    ),
    runs=Runs(
        WRITER,
        # under the lock: list the timeline, take the requested time, publish the request
        begins=MappingRow(
            "writer_requests_instant", "upsert", ends_after="lock.release", starts=True, hudi=calls("start", takes=True)
        ),
        inflight=MappingRow(
            "writer_starts_writing", "upsert", ends_after=("put deltacommit.inflight", "put inflight"),
            also=READS_MAPPING, hudi=calls("data"),
        ),
        # Its accesses after it took the lock are private: it checks its instant and deletes files of late attempts.
        publishes="upsert",
        hudi=(no_call(COMMITS), no_call(COMMITS, takes=True), calls("commit")),
    ),
    rows=(
        MappingRow(
            "writer_writes_log", "upsert", ends_after="put log",
            hudi=no_call("`data` has put the inflight instant and every log file"),
        ),
    ),
)  # fmt: skip
