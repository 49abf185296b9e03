"""Clocks."""

from __future__ import annotations

from nbcc.model.kernel.writer import WRITER_REQUESTS_INSTANT
from nbcc.model.machine.options import names_of
from nbcc.model.mechanisms.clocks import Clocks
from nbcc.model.variants.completion import Completion

from ..mechanism import Feature, Lockstep

LOCKSTEP = Lockstep(
    features=(
        Feature("clocks",
            about="Times come from a clock read under the lock with a wait for skew; from one time service; from local"
                  " clocks; in seconds.",
            source="RFC-66, 'Global Monotonically Increasing Timestamp'; RFC-22, granularity of commit times",
            model=(WRITER_REQUESTS_INSTANT, "writer_takes_completion_time", "compactor_takes_completion_time"),
            options=(*names_of(Clocks), *names_of(Completion), "world.skew", "world.skew_beyond"),
            engine=("clock:WallClock",),
            hudi_impossible="the peer's clients run in one JVM, so that all of them read one clock",
            mutants=("time-without-waiting",),
            verdicts=("local-clocks", "colliding-seconds", "test-and-set", "time-service", "completion-outside-lock"),
            promises=("MONO", "SNAP", "TRAVEL"), trace="30-local-clocks", boundary="How far clocks differ"),
    ),
    refuses={
        Clocks(clock="seconds"): "instants are milliseconds, and the time generator never returns one twice",
        Clocks(uniqueness="test_and_set"): "the time generator never returns a time twice",
    },
)  # fmt: skip
